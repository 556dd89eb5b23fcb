# SPDX-License-Identifier: BSD-3-Clause
"""Fitting: the objective that is minimised, weights, supports, constraints, restarts and reports."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad, minimize

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.exceptions import ConvergenceWarning, ModelTooLargeError
from taggers.brute import Enumeration, anything

# Optimisers stop at a gradient, not at a point: with a prior two fits are this close at tol=1e-7.
FITTED = {"rtol": 1e-4, "atol": 1e-5}


def tight(**params):
    return LatentCRFTagger(**{"n_latent": 1, "tol": 1e-7, "max_iter": 2000, "random_state": 0, **params})


@pytest.fixture
def corpus(rng):
    X = [rng.integers(0, 2, size=(n, 3)).astype(float) for n in (3, 2, 4, 1, 3, 2)]
    y = [rng.choice(["a", "b"], size=len(x)).tolist() for x in X]
    y[0][:] = ["a", "b", "a"]
    y[1][:] = ["b", "a"]
    return X, y


def penalty(tagger, sigma=None):
    weights = [tagger.coef_, tagger.transition_coef_, tagger.start_coef_, tagger.end_coef_, tagger.edge_coef_.toarray()]
    return sum((w**2).sum() for w in weights) / (2 * (sigma or tagger.sigma) ** 2)


def objective(tagger, X, y, weight=None, allowed=anything):
    """By enumeration, from public attributes."""
    weight = np.ones(len(X)) if weight is None else weight
    logs = [Enumeration(tagger, x, allowed).log_prob(labels) for x, labels in zip(X, y, strict=True)]
    return penalty(tagger) - sum(w * v for w, v in zip(weight, logs, strict=True))


def same_model(a, b, **tolerance):
    tolerance = tolerance or FITTED
    assert a.classes_.tolist() == b.classes_.tolist()
    for name in ("coef_", "transition_coef_", "start_coef_", "end_coef_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), **tolerance)
    np.testing.assert_allclose(a.edge_coef_.toarray(), b.edge_coef_.toarray(), **tolerance)


# -- the objective ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"n_latent": 2},
        {"n_latent": {"a": 3}},
        {"n_latent": 2, "edge_features": True, "sigma": 0.7},
        {"n_latent": 2, "support": "all", "edge_features": [1]},
    ],
    ids=repr,
)
def test_the_objective_is_the_documented_one(corpus, params, sparse):
    X, y = corpus
    tagger = tight(**params).fit([sp.csr_array(x) for x in X] if sparse else X, y)
    np.testing.assert_allclose(tagger.objective_, objective(tagger, X, y), rtol=1e-10)
    assert tagger.loss_curve_[-1] == tagger.objective_
    assert len(tagger.loss_curve_) == tagger.n_iter_
    assert tagger.converged_
    # No step downhill is left: rescaling any block of weights only makes it worse.
    for name in ("coef", "transition_coef", "start_coef", "end_coef"):
        weights = {n: getattr(tagger, n + "_") for n in ("coef", "transition_coef", "start_coef", "end_coef")}
        for factor in (0.99, 1.01):
            moved = LatentCRFTagger.from_weights(
                tagger.classes_, **{**weights, name: factor * weights[name]}, edge_coef=tagger.edge_coef_,
                state_labels=tagger.state_labels_, sigma=tagger.sigma, edge_features=tagger.edge_features_.tolist(),
            )  # fmt: skip
            assert objective(moved, X, y) >= tagger.objective_ - 1e-9


def test_the_optimum_is_the_one_that_another_optimiser_finds(corpus):
    """A plain CRF has one optimum: Nelder-free BFGS with numeric gradients on the enumerated objective finds it."""
    X, y = corpus
    tagger = tight(support="all", sigma=0.8).fit(X, y)

    def unpack(theta):
        coef, transition, start, end = np.split(theta, [6, 10, 12])
        return LatentCRFTagger.from_weights(
            ["a", "b"], coef.reshape(3, 2), transition.reshape(2, 2), start_coef=start, end_coef=end, sigma=0.8
        )

    found = minimize(lambda theta: objective(unpack(theta), X, y), np.zeros(14), method="BFGS")
    np.testing.assert_allclose(found.fun, tagger.objective_, rtol=1e-7)
    same_model(unpack(found.x), tagger, rtol=0, atol=1e-3)


def test_unknown_labels_are_summed_over(corpus):
    """The fitted point is a stationary point of the enumerated objective with the unknown labels summed out."""
    X, y = corpus
    y = [[None if (i + t) % 3 == 0 else label for t, label in enumerate(labels)] for i, labels in enumerate(y)]
    tagger = tight(support="all", sigma=0.8, n_latent=2).fit(X, y)
    np.testing.assert_allclose(tagger.objective_, objective(tagger, X, y), rtol=1e-10)
    assert all(own <= 0 for own in tagger.log_likelihood(X, y))

    def f(theta):
        moved = LatentCRFTagger.from_weights(
            tagger.classes_, theta.reshape(3, 4), tagger.transition_coef_, start_coef=tagger.start_coef_,
            end_coef=tagger.end_coef_, state_labels=tagger.state_labels_, sigma=0.8,
        )  # fmt: skip
        return objective(moved, X, y)

    # The distance between the numeric gradient and zero.
    assert check_grad(f, np.zeros_like, tagger.coef_.ravel()) < 1e-3


def test_a_sequence_of_unknown_labels_teaches_nothing(corpus):
    X, y = corpus
    extra = [*X, np.ones((3, 3))], [*y, [None] * 3]
    same_model(tight(support="all").fit(*extra), tight(support="all").fit(X, y))


def test_logistic_regression_is_a_special_case(rng):
    """One state a label, one-token sequences: multinomial logistic regression, with C = sigma ** 2."""
    from sklearn.linear_model import LogisticRegression

    X = rng.normal(size=(40, 3))
    y = rng.choice(["a", "b", "c"], size=40)
    sigma = 0.6
    tagger = tight(support="all", sigma=sigma, tol=1e-7).fit([[row] for row in X.tolist()], [[label] for label in y])
    # start and end weights are an intercept each, penalised: one column of sqrt(2) stands for both
    both = np.hstack([X, np.full((40, 1), np.sqrt(2))])
    logistic = LogisticRegression(C=sigma**2, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(both, y)
    np.testing.assert_allclose(tagger.coef_.T, logistic.coef_[:, :3], atol=1e-4)
    np.testing.assert_allclose(np.vstack(tagger.predict_marginals(X[:, None])), logistic.predict_proba(both), atol=1e-5)


# -- weights of sequences ---------------------------------------------------------------------------


def test_sample_weights_are_copies(corpus):
    X, y = corpus
    weighted = tight().fit(X, y, sample_weight=[2, 1, 1, 0, 3, 1])
    index = [0, 0, 1, 2, 4, 4, 4, 5]
    copies = tight().fit([X[i] for i in index], [y[i] for i in index])
    same_model(weighted, copies)
    np.testing.assert_allclose(weighted.objective_, objective(weighted, X, y, [2, 1, 1, 0, 3, 1]), rtol=1e-10)
    ones = tight().fit(X, y, sample_weight=np.ones(6, np.float32))
    same_model(ones, tight().fit(X, y), rtol=0, atol=0)


@pytest.mark.parametrize("support", ["observed", "all"])
def test_weight_zero_leaves_no_trace(support):
    """Labels and tokens that only dropped sequences have are not learned."""
    X = [[{"w": "a"}, {"w": "b"}], [{"w": "a"}], [{"w": "strange"}] * 3]
    y = [["A", "B"], ["A"], ["A", "C", "B"]]
    dropped = LatentCRFTagger(support=support, random_state=0).fit(X, y, sample_weight=[1, 1, 0])
    without = LatentCRFTagger(support=support, random_state=0).fit(X[:2], y[:2])
    assert dropped.classes_.tolist() == ["A", "B"]
    assert dropped.n_features_in_ == without.n_features_in_ == 2
    same_model(dropped, without, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1], r"one weight a sequence, shape \(6,\); got shape \(2,\)"),
        ([1, 1, -1, 1, 1, 1], r"sample_weight\[2\] is -1.0, which is negative"),
        ([1, 1, 1, np.nan, 1, 1], r"sample_weight\[3\] is nan, which is not finite"),
        ([1, 1, 1, 1, np.inf, 1], r"sample_weight\[4\] is inf"),
        (["a"] * 6, "numbers"),
        ([[1, 2]] * 6, "shape"),
        ([0] * 6, "weight zero"),
    ],
)
def test_wrong_sample_weights(corpus, weight, message):
    with pytest.raises(ValueError, match=message):
        LatentCRFTagger().fit(*corpus, sample_weight=weight)


def test_class_weights(corpus):
    X, y = corpus
    y[2][1] = None
    per_label = {"a": 2.0, "b": 0.5, "elsewhere": 9.0}
    weight = [np.mean([per_label.get(label, 1.0) for label in labels]) for labels in y]
    own = tight(class_weight=per_label).fit(X, y)
    same_model(own, tight().fit(X, y, sample_weight=weight))
    np.testing.assert_allclose(own.objective_, objective(own, X, y, weight), rtol=1e-10)
    known = [label for labels in y for label in labels if label is not None]
    balanced = {label: len(known) / (2 * known.count(label)) for label in "ab"}
    same_model(tight(class_weight="balanced").fit(X, y), tight(class_weight=balanced).fit(X, y), rtol=1e-12, atol=1e-12)
    product = np.array(weight) * [1, 2, 1, 1, 0, 1]
    same_model(
        tight(class_weight=per_label).fit(X, y, sample_weight=[1, 2, 1, 1, 0, 1]),
        tight().fit(X, y, sample_weight=product),
    )
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"class_weight\['b'\]"):
            LatentCRFTagger(class_weight={"b": bad}).fit(X, y)


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "adam", "adf"])
def test_class_weights_of_zero(corpus, solver):
    X, y = corpus
    options = {"solver": solver, "batch_size": 1, "max_iter": 3, "random_state": 0, "n_latent": 2}
    own = LatentCRFTagger(class_weight={"c": 0.0}, **options)
    without = LatentCRFTagger(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        own.fit([*X, X[0][:1]], [*y, ["c"]])
        without.fit([*X, X[0][:1]], [*y, ["c"]], sample_weight=[*[1] * len(X), 0])
    # The label is known, and what has no weight is not drawn.
    assert own.classes_.tolist() == ["a", "b", "c"] and without.classes_.tolist() == ["a", "b"]
    assert np.isfinite(own.coef_).all()
    if solver == "lbfgs":
        np.testing.assert_allclose(own.coef_[:, 4:], 0.0, atol=0.1)
    with pytest.raises(ValueError, match="class_weight leaves no sequence to train on"):
        LatentCRFTagger(class_weight={"a": 0, "b": 0}, **options).fit(X, y)


# -- states, supports, edges ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_latent", "owners"),
    [(1, [0, 1]), (3, [0, 0, 0, 1, 1, 1]), ({"b": 2}, [0, 1, 1]), ({"a": 2, "z": 7}, [0, 0, 1]), ({}, [0, 1])],
)
def test_states_are_grouped_by_label(corpus, n_latent, owners):
    X, y = corpus
    tagger = LatentCRFTagger(n_latent=n_latent).fit(X, y)
    S = len(owners)
    assert tagger.state_labels_.tolist() == owners
    assert tagger.coef_.shape == (3, S)
    assert tagger.transition_coef_.shape == (S, S)
    assert tagger.start_coef_.shape == tagger.end_coef_.shape == (S,)
    assert tagger.edge_coef_.shape == (0, S * S)
    assert sp.issparse(tagger.edge_coef_)
    assert tagger.edge_features_.tolist() == []
    assert tagger.n_features_in_ == 3
    assert not hasattr(tagger, "feature_names_in_")


@pytest.mark.parametrize("n_latent", [0, -1, 1.5, "2", None, {"a": 0}, {"a": 1.5}, {"a": True}, [2, 2]])
def test_wrong_n_latent(corpus, n_latent):
    with pytest.raises(ValueError, match="n_latent"):
        LatentCRFTagger(n_latent=n_latent).fit(*corpus)


SEEN_X = [[{"w": "x"}, {"w": "y"}, {"w": "z"}], [{"w": "x"}]]
SEEN_Y = [["a", "b", "c"], ["a"]]


def test_support_observed():
    """Weights only for what training showed; all else counts zero, and is not forbidden."""
    tagger = tight(edge_features=True, n_latent={"b": 2}).fit(SEEN_X, SEEN_Y)
    # states: a, b, b, c; features x, y, z
    assert (tagger.coef_ != 0).astype(int).tolist() == [[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]
    moves = [[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert (tagger.transition_coef_ != 0).astype(int).tolist() == moves
    assert (tagger.start_coef_ != 0).astype(int).tolist() == [1, 0, 0, 0]
    assert (tagger.end_coef_ != 0).astype(int).tolist() == [1, 0, 0, 1]
    edges = tagger.edge_coef_.toarray().reshape(3, 4, 4) != 0
    assert np.argwhere(edges).tolist() == [[1, 0, 1], [1, 0, 2], [2, 1, 3], [2, 2, 3]]
    assert tagger.edge_coef_.nnz == 4
    [marginals] = tagger.predict_marginals([[{"w": "z"}, {"w": "x"}]])
    assert (marginals > 0).all()


def test_support_all():
    tagger = tight(support="all", edge_features=["w=y"], n_latent=2).fit(SEEN_X, SEEN_Y)
    assert (tagger.coef_ != 0).all()
    assert (tagger.transition_coef_ != 0).all()
    assert (tagger.start_coef_ != 0).all()
    assert (tagger.end_coef_ != 0).all()
    assert tagger.edge_features_.tolist() == [1]
    assert tagger.edge_coef_.nnz == 36
    assert (tagger.edge_coef_.toarray() != 0).all()


def test_unknown_labels_count_as_seen_with_every_label():
    tagger = tight(n_latent=2, edge_features=True).fit(SEEN_X, [["a", None, "c"], ["b"]])
    seen = (tagger.coef_ != 0).astype(int)[:, ::2].tolist()
    assert seen == [[1, 1, 0], [1, 1, 1], [0, 0, 1]]
    moves = (tagger.transition_coef_ != 0).astype(int)[::2, ::2].tolist()
    assert moves == [[1, 1, 1], [0, 0, 1], [0, 0, 1]]
    assert (tagger.start_coef_ != 0).astype(int)[::2].tolist() == [1, 1, 0]
    last = tight(support="observed").fit([[{"w": "x"}, {"w": "y"}]] * 2, [["a", None], ["b", "b"]])
    assert (last.end_coef_ != 0).all()


@pytest.mark.parametrize("support", ["observed", "all"])
def test_zeros_that_are_stored_are_zeros(support):
    dense = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    stored = sp.csr_array((dense.ravel(), np.tile([0, 1], 3), [0, 2, 4, 6]), shape=(3, 2))
    assert stored.nnz == 6
    y = [["a", "b"], ["c"]]
    forms = [dense, sp.csr_array(dense), stored]
    taggers = [tight(support=support).fit(SequenceMatrix(X, [2, 1]), y) for X in forms]
    for other in taggers[1:]:
        same_model(taggers[0], other)
    if support == "observed":
        assert taggers[2].coef_[1, 0] == 0


@pytest.mark.parametrize(
    ("edge_features", "expected"),
    [
        (False, []), (True, [0, 1, 2]), ([2, 0], [0, 2]), (["w=y"], [1]), (["w=z", 0], [0, 2]), ((), []),
        (np.array([1]), [1]), ({0, "w=x"}, [0]), (lambda name: name != "w=y", [0, 2]), (lambda name: False, []),
    ],
    ids=repr,
)  # fmt: skip
def test_edge_features(edge_features, expected):
    tagger = tight(edge_features=edge_features).fit(SEEN_X, SEEN_Y)
    assert tagger.feature_names_in_.tolist() == ["w=x", "w=y", "w=z"]
    assert tagger.edge_features_.tolist() == expected
    assert tagger.edge_coef_.shape == (len(expected), 9)


@pytest.mark.parametrize(
    ("edge_features", "message"),
    [([3], "3.*0 to 2"), ([-1], "-1"), (["w=q"], "'w=q', which is not a feature"), ([True], "True"), ([0.5], "0.5")],
)
def test_edge_features_that_are_none(edge_features, message):
    with pytest.raises(ValueError, match=r"edge_features.*" + message):
        LatentCRFTagger(edge_features=edge_features).fit(SEEN_X, SEEN_Y)


@pytest.mark.parametrize("edge_features", [["w=x"], lambda name: True], ids=["names", "callable"])
def test_edge_features_by_name_need_names(corpus, edge_features):
    with pytest.raises(ValueError, match="edge_features asks for feature names"):
        LatentCRFTagger(edge_features=edge_features).fit(*corpus)


@pytest.mark.parametrize("support", ["observed", "all"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_edge_only_columns_have_no_state_weights(corpus, support, sparse):
    X, y = corpus
    stacked = np.concatenate(X)
    sm = SequenceMatrix(
        sp.csr_array(stacked) if sparse else stacked, [len(x) for x in X], edge_only=[False, True, False]
    )
    tagger = tight(support=support, n_latent=2).fit(sm, y)
    assert (tagger.coef_[1] == 0).all()
    assert (tagger.coef_[[0, 2]] != 0).any(axis=1).all()
    assert tagger.edge_features_.tolist() == [1]
    assert (tagger.edge_coef_.toarray() != 0).any()
    np.testing.assert_allclose(tagger.objective_, objective(tagger, X, y), rtol=1e-10)
    assert tight(support=support, edge_features=[0]).fit(sm, y).edge_features_.tolist() == [0, 1]


def test_template_b_lines_are_edge_only():
    from sklearn_latent.feature_extraction import TemplateVectorizer

    X = [[("the", "D"), ("cat", "N")], [("cat", "N")]] * 2
    y = [["a", "b"], ["b"]] * 2
    tagger = tight(vectorizer=TemplateVectorizer("U:%x[0,0]\nB:%x[0,1]")).fit(X, y)
    names = tagger.feature_names_in_
    edge = tagger.edge_features_
    assert 0 < len(edge) < len(names)
    assert (tagger.coef_[edge] == 0).all()
    assert (np.delete(tagger.coef_, edge, axis=0) != 0).any(axis=1).all()


# -- constraints ------------------------------------------------------------------------------------


def bio(a, b):
    return not (b and b[0] == "I") or (a is not None and a != "O" and a[1:] == b[1:])


BIO_X = [np.eye(4)[[0, 1, 2]], np.eye(4)[[3, 2]], np.eye(4)[[3]], np.eye(4)[[0, 1, 1, 0]]]
BIO_Y = [["B-X", "I-X", "O"], ["B-Y", "O"], ["O"], ["B-X", "I-X", "I-X", "B-Y"]]


@pytest.mark.parametrize("support", ["observed", "all"])
def test_constraints_are_part_of_the_model_that_is_trained(support):
    tagger = tight(constraints="iob2", n_latent=2, support=support).fit(BIO_X, BIO_Y)
    np.testing.assert_allclose(tagger.objective_, objective(tagger, BIO_X, BIO_Y, allowed=bio), rtol=1e-10)
    free = tight(n_latent=2, support=support).fit(BIO_X, BIO_Y)
    assert abs(free.objective_ - tagger.objective_) > 1e-3
    label = tagger.classes_[tagger.state_labels_]
    forbidden = np.array([[not bio(a, b) for b in label] for a in label])
    assert (tagger.transition_coef_[forbidden] == 0).all()
    assert (tagger.start_coef_[[x[0] == "I" for x in label]] == 0).all()
    assert tagger.log_likelihood([np.ones((1, 4))], [["I-X"]]).tolist() == [-np.inf]


SCHEMES = {
    # scheme: (allowed sequences, forbidden sequences), of one type or of two
    "iob1": (
        [["I-X", "I-X"], ["I-X", "B-X"], ["O", "I-X"], ["I-X", "I-Y"], ["I-X", "B-X", "I-X"]],
        [["B-X"], ["O", "B-X"], ["I-Y", "B-X"]],
    ),
    "iob2": (
        [["B-X", "I-X"], ["B-X", "B-X"], ["O", "B-X"], ["O", "O"], ["B-X", "I-X", "B-Y"]],
        [["I-X"], ["O", "I-X"], ["B-Y", "I-X"], ["B-X", "I-X", "I-Y"]],
    ),
    "iobes": (
        [["S-X", "B-X", "E-X"], ["B-X", "I-X", "E-X"], ["O", "S-Y"], ["S-X", "S-X"]],
        [
            ["B-X"],
            ["E-X"],
            ["B-X", "O"],
            ["B-X", "I-X"],
            ["B-X", "E-Y"],
            ["S-X", "I-X"],
            ["I-X", "E-X"],
            ["B-X", "S-X"],
        ],
    ),
    "bilou": (
        [["U-X", "B-X", "L-X"], ["B-X", "I-X", "L-X"], ["O", "U-Y"], ["U-X", "U-X"]],
        [
            ["B-X"],
            ["L-X"],
            ["B-X", "O"],
            ["B-X", "I-X"],
            ["B-X", "L-Y"],
            ["U-X", "I-X"],
            ["I-X", "L-X"],
            ["B-X", "U-X"],
        ],
    ),
}
PREFIXES = {"iob1": "BI", "iob2": "BI", "iobes": "BIES", "bilou": "BILU"}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_schemes(scheme, rng):
    classes = ["O", *(f"{p}-{t}" for p in PREFIXES[scheme] for t in "XY")]
    S = 2 * len(classes)
    tagger = LatentCRFTagger.from_weights(
        classes, rng.normal(size=(2, S)), rng.normal(size=(S, S)), constraints=scheme, mbr_metric="token_accuracy"
    )
    good, bad = SCHEMES[scheme]
    for y in good:
        assert np.isfinite(tagger.log_likelihood([np.ones((len(y), 2))], [y])).all(), y
    for y in bad:
        assert tagger.log_likelihood([np.ones((len(y), 2))], [y]).tolist() == [-np.inf], y
        with pytest.raises(ValueError, match=r"constraints forbid the labels of y\[1\]"):
            LatentCRFTagger(constraints=scheme).fit([np.ones((1, 2)), np.ones((len(y), 2))], [["O"], y])
    X = [rng.normal(size=(n, 2)) for n in (1, 2, 5, 9)]
    for decoder in ("ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"):
        assert np.isfinite(tagger.decode(X, decoder).log_prob).all()
    for answers in tagger.predict_nbest(X, 200):
        for y, _ in answers:
            assert np.isfinite(tagger.log_likelihood([np.ones((len(y), 2))], [y])).all()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("label", ["NOUN", "Z-X", "", "O-X"])
def test_labels_outside_the_scheme(scheme, label):
    with pytest.raises(ValueError, match=f"constraints='{scheme}'.*{label!r}"):
        LatentCRFTagger(constraints=scheme).fit([np.ones((2, 1))], [["O", label]])


@pytest.mark.parametrize("y", [["B-X"], ["I-X", "U-X"]])
def test_prefixes_of_another_scheme(y):
    with pytest.raises(ValueError, match=r"constraints='iobes'.*'U-X'"):
        LatentCRFTagger(constraints="iobes").fit([np.ones((len(y), 1)), np.ones((1, 1))], [y, ["U-X"]])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("a", "a"), ("a", "b"), ("b", "b")], r"y\[3\]: y\[3\]\[2\] is 'a', which can't follow 'b'"),
        ([(x, z) for x in "ab" for z in "ab"] + [(None, "a")], r"y\[3\]: y\[3\]\[0\] is 'b', which can't start"),
        ([(x, z) for x in "ab" for z in "ab"] + [("b", None)], r"y\[3\]: y\[3\]\[3\] is 'a', which can't end"),
    ],
)
def test_training_labels_that_are_forbidden_are_named(pairs, message):
    """Numbers are those of the user's y, also when sequences before were dropped."""
    X = [np.ones((n, 1)) for n in (0, 1, 2, 4)]
    y = [[], ["b"], ["a", "b"], ["b", "b", "a", "a"]]
    with pytest.raises(ValueError, match=message):
        LatentCRFTagger(constraints=pairs).fit(X, y, sample_weight=[1, 0, 1, 1])


def test_unknown_labels_that_can_not_be_filled_in():
    X, y = [np.ones((2, 1)), np.ones((3, 1))], [["a", "b"], ["a", None, "a"]]
    with pytest.raises(ValueError, match=r"y\[1\]: the unknown labels"):
        LatentCRFTagger(constraints=[("a", "b"), ("b", "b")]).fit(X, y)


@pytest.mark.parametrize("pairs", [["ab"], [("a",)], [3], [("a", "b", "c")]])
def test_constraints_that_are_no_pairs(pairs):
    with pytest.raises(ValueError, match=r"constraints must hold \(from, to\) label pairs"):
        LatentCRFTagger(constraints=pairs).fit([np.ones((1, 1))], [["a"]])


@pytest.mark.parametrize("constraints", [list, tuple, set, frozenset])
def test_forms_of_pairs(constraints, corpus):
    X, _ = corpus
    y = [["a", "b"] * 2] * 6
    y = [labels[: len(x)] for labels, x in zip(y, X, strict=True)]
    pairs = constraints([("a", "b"), ("b", "a"), (None, "a"), ("z", "a"), (None, "z")])
    tagger = tight(constraints=pairs).fit(X, y)
    assert tagger.predict(X) == y
    assert tagger.predict_nbest(X[:1], 9) == [[(y[0], 1.0)]]


def test_starts_and_ends_are_free_unless_named():
    X, y = [np.ones((2, 1)), np.ones((1, 1))], [["a", "b"], ["a"]]
    for pairs, starts in (([("a", "b")], "ab"), ([("a", "b"), (None, None)], "ab"), ([("a", "b"), (None, "a")], "a")):
        tagger = tight(constraints=pairs).fit(X, y)
        found = {labels[0] for labels, _ in tagger.predict_nbest([np.ones((1, 1))], 5)[0]}
        assert found == set(starts)


def test_no_sequence_left_at_predict():
    tagger = tight(constraints=[("a", "b"), (None, "a"), ("b", None)]).fit([np.ones((2, 1))], [["a", "b"]])
    for call in (tagger.predict, tagger.predict_marginals, tagger.predict_latent, tagger.decode):
        with pytest.raises(ValueError, match=r"X\[1\]: the constraints leave no label sequence"):
            call([np.ones((2, 1)), np.ones((1, 1))])


# -- the run ----------------------------------------------------------------------------------------


def test_the_loss_never_rises(corpus):
    tagger = LatentCRFTagger(n_latent=3, random_state=1, sigma=2.0).fit(*corpus)
    assert np.isfinite(tagger.loss_curve_).all()
    assert (np.diff(tagger.loss_curve_) <= 1e-12).all()
    assert all(type(v) is float for v in tagger.loss_curve_)
    assert type(tagger.n_iter_) is int
    assert type(tagger.objective_) is float
    assert tagger.converged_ is True


def test_a_run_cut_short_warns_once(corpus, capfd):
    tagger = LatentCRFTagger(max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"did not converge in 1 iteration.*largest gradient") as record:
        tagger.fit(*corpus)
    assert len(record) == 1
    assert record[0].filename == __file__
    assert tagger.n_iter_ == len(tagger.loss_curve_) == 1
    assert tagger.converged_ is False
    assert len(tagger.predict(corpus[0])) == 6
    assert capfd.readouterr() == ("", "")


def test_max_iter_zero_is_the_start(corpus):
    with pytest.warns(ConvergenceWarning):
        tagger = LatentCRFTagger(max_iter=0, n_latent=1).fit(*corpus)
    assert tagger.n_iter_ == 0
    assert tagger.loss_curve_ == []
    assert (tagger.coef_ == 0).all()


@pytest.mark.parametrize("verbose", [0, 1, 2, False, True])
def test_printing(corpus, verbose, capfd):
    tagger = LatentCRFTagger(verbose=verbose, random_state=0).fit(*corpus)
    tagger.predict(corpus[0])
    out, err = capfd.readouterr()
    assert err == ""
    lines = out.splitlines()
    if not verbose:
        assert lines == []
    elif verbose >= 2:
        assert len(lines) == tagger.n_iter_ + 1
    else:
        assert 1 < len(lines) < 40


def test_callback(corpus):
    seen = []

    def look(info):
        seen.append((info.n_iter, info.objective, info.grad_norm, info.seconds))

    tagger = LatentCRFTagger(callback=look, random_state=0).fit(*corpus)
    assert [n for n, *_ in seen] == list(range(1, tagger.n_iter_ + 1))
    assert [v for _, v, *_ in seen] == tagger.loss_curve_
    assert all(g >= 0 for *_, g, _ in seen)
    seconds = [s for *_, s in seen]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 0


def test_a_callback_can_stop(corpus):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tagger = LatentCRFTagger(callback=lambda info: info.n_iter == 3, n_init=4, random_state=0).fit(*corpus)
    assert tagger.n_iter_ == 3
    assert tagger.converged_ is False
    other = LatentCRFTagger(callback=lambda info: "no" if info.n_iter == 3 else None, random_state=0).fit(*corpus)
    assert other.n_iter_ > 3


def test_an_error_in_a_callback_comes_out(corpus):
    def fail(info):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        LatentCRFTagger(callback=fail).fit(*corpus)


def test_starts(corpus):
    """Zero with one state a label; else uniform within init_scale, from the seed and the shape alone."""
    X, y = corpus
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain = LatentCRFTagger(n_latent=1, max_iter=0, random_state=0).fit(X, y)
        one = LatentCRFTagger(max_iter=0, init_scale=0.3, random_state=0).fit(X, y)
        two = LatentCRFTagger(max_iter=0, init_scale=0.3, random_state=0, sigma=5.0).fit([2 * x for x in X], y)
        three = LatentCRFTagger(max_iter=0, init_scale=0.3, random_state=1).fit(X, y)
    assert (plain.coef_ == 0).all()
    assert 0.05 < np.abs(one.coef_).max() <= 0.3
    same_model(one, two, rtol=0, atol=0)
    assert (one.coef_ != three.coef_).any()


def test_the_same_seed_is_the_same_bits(corpus):
    a, b = (LatentCRFTagger(n_latent=3, random_state=7).fit(*corpus) for _ in range(2))
    same_model(a, b, rtol=0, atol=0)
    c = LatentCRFTagger(n_latent=3, random_state=np.random.RandomState(7)).fit(*corpus)
    same_model(a, c, rtol=0, atol=0)


def test_restarts_keep_the_best(corpus):
    X, y = corpus
    singles = []
    rng = np.random.RandomState(3)
    for _ in range(5):
        singles.append(LatentCRFTagger(sigma=3.0, random_state=rng).fit(X, y).objective_)
    best = LatentCRFTagger(sigma=3.0, n_init=5, random_state=np.random.RandomState(3)).fit(X, y)
    assert best.objective_ == min(singles)
    assert len(set(singles)) > 1
    assert best.n_iter_ == len(best.loss_curve_)


def test_no_prior(corpus):
    X, y = corpus
    tagger = LatentCRFTagger(n_latent=1, sigma=np.inf, max_iter=30, tol=1e-3).fit(X, y)
    log_likelihood = tagger.log_likelihood(X, y).sum()
    np.testing.assert_allclose(tagger.objective_, -log_likelihood, rtol=1e-10)


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"sigma": 0}, "sigma"), ({"sigma": -1.0}, "sigma"), ({"sigma": np.nan}, "sigma"), ({"sigma": "1"}, "sigma"),
        ({"decoder": "viterbi"}, "decoder"), ({"n_paths": 0}, "n_paths"), ({"alpha": -0.1}, "alpha"),
        ({"mbr_metric": "bleu"}, "mbr_metric"), ({"max_search": -1}, "max_search"), ({"support": "some"}, "support"),
        ({"constraints": "bio"}, "constraints"), ({"constraints": 3}, "constraints"), ({"vectorizer": 3}, "vectorizer"),
        ({"solver": "newton"}, "solver"), ({"max_iter": -1}, "max_iter"), ({"max_iter": 1.5}, "max_iter"),
        ({"tol": -1e-3}, "tol"), ({"n_init": 0}, "n_init"), ({"init_scale": -1}, "init_scale"),
        ({"class_weight": "heavy"}, "class_weight"), ({"callback": 3}, "callback"), ({"n_jobs": 1.5}, "n_jobs"),
        ({"random_state": "x"}, "random_state"), ({"verbose": -1}, "verbose"), ({"edge_features": 3}, "edge_features"),
        ({"batch_size": 0}, "batch_size"), ({"learning_rate": 0}, "learning_rate"),
        ({"validation_fraction": 1.0}, "validation_fraction"), ({"n_iter_no_change": 0}, "n_iter_no_change"),
    ],
    ids=lambda v: repr(v) if isinstance(v, dict) else "",
)  # fmt: skip
def test_wrong_parameters(corpus, params, error):
    with pytest.raises(ValueError, match=f"'{error}' parameter of LatentCRFTagger"):
        LatentCRFTagger(**params).fit(*corpus)


# -- size -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "n_features"),
    [
        ({"n_latent": 10**7}, 3),
        ({"n_latent": {"a": 10**9}}, 3),
        ({"n_latent": 4000, "support": "all"}, 10**7),
        ({"n_latent": 4000, "edge_features": True}, 2000),
        ({"n_latent": 4000, "edge_features": True, "support": "all"}, 2000),
    ],
    ids=repr,
)
def test_a_model_too_large_is_refused_before_memory_is(params, n_features):
    indices = np.tile(np.arange(min(n_features, 2000)), 2)
    X = sp.csr_array((np.ones(len(indices)), indices, [0, len(indices) // 2, len(indices)]), shape=(2, n_features))
    with pytest.raises(ModelTooLargeError, match=r" [1-9][\d,]* parameters.*[\d,]+ bytes.*support=.*n_latent"):
        LatentCRFTagger(**params).fit(SequenceMatrix(X, [2]), [["a", "b"]])
    assert issubclass(ModelTooLargeError, ValueError)


# -- numbers at the edge ----------------------------------------------------------------------------


def test_sigma_at_the_edge(corpus):
    X, y = corpus
    with pytest.raises(ValueError, match="sigma=1e-170 is too small"):
        LatentCRFTagger(sigma=1e-170).fit(X, y)
    huge, none = (LatentCRFTagger(n_latent=1, sigma=s, max_iter=30, tol=1e-2).fit(X, y) for s in (1e200, np.inf))
    same_model(huge, none, rtol=0, atol=0)
    zero = LatentCRFTagger(sigma=1e-9).fit(X, y)
    np.testing.assert_allclose(zero.predict_marginals(X[:1])[0], 0.5, atol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_training_never_ends_in_nan(corpus):
    X, y = corpus
    # No step along the first direction has a finite objective: the start is kept, and said not to be an optimum.
    for data, weight in (([x * 1e300 for x in X], None), (X, [1e300] * 6)):
        try:
            with pytest.warns(ConvergenceWarning, match="not finite along the search direction"):
                stuck = LatentCRFTagger(random_state=0).fit(data, y, sample_weight=weight)
        except ValueError as error:
            assert "beyond floating point" in str(error)
        else:
            assert np.isfinite(stuck.coef_).all() and np.isfinite(stuck.objective_) and not stuck.converged_
    with pytest.raises(ValueError, match="class_weight times sample_weight"):
        LatentCRFTagger(class_weight={"a": 1e308}).fit(X, y, sample_weight=[1e10] * 6)
    with pytest.raises(ValueError, match=r"class_weight\['a'\] is 'x'"):
        LatentCRFTagger(class_weight={"a": "x"}).fit(X, y)


@pytest.mark.parametrize("make", [np.zeros, sp.csr_array], ids=["dense", "sparse"])
def test_no_features_at_all(make):
    """What is left is a Markov chain over labels."""
    y = [["a", "b", "a"], ["a"]]
    tagger = tight(edge_features=True).fit([make((3, 0)), make((1, 0))], y)
    assert tagger.coef_.shape == (0, 2)
    assert tagger.transition_coef_.any()
    assert tagger.predict([make((2, 0))]) == [Enumeration(tagger, np.zeros((2, 0))).best[0]]
    np.testing.assert_allclose(
        tagger.objective_, objective(tagger, [np.zeros((3, 0)), np.zeros((1, 0))], y), rtol=1e-10
    )


def test_rows_with_a_feature_twice():
    """SciPy lets a sparse row name a column twice: the values add up."""
    twice = sp.csr_array((np.ones(5), [0, 0, 1, 1, 1], [0, 2, 3, 5]), shape=(3, 2))
    once = sp.csr_array(twice.toarray())
    y = [["a", "b", "b"]]
    same_model(*(tight(n_latent=2).fit(SequenceMatrix(X, [3]), y) for X in (twice, once)))
