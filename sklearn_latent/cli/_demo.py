# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent demo`` trains on the corpus shipped inside, compares the decoders and labels a sentence."""

from __future__ import annotations

import argparse
import math
import re
import sys
import time
from collections.abc import Sequence

from ._text import tokenize

__all__ = ["bracketed", "demo"]

_TEXT = "The old bridge over the river has been closed since March, and nobody knows when it will open again."


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
    from ..datasets import load_chunks

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
    from .. import LatentCRFTagger

    def features_and_labels(corpus):
        words = [word_features([word for word, _ in sentence]) for sentence in corpus.data]
        return words, [[pos for _, pos in sentence] for sentence in corpus.data]

    _say("1. Parts of speech from words: a CRF (one state a label)")
    tagger = LatentCRFTagger(n_latent=1, random_state=seed, verbose=1).fit(*features_and_labels(train))
    _say(f"   {100 * tagger.score(*features_and_labels(test)):.1f} % of the test tokens labelled right\n")
    return tagger


def _chunk_tagger(train, seed: int):
    """From words and parts of speech to chunks."""
    from .. import LatentCRFTagger
    from ..feature_extraction import TemplateVectorizer

    _say("2. Chunks from words and parts of speech: a latent CRF (two states a label)")
    tagger = LatentCRFTagger(n_latent=2, vectorizer=TemplateVectorizer("chunking"), random_state=seed, verbose=1)
    tagger.fit(train.data, train.target)
    _say(f"   {len(tagger.classes_)} labels, {len(tagger.state_labels_)} states, objective {tagger.objective_:.2f}\n")
    return tagger


def _compare_decoders(tagger, test) -> None:
    from ..metrics import chunk_f1_score, sequence_accuracy_score, token_error_rate

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
    from ..metrics import get_chunks

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
        prog="sklearn-latent demo",
        description="Train on the corpus shipped inside, compare the decoders, label a sentence (under a minute).",
        epilog='example: sklearn-latent demo --text "Nobody knows when the bridge will open again."',
    )
    parser.add_argument("--text", default=_TEXT, help="English sentence to label")
    parser.add_argument("--seed", type=_seed, default=0, help="seed of the random start (default 0)")
    return parser


def demo(argv: list[str]) -> int:
    """Run ``sklearn-latent demo`` with these arguments; returns the exit code.

    The one command that a plain installation has: it reads its two options without the extra ``cli``.
    """
    args = _parser().parse_args(argv)
    began = time.perf_counter()
    code = _demo(args)
    if code == 0:
        _say(f"   done in {time.perf_counter() - began:.1f} s")
    return code
