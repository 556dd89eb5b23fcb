# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of every length, alone and in company: ragged, equal, one, none; in any order and any part."""

from __future__ import annotations

import numpy as np

from ..._sequences import SequenceMatrix
from .corpora import Corpus, first_of, main_corpora, taken
from .tools import ROUNDING, answers, assert_same, fitted, prepared

__all__ = ["common"]


def check_ragged(name, estimator):
    """One entry a sequence, as long as the sequence, from every method."""
    for corpus in taken(estimator):
        est = fitted(estimator, corpus)
        for method, found in answers(est, corpus.X, corpus.y).items():
            assert len(found) == len(corpus.X), f"{name}.{method}: {len(found)} entries for {len(corpus.X)} sequences"
            if method in _PER_TOKEN:
                lengths = [entry.shape[0] if hasattr(entry, "shape") else len(entry) for entry in found]
                assert lengths == corpus.lengths, f"{name}.{method}: lengths {lengths}, not {corpus.lengths}"


_PER_TOKEN = ("predict", "predict_marginals", "predict_latent", "predict_latent_marginals", "transform")


def check_equal_lengths(name, estimator):
    """Equal lengths are no special case: numpy must not make a rectangle of them."""
    for corpus in main_corpora(estimator):
        pairs = corpus.part([i for i, n in enumerate(corpus.lengths) if n == 2])
        est = fitted(estimator, pairs)
        _assert_as_in_company(name, est, pairs)
        if hasattr(est, "predict"):
            array = np.asarray(est.predict(pairs.X))
            assert array.shape == (len(pairs.X),) and array.dtype == object, (
                f"{name}.predict becomes an array of shape {array.shape}, {array.dtype}: one object a sequence is due"
            )
        if corpus.kind == "numbers":
            assert_same(
                answers(est, np.stack(pairs.X), pairs.y),
                answers(est, pairs.X, pairs.y),
                f"{name} on a 3-D array: ",
            )


def check_one_sequence(name, estimator):
    """A corpus of one sequence can be learnt from and asked about."""
    for corpus in main_corpora(estimator):
        one = corpus.part([3])
        est = fitted(estimator, one)
        for method, found in answers(est, one.X, one.y).items():
            assert len(found) == 1, f"{name}.{method}: {len(found)} entries for one sequence"


def check_one_token(name, estimator):
    """Sequences of one token, also if there are no others, or only one."""
    for corpus in main_corpora(estimator):
        ones = corpus.part([i for i, n in enumerate(corpus.lengths) if n == 1])
        _assert_as_in_company(name, fitted(estimator, ones), ones)
        single = ones.part([0])
        answers(fitted(estimator, single), single.X, single.y)


def check_one_feature(name, estimator):
    """A single column is a matrix still."""
    corpus = first_of(estimator, "numbers")
    if corpus is None:
        return
    X = [x[:, :1] for x in corpus.X]
    answers(prepared(estimator).fit(X, corpus.y), X, corpus.y)


def check_empty_among_others(name, estimator):
    """Empty sequences change nothing, wherever they stand, and get empty answers."""
    for corpus in main_corpora(estimator):
        expected = answers(fitted(estimator, corpus), corpus.X, corpus.y)
        for where in (0, 5, len(corpus.X)):
            X = [*corpus.X[:where], corpus.empty, *corpus.X[where:]]
            y = [*corpus.y[:where], [], *corpus.y[where:]]
            found = answers(prepared(estimator).fit(X, y), X, y)
            for method, entries in found.items():
                gap = entries[where]
                others = [*entries[:where], *entries[where + 1 :]]
                at = f"{name}.{method} with an empty sequence at {where}: "
                assert_same(others, expected[method], at, rtol=1e-6, atol=1e-8)
                if method in _PER_TOKEN:
                    assert (gap.shape[0] if hasattr(gap, "shape") else len(gap)) == 0, f"{at}{gap!r} for no token"
            if "log_likelihood" in found:
                assert found["log_likelihood"][where] == 0.0, f"{name}: log P of no label is 0.0"


def check_only_empty(name, estimator):
    """A fitted estimator answers about no sequence, and about sequences without tokens, with finite numbers."""
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        for n in (0, 1, 3):
            X, y = [corpus.empty] * n, [[]] * n
            for method, found in answers(est, X, y).items():
                assert len(found) == n, f"{name}.{method}: {len(found)} entries for {n} empty sequences"
                if method in _PER_TOKEN:
                    assert all((e.shape[0] if hasattr(e, "shape") else len(e)) == 0 for e in found)
            if hasattr(est, "score"):
                assert 0.0 <= est.score(X, y) <= 1.0, f"{name}.score of no token is no number between 0 and 1"
        if corpus.kind == "numbers":
            for X in (np.zeros((2, 0, 3)), SequenceMatrix(np.zeros((0, 3)), [0, 0]), [np.zeros((0, 3))] * 2):
                assert all(len(found) == 2 for found in answers(est, X, [[], []]).values())


def check_order_invariance(name, estimator):
    """The answer about a sequence does not depend on where it stands."""
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        whole = answers(est, corpus.X, corpus.y)
        order = np.random.RandomState(1).permutation(len(corpus.X)).tolist()
        part = corpus.part(order)
        shuffled = answers(est, part.X, part.y)
        for method, found in whole.items():
            assert_same(shuffled[method], [found[i] for i in order], f"{name}.{method} in another order: ", **ROUNDING)


def check_subset_invariance(name, estimator):
    """The answer about a sequence does not depend on its company: it is the same alone."""
    for corpus in main_corpora(estimator):
        _assert_as_in_company(name, fitted(estimator, corpus), corpus)


def _assert_as_in_company(name: str, est, corpus: Corpus) -> None:
    whole = answers(est, corpus.X, corpus.y)
    for i in range(len(corpus.X)):
        one = corpus.part([i])
        for method, found in answers(est, one.X, one.y).items():
            assert_same(found, [whole[method][i]], f"{name}.{method} of sequence {i} alone: ", **ROUNDING)


common = [
    check_ragged,
    check_equal_lengths,
    check_one_sequence,
    check_one_token,
    check_one_feature,
    check_empty_among_others,
    check_only_empty,
    check_order_invariance,
    check_subset_invariance,
]
