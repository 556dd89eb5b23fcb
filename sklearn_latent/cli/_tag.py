# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent tag``: labels to the lines of column files, or to plain text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click

from ._answers import Answers, Asked, Sentences, json_lines, marked_text
from ._files import Layout, check_width, files_argument, layout_options, located, read_parts, sources
from ._models import Model, model_option
from ._settings import set_option
from ._text import tokenize

__all__ = ["tag"]


@click.command(
    short_help="Label column files or text.",
    epilog="""
    \b
    Examples:
      sklearn-latent tag --model chunker.zip < new.txt > tagged.txt
      sklearn-latent tag --model chunker.zip --marginals new.txt
      sklearn-latent tag --model chunker.zip --nbest 5 --json new.txt.gz
      echo "The bridge is closed." | sklearn-latent tag --model words.zip --text
    """,
)
@model_option()
@files_argument
@click.option(
    "--decoder", type=click.Choice(["ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"]),
    help="How labels are found. Default: as the model was trained.",
)  # fmt: skip
@click.option("--marginals", is_flag=True, help="After the label, a column LABEL/PROBABILITY for each label.")
@click.option("--nbest", metavar="N", type=click.IntRange(1), help="The N most probable labellings of each sequence.")
@click.option("--json", "as_json", is_flag=True, help="An object a line, for each sequence, instead of columns.")
@click.option("--text", is_flag=True, help="The input is plain English text, a sentence a line, split into words here.")
@click.option(
    "--label", metavar="COLUMN", type=int,
    help="Column that was the label in training (from 0; -1 is the last). Needed only where it stands before others.",
)  # fmt: skip
@layout_options
@set_option("Another parameter of the decoder, such as n_paths=100.")
def tag(path, files, decoder, marginals, nbest, as_json, text, label, separator, comments, settings) -> None:
    """Label column files, or the standard input.

    Every line is written as it came, with a column more; empty lines, comments and lines of documents stay where they
    are. Labels come as soon as their sequence has ended. With --nbest each sequence is written up to N times, with a
    line '# RANK PROBABILITY' before each.
    """
    model = Model(path)
    model.set(settings | ({} if decoder is None else {"decoder": decoder}))
    reads = model.reads()
    if text and len(reads) > 1:
        raise click.UsageError(f"--text gives words alone, but {path} reads the columns {', '.join(reads)}")
    if text and label is not None:
        raise click.UsageError("plain text has no column of labels: --label goes with column files")
    answers = Answers(model, Asked(marginals, nbest, probabilities=as_json))
    show = json_lines if as_json else marked_text
    found = _text_sentences(files) if text else _column_sentences(files, Layout(separator, comments), label, reads)
    for sentences in found:
        _write(show(sentences, located(sentences.name, sentences.numbers, answers, sentences.X)))


def _write(pieces: Iterable[str]) -> None:
    text = "".join(pieces)
    if hasattr(sys.stdout, "buffer"):  # column files are UTF-8 whatever the terminal is
        sys.stdout.buffer.write(text.encode())
    else:
        sys.stdout.write(text)
    sys.stdout.flush()


def _column_sentences(files, layout: Layout, label: int | None, reads: list[str]) -> Iterator[Sentences]:
    checked, last = None, ""
    for at in read_parts(files, layout, label):
        part = at.part
        if part.token not in (None, checked):
            check_width(at, label, reads)
            checked = part.token
        # The sequences of two files stay apart.
        opening = "\n" if part.first == 1 and last.strip(" \t\r") else ""
        last = part.lines[-1]
        rows = [part.rows(i) for i in range(len(part.X))]
        yield Sentences(at.name, part.X, rows, part.starts, part.lines, part.joint, opening)


def _text_sentences(files) -> Iterator[Sentences]:
    """Lines of plain text, each as the lines of its tokens and an empty one."""
    from ..io._lines import line_blocks, line_text, source_name

    for source in sources(files):
        name = source_name(source)
        with line_blocks(source) as blocks:
            for n, raw in blocks:
                sentences = Sentences(name, [], [], [], [], "\t")
                for k, line in enumerate(raw, start=n):
                    tokens = tokenize(line_text(line, name, k))
                    if tokens:
                        start = len(sentences.lines)
                        sentences.X.append(tokens)
                        sentences.rows.append(slice(start, start + len(tokens)))
                        sentences.numbers.append(k)
                        sentences.lines.extend(tokens)
                    sentences.lines.append("")
                yield sentences
