# SPDX-License-Identifier: BSD-3-Clause
"""The command ``sklearn-latent``.

``demo`` needs nothing but the package: it trains on the corpus shipped inside, compares the decoders and labels a
sentence. Exit codes: 0 done, 1 the input is at fault, 2 the call is.
"""

from __future__ import annotations

import argparse
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


def _demo(args: argparse.Namespace) -> int:
    # Imported here: `--version` and `--help` should not wait for them.
    from . import LatentCRFTagger
    from .datasets import load_chunks
    from .feature_extraction import TemplateVectorizer
    from .metrics import chunk_f1_score, sequence_accuracy_score

    train, test = load_chunks(subset="train"), load_chunks(subset="test")
    n_tokens = sum(map(len, train.data))
    print(f"{len(train.data)} sentences to learn from ({n_tokens:,} tokens), {len(test.data)} to test on.\n")

    print("1. Parts of speech from words: a CRF (one state a label)")
    words = [[word for word, _ in sentence] for sentence in train.data]
    tags = [[tag for _, tag in sentence] for sentence in train.data]
    pos = LatentCRFTagger(n_latent=1, random_state=args.seed, verbose=1)
    pos.fit([word_features(sentence) for sentence in words], tags)
    held_out = [word_features([word for word, _ in sentence]) for sentence in test.data]
    accuracy = pos.score(held_out, [[tag for _, tag in sentence] for sentence in test.data])
    print(f"   {100 * accuracy:.1f} % of the test tokens tagged right\n")

    print("2. Chunks from words and parts of speech: a latent CRF (two states a label)")
    tagger = LatentCRFTagger(
        n_latent=2, vectorizer=TemplateVectorizer("chunking"), random_state=args.seed, verbose=1
    ).fit(train.data, train.target)
    print(f"   {len(tagger.classes_)} labels, {len(tagger.state_labels_)} states, objective {tagger.objective_:.2f}\n")

    print("3. Five decoders on the test sentences")
    print(f"   {'decoder':<12}{'chunk F1':>9}{'tokens':>9}{'sentences':>11}{'proven':>9}{'log P':>10}{'us/token':>10}")
    test_tokens = sum(map(len, test.data))
    for decoder in ("ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"):
        result = tagger.decode(test.data, decoder)
        right = sum(a == b for y, z in zip(test.target, result.labels, strict=True) for a, b in zip(y, z, strict=True))
        print(
            f"   {decoder:<12}{100 * chunk_f1_score(test.target, result.labels):9.2f}{100 * right / test_tokens:9.2f}"
            f"{100 * sequence_accuracy_score(test.target, result.labels):11.2f}{100 * result.exact.mean():8.1f}%"
            f"{result.log_prob.sum():10.2f}{1e6 * result.seconds / test_tokens:10.1f}"
        )
    print("   proven: sentences whose labels are certified to be the most probable ones; log P: of the labels chosen\n")

    tokens = tokenize(args.text)
    if not tokens:
        print("sklearn-latent demo: --text holds no word", file=sys.stderr)
        return 1
    print("4. Your sentence" if args.text != _TEXT else "4. A sentence (yours with --text)")
    guessed = pos.predict([word_features(tokens)])[0]
    result = tagger.decode([list(zip(tokens, guessed, strict=True))])
    print("   " + bracketed(tokens, result.labels[0]))
    proof = "proven to be the most probable" if result.exact[0] else "not proven to be the most probable"
    print(f"   probability of this labelling {2.718281828459045 ** result.log_prob[0]:.3f}, {proof}")
    return 0


def bracketed(tokens: Sequence[str], labels: Sequence[str]) -> str:
    """Text with its chunks in brackets."""
    from .metrics import get_chunks

    opens = {start: kind for start, _, kind in get_chunks(list(labels))}
    closes = {stop for _, stop, _ in get_chunks(list(labels))}
    parts = []
    for i, token in enumerate(tokens):
        parts.append((f"[{opens[i]} " if i in opens else "") + token + ("]" if i + 1 in closes else ""))
    return " ".join(parts)


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
    demo.add_argument("--seed", type=int, default=0, help="seed of the random start (default 0)")
    demo.set_defaults(run=_demo)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    args = _parser().parse_args(argv)
    began = time.perf_counter()
    try:
        code = args.run(args)
    except BrokenPipeError:
        # The reader has gone: end quietly, and keep the interpreter from writing to the pipe again.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    if code == 0:
        print(f"   done in {time.perf_counter() - began:.1f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
