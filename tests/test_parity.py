# SPDX-License-Identifier: BSD-3-Clause
"""The same numbers as logistic regression and CRFsuite, and a problem that only latent states solve."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from sklearn_latent import LatentCRFTagger, SequenceMatrix

# -- logistic regression --------------------------------------------------------------------------------------


class Plain(LatentCRFTagger):
    """Without start and end weights, which one-token sequences would use as two more intercepts."""

    _boundary_weights = False


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 5.0])
def test_one_token_and_one_state_a_label_is_logistic_regression(sigma, sparse):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((150, 6)) * (rng.random((150, 6)) < 0.6), np.ones(150)])
    y = rng.choice(["a", "b", "c"], 150)
    weight = rng.uniform(0.2, 2.0, 150)
    # The constant column is the intercept, under the same prior in both; transitions have no data and stay at zero.
    ours = Plain(n_latent=1, sigma=sigma, support="all", tol=1e-13, max_iter=2000)
    corpus = SequenceMatrix(sp.csr_array(X) if sparse else X, np.ones(150, dtype=int))
    ours.fit(corpus, [[label] for label in y], sample_weight=weight)
    theirs = LogisticRegression(C=sigma**2, fit_intercept=False, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
    theirs.fit(X, y, sample_weight=weight)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    # Gradients end near 1e-9 of a sum over 150 rows, curvatures are above 1 / sigma^2 = 0.04.
    np.testing.assert_allclose(ours.coef_.T, theirs.coef_, rtol=0.0, atol=1e-6)
    np.testing.assert_array_equal(ours.transition_coef_, 0.0)
    probability = np.concatenate(list(ours.predict_marginals(corpus)))
    np.testing.assert_allclose(probability, theirs.predict_proba(X), rtol=0.0, atol=1e-6)
    assert [labels[0] for labels in ours.predict(corpus)] == theirs.predict(X).tolist()
    loss = -(weight * np.log(theirs.predict_proba(X))[np.arange(150), np.searchsorted(theirs.classes_, y)]).sum()
    np.testing.assert_allclose(ours.objective_, loss + (theirs.coef_**2).sum() / (2 * sigma**2), rtol=1e-9, atol=0.0)


# -- CRFsuite -------------------------------------------------------------------------------------------------


class CRFsuiteModel(NamedTuple):
    """Weights of a first-order CRFsuite model, at full precision."""

    labels: list[str]
    attributes: list[str]
    state: np.ndarray  # (n_attributes, n_labels)
    transition: np.ndarray  # (n_labels, n_labels)
    n_features: int


HEADER = struct.Struct("<4sI4sIIIIIIIII")
FEATURE = struct.Struct("<IIId")


def read_crfsuite(blob: bytes) -> CRFsuiteModel:
    """Read the binary model file of CRFsuite (``lCRF``), little-endian throughout.

    ========================  =======================================================================================
    header, 48 bytes          ``lCRF``, file size, type ``FOMC`` (first-order Markov), version 100, counts of features,
                              labels and attributes (the first is written as 0), then offsets of the five chunks below
    ``FEAT`` chunk            name, size, count; then 20 bytes a feature: type (0: attribute with label, 1: label with
                              next label), source id, target id, weight (double)
    two ``CQDB`` chunks       label names and attribute names, see `read_names`
    ``LFRF``, ``AFRF``        name, size, count, then an offset a label (an attribute), each to a count and the numbers
                              of its features
    ========================  =======================================================================================

    All offsets count from the beginning of the file. ``dump()`` prints six digits only.
    """
    magic, size, kind, version, _, n_labels, n_attributes, *offsets = HEADER.unpack_from(blob)
    assert (magic, size, kind, version) == (b"lCRF", len(blob), b"FOMC", 100)
    at_features, at_labels, at_attributes, at_label_refs, at_attribute_refs = offsets
    labels, attributes = read_names(blob, at_labels), read_names(blob, at_attributes)
    assert len(labels) == n_labels and len(attributes) == n_attributes
    chunk, _, n_features = struct.unpack_from("<4sII", blob, at_features)
    assert chunk == b"FEAT"
    state, transition = np.zeros((n_attributes, n_labels)), np.zeros((n_labels, n_labels))
    of_source: dict[tuple[int, int], list[int]] = {}
    for k in range(n_features):
        kind, source, target, weight = FEATURE.unpack_from(blob, at_features + 12 + FEATURE.size * k)
        (state, transition)[kind][source, target] = weight
        of_source.setdefault((kind, source), []).append(k)
    for kind, name, at, count in ((0, b"AFRF", at_attribute_refs, n_attributes), (1, b"LFRF", at_label_refs, n_labels)):
        chunk, _, n_refs = struct.unpack_from("<4sII", blob, at)
        assert chunk == name and n_refs >= count
        for source in range(count):
            (where,) = struct.unpack_from("<I", blob, at + 12 + 4 * source)
            (n,) = struct.unpack_from("<I", blob, where)
            assert sorted(struct.unpack_from(f"<{n}I", blob, where + 4)) == of_source.get((kind, source), [])
    return CRFsuiteModel(labels, attributes, state, transition, n_features)


def read_names(blob: bytes, at: int) -> list[str]:
    """Read the names of a CQDB, a constant database of strings and numbers, in the order of their numbers.

    ``CQDB``, size, flag, a byte-order mark, the length of the backward array and its offset; 256 hash tables follow,
    which map strings to numbers and are not needed. The backward array gives the offset of each number's record:
    number, length of the string with its final zero, string. Offsets count from the beginning of the CQDB.
    """
    chunk, _, _, byteorder, n, backward = struct.unpack_from("<4sIIIII", blob, at)
    assert chunk == b"CQDB" and byteorder == 0x62445371
    out = []
    for k in range(n):
        (record,) = struct.unpack_from("<I", blob, at + backward + 4 * k)
        number, length = struct.unpack_from("<II", blob, at + record)
        text = blob[at + record + 8 : at + record + 8 + length]
        assert number == k and text[-1:] == b"\0"
        out.append(text[:-1].decode())
    return out


def synthetic(n: int, seed: int) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    """Sequences of tokens with valued attributes, some never seen elsewhere, and labels that lean on the one before."""
    rng = np.random.default_rng(seed)
    labels = ["O", "B-x", "I-x", "B-ü"]
    X, y = [], []
    for _ in range(n):
        T = int(rng.integers(1, 9))
        own, previous = [], 0
        for _ in range(T):
            previous = int(rng.choice(4, p=np.roll([0.5, 0.3, 0.15, 0.05], previous)))
            own.append(previous)
        tokens = []
        for t in range(T):
            token = {f"w={(own[t] * 3 + int(rng.integers(0, 5))) % 13}": 1.0, "bias": 1.0}
            token[f"p={int(rng.integers(0, 4))}"] = float(np.round(rng.uniform(0.1, 2.0), 3))
            if rng.random() < 0.1:
                token[f"rare={int(rng.integers(0, 1000))}"] = 0.5
            tokens.append(token)
        X.append(tokens)
        y.append([labels[k] for k in own])
    return X, y


@pytest.fixture(scope="module")
def crfsuite(tmp_path_factory):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.05, "c2": 0.1, "max_iterations": 60, "feature.possible_transitions": True})
    for tokens, labels in zip(*synthetic(120, 0), strict=True):
        trainer.append(tokens, labels)
    path = tmp_path_factory.mktemp("crfsuite") / "model"
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger, read_crfsuite(path.read_bytes())


def test_the_reader_agrees_with_the_names_and_ids_of_crfsuite(crfsuite):
    tagger, model = crfsuite
    info = tagger.info()
    assert info.labels == {name: str(k) for k, name in enumerate(model.labels)}
    assert info.attributes == {name: str(k) for k, name in enumerate(model.attributes)}
    assert model.n_features == len(info.state_features) + len(info.transitions)
    for (attribute, label), weight in info.state_features.items():
        exact = model.state[model.attributes.index(attribute), model.labels.index(label)]
        np.testing.assert_allclose(exact, weight, rtol=0.0, atol=5.1e-7)  # it prints six digits
    for (a, b), weight in info.transitions.items():
        np.testing.assert_allclose(
            model.transition[model.labels.index(a), model.labels.index(b)], weight, rtol=0.0, atol=5.1e-7
        )
    assert np.count_nonzero(model.state) == len(info.state_features)


@pytest.mark.parametrize("sparse", [True, False])
def test_probabilities_of_crfsuite(crfsuite, sparse):
    tagger, model = crfsuite
    coef = sp.csr_array(model.state) if sparse else model.state
    ours = LatentCRFTagger.from_weights(model.labels, coef, model.transition, feature_names=model.attributes)
    X, y = synthetic(40, 1)
    column = {name: k for k, name in enumerate(model.attributes)}
    rows = np.zeros((sum(map(len, X)), len(column)))
    for r, token in enumerate(token for tokens in X for token in tokens):
        for name, value in token.items():
            if name in column:  # what training did not show counts nothing
                rows[r, column[name]] += value
    corpus = SequenceMatrix(sp.csr_array(rows) if sparse else rows, [len(tokens) for tokens in X])
    assert any(name not in column for tokens in X for token in tokens for name in token)
    codes = ours.classes_.tolist()
    predicted = ours.predict(corpus)
    likelihood = [ours.log_likelihood(corpus, labels) for labels in (y, predicted)]
    marginals = ours.predict_marginals(corpus)
    for i, tokens in enumerate(X):
        tagger.set(tokens)
        assert tagger.tag() == predicted[i]
        for labels, log_likelihood in zip((y[i], predicted[i]), likelihood, strict=True):
            np.testing.assert_allclose(np.exp(log_likelihood[i]), tagger.probability(labels), rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(log_likelihood[i], np.log(tagger.probability(labels)), rtol=1e-8, atol=1e-8)
        theirs = [[tagger.marginal(label, t) for label in codes] for t in range(len(tokens))]
        np.testing.assert_allclose(marginals[i], theirs, rtol=0.0, atol=1e-8)


# -- what latent states are for -------------------------------------------------------------------------------


def remembering(n: int, lengths, seed: int) -> tuple[list, list]:
    """A token that opens one of two modes, tokens that look alike in both, and a last one whose label tells the mode.

    Sequences come in pairs that differ in the opening token and the last label only.
    """
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        between = [str(rng.choice(["x", "z"])) for _ in range(int(rng.choice(lengths)))]
        for mode in "ab":
            X.append([[f"word={word}"] for word in [f"open-{mode}", *between, "close"]])
            y.append(["O"] * (len(between) + 1) + [f"END-{mode}"])
    return X, y


def fully_right(tagger: LatentCRFTagger, X, y) -> float:
    return float(np.mean([a == b for a, b in zip(tagger.predict(X), y, strict=True)]))


def test_latent_states_learn_what_no_plain_crf_can():
    # Features see one token. In a plain CRF the score of (O, ..., O, END-a) less that of (O, ..., O, END-b) has only
    # terms of the last token and the last transition, which are the same for both sequences of a pair: whichever of
    # the two it prefers, it prefers for both, so at most one of them can be fully right, whatever the weights. Two
    # latent states of O can carry the mode along, and its length does not matter. The likelihood is not convex: about
    # one start in six finds that, the others end where the plain model does, so the best of many is kept.
    X, y = remembering(40, [1, 2], seed=0)
    held_X, held_y = remembering(40, [2, 5, 8], seed=1)
    plain = LatentCRFTagger(n_latent=1, sigma=10.0).fit(X, y)
    assert fully_right(plain, held_X, held_y) <= 0.5 and fully_right(plain, X, y) <= 0.5
    latent = LatentCRFTagger(n_latent=2, sigma=10.0, n_init=30, init_scale=3.0, random_state=0).fit(X, y)
    assert fully_right(latent, X, y) == 1.0
    assert fully_right(latent, held_X, held_y) == 1.0
    assert latent.objective_ < 0.5 * plain.objective_
    # And it is sure: with the mode known nothing is left to chance.
    assert np.exp(latent.log_likelihood(held_X, held_y)).min() > 0.9
    assert np.exp(plain.log_likelihood(held_X, held_y)).max() < 0.9
