# SPDX-License-Identifier: BSD-3-Clause
import math
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_latent.metrics import chunk_f1_score, mcnemar_test, randomization_test
from sklearn_latent.metrics._sequence_scores import token_accuracy


def corpus(only_a, only_b, both=2, neither=1):
    """One-token sequences that only a, only b, both or neither has right."""
    n = only_a + only_b + both + neither
    right_a = [True] * only_a + [False] * only_b + [True] * both + [False] * neither
    right_b = [False] * only_a + [True] * only_b + [True] * both + [False] * neither
    return [["B-A"]] * n, *([["B-A"] if right else ["O"] for right in side] for side in (right_a, right_b))


# -- McNemar ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("only_a", "only_b", "statistic", "pvalue"),
    [
        (0, 0, 0.0, 1.0),
        (1, 0, 0.0, 1.0),
        (5, 0, 16 / 5, 2 / 2**5),  # all heads or all tails of five
        (0, 5, 16 / 5, 2 / 2**5),
        (8, 2, 25 / 10, 2 * (1 + 10 + 45) / 2**10),
        (3, 3, 0.0, 1.0),
        (12, 12, 0.0, 1.0),
        (24, 0, 23**2 / 24, 2 / 2**24),
        # from here on the chi-square with one degree of freedom, the square of a standard normal
        (25, 0, 24**2 / 25, math.erfc(24 / math.sqrt(2 * 25))),
        (20, 10, 81 / 30, math.erfc(9 / math.sqrt(2 * 30))),
        (59, 41, 17**2 / 100, math.erfc(17 / math.sqrt(2 * 100))),
        (30, 30, 0.0, 1.0),
    ],
)
def test_mcnemar(only_a, only_b, statistic, pvalue):
    result = mcnemar_test(*corpus(only_a, only_b))
    assert_allclose(result, (statistic, pvalue), rtol=1e-10)
    assert type(result[0]) is float and type(result[1]) is float
    assert (result.statistic, result.pvalue) == result


def test_mcnemar_counts_sequences():
    y_true = [["A", "B"], [], [None, "A"], ["B"]]
    a = [["A", "B"], [], ["B", "A"], ["A"]]
    b = [["A", "A"], [], ["A", "B"], ["A"]]
    assert mcnemar_test(y_true, a, b) == (0.5, 0.5)  # two for a, none for b
    assert mcnemar_test(y_true, a, a) == (0.0, 1.0)
    assert mcnemar_test([], [], []) == (0.0, 1.0)
    assert mcnemar_test(iter(y_true), iter(a), iter(b)) == (0.5, 0.5)


# -- randomisation ---------------------------------------------------------------------------------


def test_exact_distribution():
    """Six sequences, all right for a alone: only two of the 64 swappings are as far apart."""
    difference, pvalue = randomization_test(*corpus(6, 0), metric="token_accuracy", random_state=0)
    assert difference == pytest.approx(6 / 9)
    assert pvalue == pytest.approx(2 / 64, abs=5 * np.sqrt(2 / 64 / 10_000))


def test_small_pvalues_and_none():
    difference, pvalue = randomization_test(*corpus(40, 0), metric="chunk_f1", n_permutations=500, random_state=0)
    assert difference > 0 and pvalue == 1 / 501
    assert randomization_test(*corpus(0, 40), metric="chunk_f1", n_permutations=500, random_state=0) == (
        -difference,
        pvalue,
    )
    y_true, a, _ = corpus(3, 2)
    for metric in ("chunk_f1", "token_accuracy", token_accuracy):
        assert randomization_test(y_true, a, a, metric=metric, n_permutations=50, random_state=0) == (0.0, 1.0)
        assert randomization_test([], [], [], metric=metric, n_permutations=50, random_state=0) == (0.0, 1.0)


def noisy(y, share, rng):
    labels = ["O", "B-A", "I-A", "B-B", "I-B"]
    return [[labels[rng.integers(5)] if rng.random() < share else label for label in s] for s in y]


@pytest.fixture(scope="module")
def taggers():
    rng = np.random.default_rng(0)
    y_true = noisy([["O"] * rng.integers(0, 30) for _ in range(2000)], 1.0, rng)
    return y_true, noisy(y_true, 0.1, rng), noisy(y_true, 0.11, rng)


@pytest.mark.parametrize(
    ("name", "score"),
    [("chunk_f1", lambda t, p: chunk_f1_score(t, p, zero_division=0.0)), ("token_accuracy", token_accuracy)],
)
def test_counted_once_or_called_each_time(taggers, name, score):
    y_true, a, b = (y[:60] for y in taggers)
    options = {"n_permutations": 100, "random_state": 3}
    fast, slow = (randomization_test(y_true, a, b, metric=metric, **options) for metric in (name, score))
    assert_allclose(fast, slow, rtol=1e-12)
    assert fast.difference == pytest.approx(score(y_true, a) - score(y_true, b))
    assert 0 < fast.pvalue < 1


def test_speed(taggers):
    start = time.perf_counter()
    randomization_test(*taggers, metric="chunk_f1", random_state=0)
    assert time.perf_counter() - start < 10  # about a third of a second on an idle core


def test_seed(taggers):
    y_true, a, b = (y[:40] for y in taggers)
    first, again, other = (
        randomization_test(y_true, a, b, metric="chunk_f1", n_permutations=200, random_state=seed) for seed in (0, 0, 1)
    )
    assert first == again and first.difference == other.difference and first.pvalue != other.pvalue
    rng = np.random.RandomState(0)
    assert randomization_test(y_true, a, b, metric="chunk_f1", n_permutations=200, random_state=rng) == first


def test_level():
    """Where the taggers are alike, small p-values are as rare as they claim."""
    rng = np.random.default_rng(1)
    y_true = [["B-A"]] * 30
    pvalues = []
    for _ in range(200):
        a, b = ([["B-A"] if right else ["O"] for right in rng.random(30) < 0.7] for _ in range(2))
        pvalues.append(randomization_test(y_true, a, b, metric="chunk_f1", n_permutations=99, random_state=0).pvalue)
    assert np.mean(np.array(pvalues) <= 0.1) < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 200)


@pytest.mark.parametrize("test", [mcnemar_test, lambda *y: randomization_test(*y, metric="chunk_f1")])
def test_lengths_that_differ(test):
    with pytest.raises(ValueError, match="y_true has 1 sequences but a has 2"):
        test([["O"]], [["O"], ["O"]], [["O"]])
    with pytest.raises(ValueError, match=r"sequence 0: y_true\[0\] has 1 labels but b\[0\] has 2"):
        test([["O"]], [["O"]], [["O", "O"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "f1"}, "metric must be 'chunk_f1' or 'token_accuracy' or callable"),
        ({"metric": None}, "metric must be"),
        ({"n_permutations": 0}, "n_permutations must be"),
        ({"n_permutations": 1.5}, "n_permutations must be"),
        ({"metric": lambda t, p: float("nan")}, "not a number"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        randomization_test(*corpus(1, 1), **{"metric": "chunk_f1", **options})


def test_bad_labels():
    with pytest.raises(ValueError, match="b, sequence 0, position 0: label 'ADJ'"):
        randomization_test([["O"]], [["O"]], [["ADJ"]], metric="chunk_f1")
    with pytest.raises(TypeError):
        randomization_test([["O"]], [["O"]], [["O"]])
