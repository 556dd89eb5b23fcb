# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent evaluate``: how right predicted labels are, and whether a difference means anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import click

from ._files import Layout, check_width, column, files_argument, layout_options, located, read_parts
from ._models import Model, model_option

__all__ = ["evaluate", "make_tally"]


class Columns(NamedTuple):
    """Columns of true and predicted labels, and of other predictions to compare with."""

    gold: int
    pred: int | None
    versus: int | None


@click.command(
    short_help="Compare predicted labels with true ones.",
    epilog="""
    \b
    Examples:
      sklearn-latent evaluate tagged.txt
      sklearn-latent tag --model chunker.zip test.txt | sklearn-latent evaluate
      sklearn-latent evaluate --model chunker.zip test.txt
      sklearn-latent evaluate --gold 2 --pred 3 --versus 4 both.txt
    """,
)
@files_argument
@model_option(required=False)
@click.option("--gold", metavar="COLUMN", type=int, help="True labels. Default: -2; with --model -1, the last.")
@click.option("--pred", metavar="COLUMN", type=int, help="Predicted labels. Default: -1, the last column.")
@click.option("--versus", metavar="COLUMN", type=int, help="Other predictions: is the difference significant?")
@click.option(
    "--scheme", type=click.Choice(["io", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"]),
    help="Prefixes that labels may have. Default: any.",
)  # fmt: skip
@click.option(
    "--invalid", type=click.Choice(["conlleval", "discard", "raise"]), default="conlleval", show_default=True,
    help="What becomes of chunks the scheme forbids: counted as the CoNLL script does, left out, or refused.",
)  # fmt: skip
@click.option("--tokens", is_flag=True, help="Count tokens, not chunks: for labels such as parts of speech.")
@click.option("--permutations", type=click.IntRange(1), default=10_000, show_default=True, help="Of --versus.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of --versus.")
@click.option("--json", "as_json", is_flag=True, help="Numbers as JSON, shares between 0 and 1.")
@layout_options
def evaluate(
    files, path, gold, pred, versus, scheme, invalid, tokens, permutations, seed, as_json, separator, comments
):
    """Compare predicted labels with true ones, both columns of the files or the standard input.

    The table is that of the CoNLL evaluation script: tokens and chunks counted, then for each type precision, recall
    and F1 in percent and the number of chunks predicted. With --model, that model predicts.
    """
    if path is not None and (pred is not None or versus is not None):
        raise click.UsageError("--model predicts the labels: --pred and --versus are columns that are there already")
    if tokens and (scheme is not None or invalid != "conlleval"):
        raise click.UsageError("--scheme and --invalid are about chunks, and --tokens counts none")
    model = None if path is None else Model(path)
    columns = Columns(-2 if gold is None else gold, -1 if pred is None else pred, versus)
    if model is not None:
        columns = Columns(-1 if gold is None else gold, None, None)
    counted = [make_tally(tokens, scheme, invalid) for _ in range(1 if versus is None else 2)]
    kept: tuple[list, ...] | None = None if versus is None else ([], [], [])
    for name, starts, labels in _labels(files, Layout(separator, comments), columns, model):
        for tally, predicted in zip(counted, labels[1:], strict=True):
            _add(tally, name, starts, labels[0], predicted, tokens)
        if kept is not None:
            for own, more in zip(kept, labels, strict=True):
                own.extend(more)
    test = None if kept is None else _significance(kept, tokens, permutations, seed)
    click.echo(_as_json(counted, test) if as_json else _as_text(counted, test, columns, tokens), nl=as_json)


def make_tally(tokens: bool, scheme: str | None = None, invalid: str = "conlleval"):
    """What counts, chunks or tokens."""
    from ..metrics._tally import ChunkTally, TokenTally

    return TokenTally() if tokens else ChunkTally(scheme, invalid)


def _add(tally, name: str, starts: list[int], true: list, predicted: list, tokens: bool) -> None:
    try:
        located(name, starts, tally.add, true, predicted)
    except ValueError as error:
        if tokens or "is no chunk label" not in str(error):
            raise
        raise ValueError(f"{error} (--tokens counts tokens, whatever their labels)") from None


def _labels(files, layout: Layout, columns: Columns, model: Model | None) -> Iterator[tuple[str, list, list[list]]]:
    """What each file is called, where its sequences begin, and their labels: true ones, predicted ones, others."""
    token, wanted = None, []
    for at in read_parts(files, layout, None if model is None else columns.gold):
        part = at.part
        if not part.X:
            continue
        if model is not None:
            check_width(at, columns.gold, model.reads())
            predicted = located(at.name, part.starts, model.labels, part.X)
            yield at.name, part.starts, [list(part.y), list(predicted)]
            continue
        if part.token != token:
            token = part.token
            wanted = [column(at, index) for index in columns if index is not None]
            if len(set(wanted)) < len(wanted):
                raise click.UsageError(f"columns {', '.join(map(str, wanted))}: two of them are the same")
        yield at.name, part.starts, [[[row[k] for row in rows] for rows in part.X] for k in wanted]


def _significance(kept: tuple[list, ...], tokens: bool, permutations: int, seed: int) -> dict:
    from ..metrics import mcnemar_test, randomization_test

    metric = "token_accuracy" if tokens else "chunk_f1"
    drawn = randomization_test(*kept, metric=metric, n_permutations=permutations, random_state=seed)
    by_sequence = mcnemar_test(*kept)
    return {
        "metric": metric,
        "difference": drawn.difference,
        "pvalue": drawn.pvalue,
        "permutations": permutations,
        "mcnemar": {"statistic": by_sequence.statistic, "pvalue": by_sequence.pvalue},
    }


def _as_json(counted: list, test: dict | None) -> str:
    shown = counted[0].scores()
    if test is not None:
        shown |= {"versus": counted[1].scores(), "significance": test}
    return json.dumps(shown, ensure_ascii=False, indent=1)


def _as_text(counted: list, test: dict | None, columns: Columns, tokens: bool) -> str:
    if test is None:
        return counted[0].report()
    what = "token accuracy" if tokens else "chunk F1"
    return (
        f"column {columns.pred}:\n{counted[0].report()}\ncolumn {columns.versus}:\n{counted[1].report()}\n"
        f"{what}, column {columns.pred} minus column {columns.versus}: {100 * test['difference']:+.2f}, "
        f"p = {test['pvalue']:.4g} (randomization, {test['permutations']:,} permutations)\n"
        f"whole sequences right: p = {test['mcnemar']['pvalue']:.4g} (McNemar)\n"
    )
