# SPDX-License-Identifier: BSD-3-Clause
"""The command ``sklearn-latent``.

``demo`` needs nothing but the package: it trains on the corpus shipped inside, compares the decoders and labels a
sentence. Exit codes: 0 done, 1 the input is at fault, 2 the call is.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import time
from collections.abc import Sequence

from . import __version__

__all__ = ["main", "tokenize"]

_TEXT = "The old bridge over the river has been closed since March, and nobody knows when it will open again."

_TOKEN = re.compile(
    r"""
    (?:[A-Za-z]\.){2,}                           # U.S.
    | \d+(?:[.,:/]\d+)*                          # 1,300  4.2  10:30
    | (?:Mr|Mrs|Ms|Dr|St)\.
    | n't\b | '(?:s|re|ve|ll|d|m)\b              # clitics, after their word has been cut off
    | \w+(?:-\w+)*?(?=n't\b) | \w+(?:-\w+)*
    | \.\.\. | --
    | \S
    """,
    re.VERBOSE,
)


def tokenize(text: str) -> list[str]:
    """Split English text into tokens in the manner of the Penn Treebank.

    Words with inner hyphens, numbers with their points and commas, and a few abbreviations stay whole; clitics
    (n't, 's, 'll, ...) and every other punctuation mark stand alone; double quotes become `` and ''.

    Examples
    --------
    >>> from sklearn_latent.cli import tokenize
    >>> tokenize("It didn't cost $1,300.")
    ['It', 'did', "n't", 'cost', '$', '1,300', '.']
    """
    tokens, inside = [], False
    for token in _TOKEN.findall(text):
        if token == '"':
            token = "''" if inside else "``"
            inside = not inside
        tokens.append(token)
    return tokens


def word_features(words: Sequence[str]) -> list[dict]:
    """Features of each word for part-of-speech tagging: the word, its neighbours, its ends and its shape."""
    padded = ["<s>", *(word.lower() for word in words), "</s>"]
    return [
        {
            "bias": 1.0,
            "word": padded[i + 1],
            "before": padded[i],
            "after": padded[i + 2],
            "suffix": [word[-n:].lower() for n in (1, 2, 3) if len(word) > n],
            "prefix": word[:2].lower(),
            "shape": re.sub(r"(.)\1+", r"\1", re.sub(r"\d", "9", re.sub(r"[a-z]", "x", re.sub(r"[A-Z]", "X", word)))),
            "first": i == 0,
        }
        for i, word in enumerate(words)
    ]


def _say(text: str) -> None:
    # Progress has to be seen while it is made, also through a pipe.
    print(text, flush=True)


def _demo(args: argparse.Namespace) -> int:
    # Before the work: nobody should wait for seconds to be told that.
    tokens = tokenize(args.text)
    if not tokens:
        print(f"sklearn-latent demo: --text {args.text!r} holds no word", file=sys.stderr)
        return 1
    from .datasets import load_chunks

    train, test = load_chunks(subset="train"), load_chunks(subset="test")
    n_tokens = sum(map(len, train.data))
    _say(f"{len(train.data)} sentences to learn from ({n_tokens:,} tokens), {len(test.data)} to test on.\n")
    pos = _pos_tagger(train, test, args.seed)
    tagger = _chunk_tagger(train, args.seed)
    _compare_decoders(tagger, test)
    _say("4. Your sentence" if args.text != _TEXT else "4. A sentence (yours with --text)")
    guessed = pos.predict([word_features(tokens)])[0]
    result = tagger.decode([list(zip(tokens, guessed, strict=True))])
    _say("   " + bracketed(tokens, result.labels[0]))
    proof = "proven to be the most probable" if result.exact[0] else "not proven to be the most probable"
    _say(f"   probability of this labelling {math.exp(result.log_prob[0]):.3g}, {proof}")
    return 0


def _pos_tagger(train, test, seed: int):
    """From words to parts of speech."""
    from . import LatentCRFTagger

    def features_and_labels(corpus):
        words = [word_features([word for word, _ in sentence]) for sentence in corpus.data]
        return words, [[pos for _, pos in sentence] for sentence in corpus.data]

    _say("1. Parts of speech from words: a CRF (one state a label)")
    tagger = LatentCRFTagger(n_latent=1, random_state=seed, verbose=1).fit(*features_and_labels(train))
    _say(f"   {100 * tagger.score(*features_and_labels(test)):.1f} % of the test tokens labelled right\n")
    return tagger


def _chunk_tagger(train, seed: int):
    """From words and parts of speech to chunks."""
    from . import LatentCRFTagger
    from .feature_extraction import TemplateVectorizer

    _say("2. Chunks from words and parts of speech: a latent CRF (two states a label)")
    tagger = LatentCRFTagger(n_latent=2, vectorizer=TemplateVectorizer("chunking"), random_state=seed, verbose=1)
    tagger.fit(train.data, train.target)
    _say(f"   {len(tagger.classes_)} labels, {len(tagger.state_labels_)} states, objective {tagger.objective_:.2f}\n")
    return tagger


def _compare_decoders(tagger, test) -> None:
    from .metrics import chunk_f1_score, sequence_accuracy_score, token_error_rate

    _say("3. Five decoders on the test sentences")
    _say(f"   {'decoder':<12}{'chunk F1':>9}{'tokens':>9}{'sentences':>11}{'proven':>9}{'log P':>10}{'us/token':>10}")
    test_tokens = sum(map(len, test.data))
    for decoder in ("ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"):
        result = tagger.decode(test.data, decoder)
        right = 1.0 - token_error_rate(test.target, result.labels)
        _say(
            f"   {decoder:<12}{100 * chunk_f1_score(test.target, result.labels):9.2f}{100 * right:9.2f}"
            f"{100 * sequence_accuracy_score(test.target, result.labels):11.2f}{100 * result.exact.mean():8.1f}%"
            f"{result.log_prob.sum():10.2f}{1e6 * result.seconds / test_tokens:10.1f}"
        )
    _say("   proven: sentences whose labels are certified to be the most probable ones; log P: of the labels chosen\n")


def bracketed(tokens: Sequence[str], labels: Sequence[str]) -> str:
    """Text with its chunks in brackets."""
    from .metrics import get_chunks

    chunks = get_chunks(labels)
    opens = {start: kind for start, _, kind in chunks}
    closes = {stop for _, stop, _ in chunks}
    parts = []
    for i, token in enumerate(tokens):
        parts.append((f"[{opens[i]} " if i in opens else "") + token + ("]" if i + 1 in closes else ""))
    return " ".join(parts)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"a seed is a whole number from 0 to {(1 << 32) - 1}, got {text!r}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sklearn-latent", description="Latent-variable conditional random fields for labelling sequences."
    )
    parser.add_argument("--version", action="version", version=f"sklearn-latent {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    demo = commands.add_parser(
        "demo", help="train on the corpus shipped inside, compare the decoders, label a sentence (under a minute)"
    )
    demo.add_argument("--text", default=_TEXT, help="English sentence to label")
    demo.add_argument("--seed", type=_seed, default=0, help="seed of the random start (default 0)")
    demo.set_defaults(run=_demo)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    args = _parser().parse_args(argv)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack the letters of the text
    began = time.perf_counter()
    try:
        code = args.run(args)
        if code == 0:
            _say(f"   done in {time.perf_counter() - began:.1f} s")
    except BrokenPipeError:
        # The reader has gone: end quietly, and keep the interpreter from writing to the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
