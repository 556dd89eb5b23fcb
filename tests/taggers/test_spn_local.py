# SPDX-License-Identifier: BSD-3-Clause
"""Locally normalised networks (SPN-MEMM) against enumeration from their public weights."""

from __future__ import annotations

import pickle
import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp

from sklearn_latent import LatentCRFTagger, SequenceMatrix, SPNCRFTagger
from sklearn_latent._objective import local as local_module
from sklearn_latent._sequences import LabelCodec
from sklearn_latent._taggers import spn_model
from sklearn_latent._taggers.training import TrainingSet
from sklearn_latent._threads import Workers
from sklearn_latent.exceptions import ConvergenceWarning, InexactDecodingWarning
from sklearn_latent.io import load_model, save_model
from sklearn_latent.metrics import get_chunks
from taggers.brute import anything, only_pairs, random_inputs
from taggers.spn_brute import network, random_spn

PAIRS = [("a", "b"), ("b", "a"), ("b", "b"), ("c", "a"), ("a", "c"), ("b", "c"), (None, "b"), (None, "c"), ("a", None),
         ("c", None)]  # fmt: skip
MODELS = {
    "order 1": {"order": 1},
    "order 0": {"order": 0},
    "order 2, two layers": {"order": 2, "n_layers": 2},
    "linear, order 3": {"order": 3, "n_layers": 0},
    "windows": {"order": 1, "factors": ((1, 1), (3, 1))},
    "max": {"order": 2, "operator": "max"},
    "hidden units": {"order": 2, "tie_inputs": True, "n_products": 3},
    "single precision": {"order": 1, "dtype": np.float32},
    "constraints": {"order": 2, "constraints": PAIRS},
}  # fmt: skip


class Local:
    """All label sequences of one input."""

    def __init__(self, tagger, x, allowed=anything, fixed=None):
        self.tagger, self.x, self.allowed = tagger, np.asarray(x), allowed
        self.classes = tagger.classes_.tolist()
        fixed = [None] * len(x) if fixed is None else fixed
        self.given, self.score, self.joint = {}, {}, {}
        for codes in product(range(len(self.classes)), repeat=len(x)):
            y = tuple(self.classes[c] for c in codes)
            steps = [self.step(t, codes[:t]) for t in range(len(x))]
            score = sum(step[0][c] for step, c in zip(steps, codes, strict=True))
            if score > -np.inf and all(f is None or f == label for f, label in zip(fixed, y, strict=True)):
                self.score[y] = float(score)
                self.joint[y] = float(sum(step[1][c] for step, c in zip(steps, codes, strict=True)))
        self.held = logsumexp(list(self.score.values()))
        self.prob = {y: float(np.exp(v - self.held)) for y, v in self.score.items()}

    def step(self, t, before):
        """Log-probabilities of the labels at a token after some, and those of the best hidden states with them."""
        if (t, before[-max(1, self.tagger.order) :]) in self.given:
            return self.given[t, before[-max(1, self.tagger.order) :]]
        n, D = len(self.classes), self.x.shape[1]
        history = []
        for back in range(1, self.tagger.order + 1):
            one = np.zeros(n + 1)
            one[before[-back] if back <= len(before) else n] = 1.0
            history.append(one)
        totals = []
        for best in (False, True):
            total = np.zeros(n)
            for k, (m, _) in enumerate(self.tagger.factors):
                window = [self.x[s] if s >= 0 else np.zeros(D) for s in range(t - m + 1, t + 1)]
                total = total + network(self.tagger, k, np.concatenate([*window, *history]), best=best)
            last = self.classes[before[-1]] if before else None
            for c, label in enumerate(self.classes):
                if not self.allowed(last, label) or not self.can_end(label, len(self.x) - t - 1):
                    total[c] = -np.inf
            totals.append(total)
        norm = logsumexp(totals[0])
        out = tuple(np.full(n, -np.inf) if norm == -np.inf else total - norm for total in totals)
        self.given[t, before[-max(1, self.tagger.order) :]] = out
        return out

    def can_end(self, label, n):
        """Whether `n` more labels can follow, the last one at an allowed end."""
        if not n:
            return self.allowed(label, None)
        return any(self.allowed(label, other) and self.can_end(other, n - 1) for other in self.classes)

    def ranked(self):
        return sorted(((list(y), p) for y, p in self.prob.items()), key=lambda item: -item[1])

    def log_prob(self, y):
        found = [v for own, v in self.score.items() if all(b is None or a == b for a, b in zip(own, y, strict=True))]
        return float(logsumexp(found) - self.held) if found else -np.inf

    def marginals(self):
        out = np.zeros((len(self.x), len(self.classes)))
        for y, p in self.prob.items():
            for t, label in enumerate(y):
                out[t, self.classes.index(label)] += p
        return out


@pytest.fixture(params=[(name, way) for name in MODELS for way in ("lattice", "beam")], ids="-".join)
def model(request, monkeypatch):
    """Each model in a lattice and, the same, by a beam that is wide enough for all label sequences."""
    name, way = request.param
    params, rng = MODELS[name], np.random.default_rng(20180706)
    if way == "beam":
        monkeypatch.setattr(spn_model, "MOST_ARCS", 0)
    tagger = random_spn(rng, normalization="local", beam_width=100, **params)
    assert tagger._model.in_lattice == (way == "lattice")
    pairs = params.get("constraints")
    allowed = only_pairs(pairs) if pairs else anything
    X = random_inputs(rng, (4, 0, 1, 3), 3)
    single = params.get("dtype") is np.float32
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if single else {"rtol": 1e-9, "atol": 1e-11}
    return tagger, X, [Local(tagger, x, allowed) for x in X], allowed, tolerance, way == "lattice"


def quietly(f, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactDecodingWarning)
        return f(*args, **kwargs)


def test_probabilities(model, rng):
    tagger, X, slow, _, tolerance, lattice = model
    y = [[rng.choice(["a", "b", "c", None]) for _ in x] for x in X]
    for labels in (y, [s.ranked()[0][0] for s in slow]):
        found = tagger.log_likelihood(X, labels)
        if lattice or tagger.constraints is None:
            np.testing.assert_allclose(found, [s.log_prob(a) for s, a in zip(slow, labels, strict=True)], **tolerance)
    assert tagger.log_likelihood(X[:1], [["a", "b", "a", "z"]]).tolist() == [-np.inf]
    for found, s in zip(quietly(tagger.predict_marginals, X), slow, strict=True):
        np.testing.assert_allclose(found, s.marginals(), **tolerance)


def test_decoders(model):
    tagger, X, slow, _, tolerance, lattice = model
    result = tagger.decode(X)
    assert result.labels == tagger.predict(X) == [s.ranked()[0][0] for s in slow]
    log_prob = [s.score[tuple(y)] - (s.held if lattice else 0.0) for s, y in zip(slow, result.labels, strict=True)]
    np.testing.assert_allclose(result.log_prob, log_prob, **tolerance)
    assert result.exact.tolist() == ([True] * 4 if lattice else [False, True, False, False])
    assert (result.upper_bound >= result.log_prob - 1e-9).all()
    joint = [list(max(s.joint, key=s.joint.get)) for s in slow]
    assert tagger.decode(X, "bhp").labels == joint
    marginal = tagger.decode(X, "bmp")
    for y, s in zip(marginal.labels, slow, strict=True):
        m = s.marginals()
        total = {own: sum(m[t, s.classes.index(c)] for t, c in enumerate(own)) for own in s.prob}
        np.testing.assert_allclose(total[tuple(y)], max(total.values()), **tolerance)
    risk = tagger.decode(X, "mbr", mbr_metric="token_accuracy", n_paths=100)
    assert risk.labels == marginal.labels
    assert tagger.decode(X, "ldi_approx", n_paths=1000).labels == result.labels
    with pytest.raises(TypeError, match="no option"):
        tagger.decode(X, width=3)


def test_nbest_and_fixed(model, rng):
    tagger, X, slow, allowed, tolerance, _ = model
    for found, s in zip(tagger.predict_nbest(X, 5), slow, strict=True):
        np.testing.assert_allclose([p for _, p in found], [p for _, p in s.ranked()[:5]], **tolerance)
    fixed = [[label if rng.random() < 0.4 else None for label in s.ranked()[-1][0]] for s in slow]
    held = [Local(tagger, x, allowed, own) for x, own in zip(X, fixed, strict=True)]
    assert tagger.predict(X, fixed=fixed) == [s.ranked()[0][0] for s in held]
    for found, s in zip(quietly(tagger.predict_marginals, X, fixed=fixed), held, strict=True):
        np.testing.assert_allclose(found, s.marginals(), **tolerance)
    for found, s in zip(tagger.predict_nbest(X, 3, fixed=fixed), held, strict=True):
        np.testing.assert_allclose([p for _, p in found], [p for _, p in s.ranked()[:3]], **tolerance)
    if tagger.constraints:
        with pytest.raises(ValueError, match=r"X\[0\].*no label sequence"):
            tagger.predict(X[:1], fixed=[["a", None, None, None]])


@pytest.mark.parametrize("way", ["lattice", "beam"])
def test_spans(rng, way, monkeypatch):
    if way == "beam":
        monkeypatch.setattr(spn_model, "MOST_ARCS", 0)
    tagger = random_spn(rng, ["B-A", "I-A", "O"], normalization="local", order=2, beam_width=100)
    X = random_inputs(rng, (4, 0, 3), 3)
    spans = [[(a, b, "A") for a in range(len(x)) for b in range(a + 1, len(x) + 1)] for x in X]
    for x, found in zip(X, quietly(tagger.predict_spans, X, spans), strict=True):
        expected = dict.fromkeys([(a, b, k) for a, b, k, _ in found], 0.0)
        for y, p in Local(tagger, x).prob.items():
            for span in get_chunks(list(y), scheme="iob2", invalid="discard"):
                expected[span] += p
        for *span, p in found:
            assert p == pytest.approx(expected[tuple(span)], rel=1e-9, abs=1e-12)
    chunks = [get_chunks(y, scheme="iob2", invalid="discard") for y in tagger.predict(X)]
    assert [len(s) for s in quietly(tagger.predict_spans, X)] == [len(own) for own in chunks]


def test_what_comes_from_a_beam_says_so(rng, monkeypatch):
    monkeypatch.setattr(spn_model, "MOST_ARCS", 0)
    tagger = random_spn(rng, ["B-A", "I-A", "O"], normalization="local", order=2, beam_width=3)
    X = random_inputs(rng, (5, 4), 3)
    for f in (tagger.predict_marginals, tagger.predict_spans, tagger.predict_latent_marginals):
        with pytest.warns(InexactDecodingWarning, match="3 label sequences of the beam") as caught:
            f(X)
        assert len(caught) == 1
    found = tagger.predict_nbest(X, 10)
    slow = [Local(tagger, x) for x in X]
    for pairs, s in zip(found, slow, strict=True):
        assert len(pairs) == 10
        for y, p in pairs:
            assert p == pytest.approx(s.prob[tuple(y)])
    result = tagger.decode(X)
    assert not result.exact.any()
    assert (result.log_prob <= [max(s.score.values()) + 1e-9 for s in slow]).all()
    codes = [[s.classes.index(c) for c in y] for s, y in zip(slow, result.labels, strict=True)]
    assert [row.tolist() for row in tagger.predict_latent(X)] == codes


def test_the_memm_of_eight_labels():
    """Training and beam search where a lattice would have 3 ** 8 states; the label eight before tells."""
    rng = np.random.default_rng(0)
    y = []
    for _ in range(40):
        own = rng.choice(list("abc"), size=8).tolist()
        while len(own) < 20:
            own.append(own[-8] if rng.random() < 0.98 else "a")
        y.append(own)
    X = [np.array([[t < 8 and c == k for k in "abc"] for t, c in enumerate(own)], dtype=float) for own in y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        options = {"n_states": 2, "max_iter": 40, "sigma": 3.0, "random_state": 0}
        models = [SPNCRFTagger.memm(**options, n_jobs=n).fit(X, y) for n in (1, 2)]
    for name, value in models[0]._model.params.items():
        np.testing.assert_array_equal(value, models[1]._model.params[name])
    assert not models[0]._model.in_lattice
    assert models[0].score(X, y) > 0.93
    assert models[0].predict(X) == models[1].predict(X)


# -- training ---------------------------------------------------------------------------------------


def corpus(known=1.0, n=10, seed=0):
    rng = np.random.default_rng(seed)
    y = [rng.choice(list("abc"), size=rng.integers(1, 6)).tolist() for _ in range(n)]
    y[0] = list("abc")
    X = [np.round(rng.normal(size=(len(own), 3)), 3) for own in y]
    return X, [[c if rng.random() < known else None for c in own] for own in y]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("known", [1.0, 0.6])
@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("single precision", "constraints")])
def test_gradient_is_a_finite_difference(name, known, sparse, monkeypatch):
    X, y = corpus(known)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    codec = LabelCodec.from_labels(y)
    values = np.concatenate(X)
    matrix = SequenceMatrix(sp.csr_array(values) if sparse else values, [len(x) for x in X])
    data = TrainingSet(matrix, codec.encode(y), weight, codec.classes.tolist(), np.arange(len(X)))
    tagger = SPNCRFTagger(normalization="local", **{"n_states": 2, **MODELS[name]})
    model, objective, chunks = tagger._build(data)
    rng = np.random.default_rng(2)
    theta = rng.normal(size=objective.packing.size)
    with Workers(None) as workers:
        value, grad = objective.value_and_grad(theta, chunks, workers)
        model.params = {k: v.copy() for k, v in objective.packing.views(theta).items()}
        tagger.classes_, tagger.n_features_in_, tagger._feature_names = codec.classes, 3, None
        tagger._set_model(model)
        slow = -sum(w * Local(tagger, x).log_prob(own) for w, x, own in zip(weight, X, y, strict=True))
        np.testing.assert_allclose(value, slow + 0.5 * theta @ theta, rtol=1e-9)
        monkeypatch.setattr("sklearn_latent._scorers.local._KEPT_BYTES", 0)
        monkeypatch.setattr("sklearn_latent._scorers.circuit._STEP_BYTES", 1)
        np.testing.assert_allclose(objective.value_and_grad(theta, chunks, workers)[1], grad, rtol=1e-9, atol=1e-10)
        for cell in rng.choice(len(theta), size=min(20, len(theta)), replace=False):
            ends = []
            for step in (1e-5, -1e-5):
                moved = theta.copy()
                moved[cell] += step
                ends.append(objective.loss(moved, chunks, workers) + 0.5 * moved @ moved)
            np.testing.assert_allclose(grad[cell], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-5)


def test_gradient_where_constraints_leave_no_way_on():
    """Unknown labels of which some lead to where nothing may follow."""
    y = [["b", "a", "c"], ["c", None, None, "a"], ["b", None, None, "c"], [None, None], ["c", "a"]]
    moves = [("b", "a"), ("a", "c"), ("c", "a"), ("c", "b"), ("b", "c")]
    pairs = [*moves, (None, "b"), (None, "c"), ("a", None), ("c", None)]
    X = [np.random.default_rng(len(own)).normal(size=(len(own), 3)) for own in y]
    codec = LabelCodec.from_labels(y)
    matrix = SequenceMatrix(np.concatenate(X), [len(x) for x in X])
    data = TrainingSet(matrix, codec.encode(y), np.ones(5), codec.classes.tolist(), np.arange(5))
    tagger = SPNCRFTagger(normalization="local", n_states=2, order=3, constraints=pairs)
    _, objective, chunks = tagger._build(data)
    theta = np.random.default_rng(2).normal(size=objective.packing.size)
    with Workers(None) as workers:
        value, grad = objective.value_and_grad(theta, chunks, workers)
        assert np.isfinite(value)
        for cell in np.random.default_rng(3).choice(len(theta), size=30, replace=False):
            ends = []
            for step in (1e-5, -1e-5):
                moved = theta.copy()
                moved[cell] += step
                ends.append(objective.loss(moved, chunks, workers) + 0.5 * moved @ moved)
            np.testing.assert_allclose(grad[cell], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-5)


def test_order_0_is_logistic_regression():
    X, y = corpus(n=20)
    rows = [[x_t] for x in X for x_t in x]
    tokens, labels = [np.array(r) for r in rows], [[c] for own in y for c in own]
    options = {"solver": "lbfgs", "tol": 1e-10, "max_iter": 1000}
    a = SPNCRFTagger(0, order=0, normalization="local", **options).fit(X, y)
    b = SPNCRFTagger(0, order=0, normalization="local", **options).fit(tokens, labels)
    np.testing.assert_allclose(a.coef_ if hasattr(a, "coef_") else a.factor_coef_[0], b.factor_coef_[0], atol=1e-4)
    from sklearn.linear_model import LogisticRegression

    c = LogisticRegression(fit_intercept=False, tol=1e-8, max_iter=1000).fit(np.concatenate(X), np.concatenate(y))
    np.testing.assert_allclose(a.factor_coef_[0], c.coef_, atol=1e-4)


def test_sparse_batches_partial_fit_and_files(tmp_path):
    X, y = corpus(n=30)
    options = {"normalization": "local", "order": 2, "n_states": 2, "random_state": 0, "learning_rate": 0.05}
    a, b = SPNCRFTagger(**options), SPNCRFTagger(**options)
    for _ in range(3):
        a.partial_fit(X, y)
        b.partial_fit([sp.csr_array(x) for x in X], y)
    for name, value in a._model.params.items():
        np.testing.assert_allclose(b._model.params[name], value, rtol=1e-6, atol=1e-9)
    save_model(a, tmp_path / "m.zip")
    for copy in (load_model(tmp_path / "m.zip", mmap_mode="r"), pickle.loads(pickle.dumps(a))):
        np.testing.assert_array_equal(copy.log_likelihood(X, y), a.log_likelihood(X, y))
        assert copy.predict(X) == a.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        old = a.factor_coef_[0]
        a.set_params(warm_start=True, max_iter=0, solver="lbfgs").fit([np.hstack([x, x]) for x in X], y)
    np.testing.assert_array_equal(np.delete(a.factor_coef_[0], [3, 4, 5], axis=-1), old)
    assert not hasattr(a, "transition_coef_")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"factors": ((1, 1), (2, 2))}, r"takes factors \(m, 1\)"),
        ({"n_latent": 2}, "no latent chain states"),
        ({"n_latent": {"a": 3}}, "no latent chain states"),
        ({"constraints": [("a", "a")]}, "constraints forbid the labels of y"),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        SPNCRFTagger(normalization="local", **params).fit(*corpus())


def test_too_many_unknown_labels(monkeypatch):
    X, y = corpus()
    monkeypatch.setattr("sklearn_latent._taggers.spn_training.MOST_HISTORIES", 30)
    monkeypatch.setattr(local_module, "MOST_HISTORIES", 30)
    X, y = [*X, np.zeros((6, 3))], [*y, ["a", None, None, None, None, "a"]]
    with pytest.raises(ValueError, match=r"y\[10\] has 4 unknown labels among 5 in a row"):
        SPNCRFTagger(normalization="local", order=5).fit(X, y)
    monkeypatch.setattr(spn_model, "MOST_ARCS", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger = SPNCRFTagger(normalization="local", order=5, max_iter=1).fit(X[:10], y[:10])
    with pytest.raises(ValueError, match=r"y\[10\] has too many unknown labels"):
        tagger.log_likelihood(X, y)
    found = tagger.predict_nbest(X[10:], 3, fixed=y[10:])
    assert all(labels[0] == labels[-1] == "a" for labels, _ in found[0])


def test_order_1_is_better_than_none():
    rng = np.random.default_rng(0)
    y = [[("ab" * 6)[t + k] for t in range(8)] for k in rng.integers(0, 2, 30)]
    X = [np.array([[(c == "a") * (t == 0)] for t, c in enumerate(own)], dtype=float) for own in y]
    options = {"solver": "lbfgs", "max_iter": 200, "tol": 1e-4, "sigma": 5.0}
    assert SPNCRFTagger(0, normalization="local", **options).fit(X, y).score(X, y) == 1.0
    assert LatentCRFTagger(1, **{**options, "sigma": 5.0}).fit(X, y).score(X, y) == 1.0


def test_features_beyond_single_precision_are_named():
    X = [np.ones((3, 2)), np.full((2, 2), 1e300)]
    tagger = SPNCRFTagger.memm(order=8, max_iter=1, n_iter_no_change=1, dtype=np.float32, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger.fit([X[0], X[0]], [["a", "b", "a"], ["b", "c", "a"]])
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match=r"X\[1\]: its scores are beyond what floating point"),
    ):
        tagger.predict(X)


DEAD = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "c"), ("c", "c"), (None, "a"), ("c", None)]


@pytest.mark.parametrize("way", ["lattice", "beam"])
def test_constraints_with_dead_ends_lose_no_probability(way, monkeypatch):
    """Training, lattice and beam see one model, in which label sequences that can be have all probability."""
    if way == "beam":
        monkeypatch.setattr(spn_model, "MOST_ARCS", 0)
    rng = np.random.default_rng(1)
    y = [list(rng.choice(["aabc", "abbc", "abcc"])) for _ in range(20)]
    X = [rng.normal(size=(4, 2)) for _ in y]
    tagger = SPNCRFTagger.memm(order=1, sigma=np.inf, constraints=DEAD, solver="lbfgs", max_iter=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger.fit(X, y)
    np.testing.assert_allclose(tagger.objective_, -tagger.log_likelihood(X, y).sum(), rtol=1e-9)
    three = [list(own) for own in ("aabc", "abbc", "abcc")]
    total = sum(np.exp(tagger.log_likelihood([X[0]], [own])[0]) for own in three)
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)
    np.testing.assert_allclose(sum(p for _, p in tagger.predict_nbest(X[:1], 9)[0]), 1.0, rtol=1e-12)


def test_a_beam_looks_ahead_to_labels_that_are_held():
    """None of the few that it keeps may be a dead end for what comes."""
    types = 40
    labels = ["O", *(f"{p}-T{i}" for i in range(types) for p in "BI")]
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(len(labels), 2)) for _ in range(2)]
    tagger = SPNCRFTagger.memm(order=8, constraints="iob2", max_iter=1, beam_width=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger.fit(X, [labels] * 2)
    for i in range(types):
        found = tagger.predict([X[0][:6]], fixed=[[None] * 4 + [f"I-T{i}", None]])[0]
        assert found[4] == f"I-T{i}" and found[3] in (f"B-T{i}", f"I-T{i}")
