# SPDX-License-Identifier: BSD-3-Clause
"""The contract with scikit-learn and the judging of input: what holds for every sequence estimator."""

import warnings
from types import MappingProxyType

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from sklearn_latent import LabelSequences, LatentCRFTagger, SequenceMatrix, SPNCRFTagger
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import SequenceDictVectorizer, TemplateVectorizer
from sklearn_latent.metrics import chunk_f1_scorer, make_chunk_scorer, token_accuracy_scorer

pandas = pytest.importorskip("pandas")

T = [["Ana", "met", "Bo"], ["Bo", "left"], ["rain"], ["Ana", "and", "Bo", "sang"]] * 3
Y = [["B-PER", "O", "B-PER"], ["B-PER", "O"], ["O"], ["B-PER", "O", "B-PER", "O"]] * 3
X = [[{"w": t} for t in s] for s in T]
EQUAL_X, EQUAL_Y = [X[1]] * 8, [Y[1]] * 8
METHODS = ["predict", "predict_marginals", "predict_latent", "predict_latent_marginals", "decode", "score",
           "log_likelihood", "predict_nbest"]  # fmt: skip


KINDS = {"latent": LatentCRFTagger, "spn": SPNCRFTagger}
KIND: type = LatentCRFTagger
SMALL: dict[type, dict] = {
    LatentCRFTagger: {"tol": 1e-4},
    SPNCRFTagger: {"n_states": 2, "solver": "lbfgs", "tol": 1e-3, "max_iter": 500},
}


@pytest.fixture(params=KINDS, autouse=True)
def kind(request, monkeypatch):
    """Every test is one of both taggers."""
    monkeypatch.setitem(globals(), "KIND", KINDS[request.param])
    return request.param


def tagger(**params):
    return KIND(**{"n_latent": 2, "random_state": 0, **SMALL[KIND], **params})


def arguments(method, X, y):
    return {"score": (X, y), "log_likelihood": (X, y), "predict_nbest": (X, 2)}.get(method, (X,))


def numbers(n_features=3, dtype=float):
    rng = np.random.default_rng(0)
    return [rng.integers(-2, 3, size=(len(y), n_features)).astype(dtype) for y in Y]


def weights(est):
    chain = [est.transition_coef_, est.start_coef_, est.end_coef_]
    if isinstance(est, SPNCRFTagger):
        return [*chain, *est.factor_coef_, *(b for biases in est.factor_bias_ for b in biases)]
    return [*chain, est.coef_, est.edge_coef_.toarray()]


def assert_same_model(a, b, **tolerance):
    assert a.classes_.tolist() == b.classes_.tolist()
    for own, other in zip(weights(a), weights(b), strict=True):
        np.testing.assert_allclose(own, other, **(tolerance or {"rtol": 0, "atol": 0}))


# -- estimator --------------------------------------------------------------------------------------


def test_check_estimator():
    """One check applies to estimators that take no table; scikit-learn says so in warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(KIND())


def test_tags():
    tags = get_tags(KIND())
    assert tags.estimator_type is None
    assert not is_classifier(KIND())
    assert not tags.input_tags.two_d_array
    assert tags.target_tags.required


EVERY_PARAMETER = {
    "n_latent": {"O": 1}, "sigma": np.float64(2.0), "decoder": "mbr", "n_paths": np.int64(7), "alpha": 0.5,
    "mbr_metric": len, "max_search": 10, "edge_features": ["w=Bo"], "support": "all", "constraints": [("O", "O")],
    "vectorizer": SequenceDictVectorizer(), "solver": "sgd", "max_iter": 3, "tol": 0.1, "learning_rate": 0.5,
    "batch_size": 4, "n_init": 2, "init_scale": 0.2, "class_weight": {"O": 2.0}, "early_stopping": True,
    "validation_fraction": 0.2, "n_iter_no_change": 3, "warm_start": True, "callback": print, "n_jobs": 2,
    "random_state": np.random.RandomState(0), "verbose": 1,
}  # fmt: skip


SPN_PARAMETERS = {
    "n_layers": 2, "n_products": 3, "n_states": np.int64(2), "order": 2, "factors": [(1, 1), (2, 2)], "operator": "max",
    "normalization": "global", "sparse_factors": False, "unseen": "forbid", "tie_inputs": True, "beam_width": 5,
    "dtype": np.float32,
    **{name: value for name, value in EVERY_PARAMETER.items() if name not in ("edge_features", "support")},
}  # fmt: skip


def test_parameters_are_kept_as_they_are(kind):
    every = SPN_PARAMETERS if kind == "spn" else EVERY_PARAMETER
    assert every.keys() == KIND().get_params().keys()
    est = KIND(**every)
    for name, value in est.get_params(deep=False).items():
        assert value is every[name]
        assert getattr(est, name) is value
    other = KIND().set_params(**every)
    assert all(other.get_params()[name] is value for name, value in every.items())
    assert len(repr(est)) > 100
    assert KIND.__name__ in est._repr_html_()
    assert isinstance(clone(est), KIND)


def test_nested_parameters_of_the_vectorizer():
    est = tagger(vectorizer=SequenceDictVectorizer(min_df=1)).set_params(vectorizer__min_df=2)
    assert est.get_params()["vectorizer__min_df"] == 2
    assert est.fit(X, Y).n_features_in_ == SequenceDictVectorizer(min_df=2).fit_transform(X).n_features
    assert not hasattr(est.vectorizer, "vocabulary_")
    assert est.vectorizer_ is not est.vectorizer


def test_fit_changes_no_parameter_and_no_data():
    own = {"factors": [(1, 1), (2, 2)]} if KIND is SPNCRFTagger else {"edge_features": ["w=Bo"]}
    est = tagger(n_latent={"O": 2}, **own, constraints=[("O", "O"), ("O", "B-PER"), ("B-PER", "O")])
    before = {name: (value, repr(value)) for name, value in est.get_params().items()}
    data = repr(X), repr(Y)
    assert est.fit(X, Y) is est
    est.predict(X)
    after = est.get_params()
    assert all(after[name] is value and repr(after[name]) == text for name, (value, text) in before.items())
    assert (repr(X), repr(Y)) == data
    matrices = numbers()
    copies = [x.copy() for x in matrices]
    tagger().fit(matrices, Y)
    for own, copied in zip(matrices, copies, strict=True):
        np.testing.assert_array_equal(own, copied)


def test_fit_twice_is_fit_once():
    est = tagger().fit(X, [["z"] * len(y) for y in Y]).fit(X, Y)
    assert_same_model(est, tagger().fit(X, Y))
    assert vars(est).keys() == vars(tagger().fit(X, Y)).keys()
    on_numbers = tagger().fit(X, Y).fit(numbers(), Y)
    assert not hasattr(on_numbers, "vectorizer_")
    assert not hasattr(on_numbers, "feature_names_in_")


def test_a_failed_fit_leaves_the_old_model():
    est = tagger().fit(X, Y)
    expected = est.predict_marginals(X)
    for bad_X, bad_y in ((X, Y[1:]), (X, [["O", 1], *Y[1:]]), (numbers()[:2], [[None] * 3, [None] * 2])):
        with pytest.raises(ValueError):
            est.fit(bad_X, bad_y)
        for own, right in zip(est.predict_marginals(X), expected, strict=True):
            np.testing.assert_array_equal(own, right)


def test_clone_of_a_fitted_tagger_is_not_fitted():
    copy = clone(tagger(sigma=3.0).fit(X, Y))
    assert copy.sigma == 3.0
    with pytest.raises(NotFittedError):
        copy.predict(X)


@pytest.mark.parametrize("method", METHODS)
def test_methods_before_fit(method):
    est = KIND()
    with pytest.raises(NotFittedError):
        check_is_fitted(est)
    with pytest.raises(NotFittedError):
        getattr(est, method)(*arguments(method, X, Y))
    with pytest.raises(NotFittedError):
        getattr(est, method)(*arguments(method, [], []))


@pytest.mark.parametrize(
    "name", ["classes_", "coef_", "transition_coef_", "start_coef_", "end_coef_", "edge_coef_", "feature_names_in_",
             "state_labels_", "n_features_in_", "edge_features_", "n_iter_", "loss_curve_", "objective_", "converged_"]
)  # fmt: skip
def test_attributes_come_with_fit(name):
    if KIND is SPNCRFTagger and name in ("coef_", "edge_coef_", "edge_features_"):
        name = {"coef_": "factor_coef_", "edge_coef_": "factor_bias_", "edge_features_": "ngrams_"}[name]
    assert not hasattr(KIND(), name)
    assert hasattr(tagger().fit(X, Y), name)


@pytest.mark.parametrize("method", METHODS)
def test_order_and_subsets_of_sequences(method):
    """What comes out for a sequence does not depend on its company."""
    est = tagger().fit(X, Y)
    data, y = X[:4], Y[:4]
    if method == "score":
        return
    call = getattr(est, method)
    whole = call(*arguments(method, data, y))
    reverse = call(*arguments(method, data[::-1], y[::-1]))
    if method == "decode":
        whole, reverse = whole.log_prob, reverse.log_prob
    for i in range(4):
        single = call(*arguments(method, data[i : i + 1], y[i : i + 1]))
        single = single.log_prob if method == "decode" else single
        for other in (single[0], reverse[3 - i]):
            if method == "predict_nbest":
                assert [labels for labels, _ in other] == [labels for labels, _ in whole[i]]
            elif method == "predict":
                assert other == whole[i]
            else:
                np.testing.assert_allclose(other, whole[i], rtol=1e-10, atol=1e-14)


def test_score_is_token_accuracy():
    est = tagger().fit(X, Y)
    X_, found = X[:4], est.predict(X[:4])
    assert est.score(X_, found) == 1.0
    assert type(est.score(X_, found)) is float
    y = [["B-PER", "B-PER", None], [None, "?"], ["O"], ["B-PER"] * 4]
    pairs = [
        (a, b) for own, true in zip(found, y, strict=True) for a, b in zip(own, true, strict=True) if b is not None
    ]
    assert est.score(X_, y) == np.mean([a == b for a, b in pairs])
    heavy = [0, 0, 1, 3]
    right = [sum(a == b for a, b in zip(found[i], y[i], strict=True)) for i in (2, 3)]
    assert est.score(X_, y, sample_weight=heavy) == (right[0] + 3 * right[1]) / (1 + 12)
    assert est.score([], []) == est.score([[]], [[]]) == est.score(X_, [[None] * len(s) for s in X_]) == 1.0
    assert est.score(X_, y, sample_weight=[0] * 4) == 1.0
    with pytest.raises(ValueError, match="sample_weight"):
        est.score(X_, y, sample_weight=[1])
    assert est.score(X_, y) == token_accuracy_scorer(est, X_, y)


# -- forms of X and y -------------------------------------------------------------------------------


def object_array(entries):
    out = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):
        out[i] = entry
    return out


MATRICES = {
    "list of arrays": lambda xs: xs,
    "tuple of arrays": tuple,
    "nested lists": lambda xs: [x.tolist() for x in xs],
    "nested tuples": lambda xs: tuple(tuple(map(tuple, x)) for x in xs),
    "lists of rows": lambda xs: [list(x) for x in xs],
    "SequenceMatrix": lambda xs: SequenceMatrix(np.concatenate(xs), [len(x) for x in xs]),
    "object array": object_array,
    "array of a SequenceMatrix": lambda xs: np.asarray(SequenceMatrix(np.concatenate(xs), [len(x) for x in xs])),
    "Series": pandas.Series,
    "Series with an index": lambda xs: pandas.Series(xs, index=range(50, 50 + len(xs))),
    "iterator": iter,
    "generator": lambda xs: (x for x in xs),
    "values of a dict": lambda xs: dict(enumerate(xs)).values(),
    "generators of rows": lambda xs: ((row for row in x) for x in xs),
    "Fortran order": lambda xs: [np.asfortranarray(x) for x in xs],
    "read-only": lambda xs: [read_only(x) for x in xs],
    "float32": lambda xs: [x.astype(np.float32) for x in xs],
    "int8": lambda xs: [x.astype(np.int8) for x in xs],
    "objects": lambda xs: [x.astype(object) for x in xs],
    "frames": lambda xs: [pandas.DataFrame(x) for x in xs],
    "LabelSequences": LabelSequences,
    "another library's arrays": lambda xs: [Tensor(x) for x in xs],
}


class Tensor:
    """An array of a library that numpy does not know, such as a tensor."""

    def __init__(self, values):
        self.values, self.ndim, self.shape = values, values.ndim, values.shape

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return map(Tensor, self.values)


def read_only(x):
    x = x.copy()
    x.setflags(write=False)
    return x


@pytest.mark.parametrize("form", MATRICES)
def test_forms_of_dense_X(form):
    xs = numbers()
    reference = tagger().fit(xs, Y)
    other = tagger().fit(MATRICES[form](xs), Y)
    assert_same_model(reference, other)
    assert other.n_features_in_ == 3
    for method in ("predict", "log_likelihood"):
        own = getattr(other, method)(*arguments(method, MATRICES[form](xs), Y))
        assert list(own) == list(getattr(reference, method)(*arguments(method, xs, Y)))


SPARSE = {
    **{f"{f} array": lambda x, f=f: sp.csr_array(x).asformat(f) for f in ("csr", "csc", "coo", "lil", "dok", "bsr")},
    **{f"{f} matrix": lambda x, f=f: sp.csr_matrix(x).asformat(f) for f in ("csr", "csc", "coo", "lil", "dok", "dia")},
    "int64 indices": lambda x: wide(sp.csr_array(x)),
    "float32": lambda x: sp.csr_array(x, dtype=np.float32),
    "int8": lambda x: sp.csr_array(x, dtype=np.int8),
}


def wide(x):
    x.indices, x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    return x


@pytest.mark.parametrize("form", SPARSE)
def test_forms_of_sparse_X(form):
    xs = numbers()
    reference = tagger().fit([sp.csr_array(x) for x in xs], Y)
    own = [SPARSE[form](x) for x in xs]
    assert_same_model(tagger().fit(own, Y), reference)
    stacked = SPARSE[form](np.concatenate(xs))
    assert_same_model(tagger().fit(SequenceMatrix(stacked, [len(x) for x in xs]), Y), reference)
    assert reference.predict(own) == reference.predict(xs)


def test_dense_and_sparse_sequences_may_be_mixed():
    xs = numbers()
    mixed = [sp.csr_array(x) if i % 3 == 0 else sp.coo_matrix(x) if i % 3 == 1 else x for i, x in enumerate(xs)]
    assert_same_model(tagger().fit(mixed, Y), tagger().fit([sp.csr_array(x) for x in xs], Y))
    # sums in another order: the same model up to rounding, as far as the optimiser carries it
    assert_same_model(tagger(tol=1e-7).fit(mixed, Y), tagger(tol=1e-7).fit(xs, Y), rtol=1e-4, atol=1e-5)


def test_three_dimensional_X_and_two_dimensional_y():
    array = np.stack(numbers()[:1] * 2 + numbers()[4:5])
    y = [Y[0], ["O", "O", "B-PER"], Y[4]]
    reference = tagger().fit(list(array), y)
    for form in (array, array.astype(np.float32), np.asfortranarray(array)):
        for labels in (y, np.array(y), np.array(y, dtype=object), object_array(y), pandas.Series(y)):
            assert_same_model(tagger().fit(form, labels), reference)
    assert reference.predict(array) == reference.predict(list(array))
    assert tagger().fit(array[:, :0][:0].reshape(0, 0, 3).tolist() + list(array), y).n_features_in_ == 3


TOKENS = {
    "lists": lambda X: X,
    "tuples": lambda X: tuple(map(tuple, X)),
    "Series": pandas.Series,
    "object array": object_array,
    "object arrays": lambda X: [object_array(x) for x in X],
    "iterator": iter,
    "generators": lambda X: ((token for token in x) for x in X),
    "other mappings": lambda X: [[MappingProxyType(t) for t in x] for x in X],
    "string lists": lambda X: [[[f"w={t['w']}"] for t in x] for x in X],
    "LabelSequences": LabelSequences,
}


@pytest.mark.parametrize("form", TOKENS)
def test_forms_of_tokens(form):
    reference = tagger().fit(X, Y)
    other = tagger().fit(TOKENS[form](X), Y)
    assert_same_model(reference, other)
    assert other.predict(TOKENS[form](X)) == reference.predict(X)
    if form != "string lists":
        assert other.feature_names_in_.tolist() == reference.feature_names_in_.tolist()


LABELS = {
    "tuples": lambda Y: tuple(map(tuple, Y)),
    "arrays": lambda Y: [np.array(y) for y in Y],
    "arrays of objects": lambda Y: [np.array(y, dtype=object) for y in Y],
    "object array": object_array,
    "Series": pandas.Series,
    "list of Series": lambda Y: [pandas.Series(y, index=range(9, 9 + len(y))) for y in Y],
    "LabelSequences": LabelSequences,
    "iterator": iter,
    "generators": lambda Y: ((label for label in y) for y in Y),
    "numpy scalars": lambda Y: [[np.str_(label) for label in y] for y in Y],
    "categories": lambda Y: [pandas.Categorical(y) for y in Y],
}


@pytest.mark.parametrize("form", LABELS)
def test_forms_of_y(form):
    reference, other = tagger().fit(X, Y), tagger().fit(X, LABELS[form](Y))
    assert_same_model(reference, other)
    assert type(other.predict(X)[0][0]) is str
    assert other.score(X, LABELS[form](Y)) == reference.score(X, Y)
    assert other.log_likelihood(X, LABELS[form](Y)).tolist() == reference.log_likelihood(X, Y).tolist()
    assert other.predict(X, fixed=LABELS[form](Y)) == Y


@pytest.mark.parametrize(
    "names", [("a", "b"), (3, 11), (False, True), (1.0, 2.0), (("P", 1), ("P", 2)), ("", "x\0"), (b"a", b"b")], ids=repr
)
def test_kinds_of_labels(names):
    y = [[names[label == "O"] for label in labels] for labels in Y]
    est = tagger(n_latent=1).fit(X, y)
    assert est.classes_.tolist() == list(names)
    found = est.predict(X)
    assert found == y
    assert {type(label) for labels in found for label in labels} == {type(names[0])}
    assert est.score(X, y) == 1.0
    assert np.isfinite(est.log_likelihood(X, y)).all()
    assert est.predict_nbest(X[:1], 1)[0][0][0] == y[0]
    assert est.predict(X, fixed=y) == y
    assert sorted(est.classes_.tolist()) == est.classes_.tolist()
    latent = tagger(n_latent={names[1]: 3}).fit(X, y)
    assert latent.state_labels_.tolist() == [0, 1, 1, 1]


def test_lists_of_label_objects_go_to_json():
    import json

    est = tagger().fit(X, [[len(label) for label in y] for y in Y])
    found = est.predict(X)
    assert isinstance(found, LabelSequences)
    assert json.loads(json.dumps(found)) == found
    assert all(type(y) is list for y in found)


# -- input that is refused --------------------------------------------------------------------------

XS = numbers()


def changed(row, column, value, i=3):
    xs = [x.copy() for x in XS]
    xs[i][row, column] = value
    return xs


BAD_X = {
    "a bare matrix": (np.eye(4), TypeError, r"shape \(4, 4\).*\[X\].*SequenceMatrix\(X, lengths\)"),
    "a bare sparse matrix": (sp.eye(4, format="csr"), TypeError, r"\[X\].*SequenceMatrix\(X, lengths\)"),
    "a vector": (np.arange(4.0), TypeError, r"shape \(4,\)"),
    "four dimensions": (np.zeros((1, 2, 2, 2)), TypeError, r"shape \(1, 2, 2, 2\)"),
    "a number": (3, TypeError, "int"),
    "nothing": (None, TypeError, "NoneType"),
    "a string": ("the cat sat", TypeError, r"list of sequences of tokens.*\[\['the', 'cat'\]\]"),
    "one mapping": ({"w": "a"}, TypeError, r"list of lists of tokens"),
    "a flat list of dicts": ([{"w": "Ana"}, {"w": "met"}], TypeError, r"X\[0\] is {'w': 'Ana'}.*\[X\]"),
    "a flat list of numbers": ([1.0, 2.0], TypeError, r"X\[0\] is 1.0"),
    "one sequence of rows": ([[1.0, 2.0], [3.0, 4.0]], TypeError, r"X\[0\] is a list of numbers.*\[X\]"),
    "strings": (["the cat", "sat"], TypeError, r"X\[0\] is the string 'the cat'.*\[\['the', 'cat'\]\]"),
    "tokens that are strings": ([["the", "cat", "sat"]], TypeError, r"\[0\].*(\[\['the'\]|\[\[\[|\[\{|\{'word')"),
    "a frame": (pandas.DataFrame({"w": ["a", "b"]}), TypeError, r"SequenceMatrix.from_frame"),
    "a Series of strings": (pandas.Series(["a", "b"]), TypeError, r"X\[0\] is the string 'a'"),
    "tokens and numbers": ([np.eye(2), [{"w": "a"}]], TypeError, r"X\[0\].*numbers.*X\[1\].*tokens"),
    "a corpus in a list": ([SequenceMatrix(np.eye(3), [3])], TypeError, r"X\[0\] is a SequenceMatrix.*pass it as X"),
    "an entry that is None": ([np.eye(3), None], TypeError, r"X\[1\] is None"),
    "a vector for a sequence": ([np.eye(3), np.ones(3)], TypeError, r"X\[1\].*shape \(3,\).*2-D"),
    "widths that differ": ([np.eye(3), np.ones((1, 4))], ValueError, r"X\[1\] has 4 features, but X\[0\] has 3"),
    "rows that differ": ([np.eye(3), [[1.0, 2.0, 3.0], [1.0]]], ValueError, r"X\[1\]"),
    "complex numbers": ([np.eye(3), np.ones((1, 3)) * 1j], TypeError, r"X\[1\].*complex"),
    "text": ([np.eye(3), np.array([["a", "b", "c"]])], TypeError, r"X\[1\].*<U1"),
    "NaN": (changed(2, 1, np.nan), ValueError, r"X\[3\], token 2, feature 1 is nan"),
    "infinity": (changed(0, 2, -np.inf), ValueError, r"X\[3\], token 0, feature 2 is -inf"),
    "NaN in float32": ([np.float32(x) for x in changed(2, 1, np.nan)], ValueError, r"X\[3\], token 2, feature 1"),
    "NaN in sparse": ([sp.csr_array(x) for x in changed(2, 1, np.nan)], ValueError, r"X\[3\], token 2, feature 1"),
    "NaN in objects": ([x.astype("O") for x in changed(2, 1, np.nan)], ValueError, r"X\[3\], token 2, feature 1"),
    "NaN in tokens": ([X[0], [{"w": "a"}, {"n": float("nan")}]], ValueError, r"\[1\].*1.*n"),
}  # fmt: skip


def some_labels(bad):
    return Y[: len(bad) if hasattr(bad, "__len__") else 1] if not sp.issparse(bad) else Y[:1]


@pytest.mark.parametrize("name", BAD_X)
def test_bad_X_at_fit(name):
    bad, error, message = BAD_X[name]
    est = tagger()
    with pytest.raises(error, match=message):
        est.fit(bad, some_labels(bad))
    assert not hasattr(est, "classes_")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", BAD_X)
def test_bad_X_later(name, method):
    bad, error, message = BAD_X[name]
    tokens = name in ("NaN in tokens", "tokens that are strings")
    est = fitted_on_tokens() if tokens else fitted_on_numbers()
    with pytest.raises(error, match=message):
        getattr(est, method)(*arguments(method, bad, some_labels(bad)))


def fitted_on_numbers():
    if KIND is SPNCRFTagger:
        return tagger().fit(numbers(), Y)
    return LatentCRFTagger.from_weights(["B-PER", "O"], np.ones((3, 2)), np.zeros((2, 2)))


def fitted_on_tokens():
    return tagger(n_latent=1).fit(X, Y)


@pytest.mark.parametrize("method", METHODS)
def test_other_numbers_of_features(method):
    call = getattr(fitted_on_numbers(), method)
    for bad in (numbers(4), SequenceMatrix(sp.csr_array((30, 4)), [len(x) for x in XS])):
        with pytest.raises(ValueError, match=r"X has 4 features, but \w+CRFTagger was fitted with 3 features"):
            call(*arguments(method, bad, Y))
    with pytest.raises(TypeError, match=r"X holds tokens.*fitted on numbers.*\(T, 3\)"):
        call(*arguments(method, X, Y))


def test_numbers_for_a_tagger_of_tokens():
    est = fitted_on_tokens()
    assert est.predict(est.vectorizer_.transform(X)) == est.predict(X)
    with pytest.raises(ValueError, match="X has 3 features"):
        est.predict(XS)


BAD_Y = {
    "too few sequences": (Y[:-1], ValueError, r"12 sequences but y has 11.*number 11"),
    "too many sequences": ([*Y, ["O"]], ValueError, r"12 sequences but y has 13.*number 12"),
    "too few labels": ([*Y[:3], Y[3][:-1], *Y[4:]], ValueError, r"X\[3\] has 4 tokens but y\[3\] has 3 labels"),
    "too many labels": ([*Y[:3], [*Y[3], "O"], *Y[4:]], ValueError, r"X\[3\] has 4 tokens but y\[3\] has 5 labels"),
    "no labels": ([[None] * len(y) for y in Y], ValueError, "no label"),
    "none at all": (None, ValueError, "y is None"),
    "flat": (Y[0] * 4, TypeError, r"y\[0\] is 'B-PER'.*one list of labels a sequence"),
    "a string": ("BOBOBOBOBOBO", TypeError, "one list of labels a sequence"),
    "a vector": (np.zeros(12), TypeError, r"y\[0\].*one list of labels a sequence"),
    "a frame": (pandas.DataFrame({"y": range(12)}), TypeError, "data frame"),
    "mixed kinds": ([*Y[:3], ["O", "O", 7, "O"], *Y[4:]], ValueError, r"y\[3\]\[2\] is 7"),
    "NaN": ([*Y[:3], ["O", float("nan"), "O", "O"], *Y[4:]], ValueError, r"y\[3\]\[1\] is nan"),
    "fractions": ([[1.0] * len(y) for y in Y[:-1]] + [[1.0, 1.0, 1.5, 1.0]], ValueError, r"y\[11\]\[2\] is 1.5"),
    "lists": ([*Y[:3], ["O", "O", ["O"], "O"], *Y[4:]], ValueError, r"y\[3\]\[2\]"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_Y)
@pytest.mark.parametrize("data", [X, XS], ids=["tokens", "numbers"])
def test_bad_y_at_fit(name, data):
    bad, error, message = BAD_Y[name]
    est = tagger()
    with pytest.raises(error, match=message):
        est.fit(data, bad)
    assert not hasattr(est, "classes_")


@pytest.mark.parametrize(
    "name", ["too few sequences", "too few labels", "too many labels", "none at all", "flat", "a frame"]
)
@pytest.mark.parametrize("method", ["score", "log_likelihood"])
def test_bad_y_later(name, method):
    bad, error, message = BAD_Y[name]
    with pytest.raises(error, match=message):
        getattr(fitted_on_numbers(), method)(XS, bad)


def test_labels_never_seen():
    est = fitted_on_numbers()
    strange = [["?"] * len(y) for y in Y]
    assert est.score(XS, strange) == 0.0
    assert est.log_likelihood(XS, strange).tolist() == [-np.inf] * 12


def test_nothing_to_learn_from():
    for data, y in (
        ([], []),
        ([[]], [[]]),
        ([np.zeros((0, 3))], [[]]),
        (SequenceMatrix(np.zeros((0, 3)), [0, 0]), [[], []]),
    ):
        with pytest.raises(ValueError, match="no label"):
            tagger().fit(data, y)


# -- empty sequences, one label ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "empty"),
    [
        (X, []),
        (XS, []),
        (XS, np.zeros((0, 3))),
        (XS, np.zeros(0)),
        (XS, np.zeros((0, 0))),
        (XS, sp.csr_array((0, 3))),
        (XS, sp.csr_array((0, 0))),
    ],
    ids=["tokens", "list", "array", "vector", "no columns", "sparse", "sparse without columns"],
)
def test_empty_sequences(data, empty):
    """They change nothing, wherever they stand."""
    reference = tagger().fit(data, Y)
    for where in (0, 5, len(data)):
        own = [*data[:where], empty, *data[where:]], [*Y[:where], [], *Y[where:]]
        other = tagger().fit(*own)
        # A sparse entry makes the whole corpus sparse: then sums are done in another order.
        assert_same_model(reference, other, rtol=1e-6, atol=1e-8)
        assert other.predict(own[0])[where] == []
        assert [y for y in other.predict(own[0]) if y] == reference.predict(data)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_methods_on_empty_sequences(method, n):
    for est, empties in (
        (fitted_on_tokens(), [[]] * n),
        (fitted_on_numbers(), [[]] * n),
        (fitted_on_numbers(), [np.zeros((0, 3))] * n),
        (fitted_on_numbers(), [np.zeros((0, 0))] * n),
        (fitted_on_numbers(), SequenceMatrix(np.zeros((0, 3)), [0] * n)),
        (fitted_on_numbers(), SequenceMatrix(sp.csr_array((0, 3)), [0] * n)),
        (fitted_on_numbers(), np.zeros((n, 0, 3))),
    ):
        own = getattr(est, method)(*arguments(method, empties, [[]] * n))
        S, K = len(est.state_labels_), len(est.classes_)
        if method == "score":
            assert own == 1.0
        elif method == "decode":
            assert own.labels == [[]] * n
            assert own.log_prob.tolist() == own.upper_bound.tolist() == [0.0] * n
            assert own.exact.tolist() == [True] * n
        elif method == "log_likelihood":
            assert own.tolist() == [0.0] * n
        elif method == "predict_nbest":
            assert own == [[([], 1.0)]] * n
        elif method == "predict":
            assert own == [[]] * n
        else:
            shape = {"predict_marginals": (0, K), "predict_latent_marginals": (0, S), "predict_latent": (0,)}[method]
            assert [a.shape for a in own] == [shape] * n
        if method not in ("score", "decode", "log_likelihood"):
            assert isinstance(own, LabelSequences)


@pytest.mark.parametrize("decoder", ["ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"])
@pytest.mark.parametrize("n_latent", [1, 3])
def test_one_label_only(decoder, n_latent):
    y = [["O"] * len(labels) for labels in Y]
    est = tagger(n_latent=n_latent, decoder=decoder).fit(X, y)
    assert est.classes_.tolist() == ["O"]
    assert est.predict(X) == y
    np.testing.assert_allclose(est.log_likelihood(X, y), 0.0, atol=1e-12)
    for marginals in est.predict_marginals(X):
        np.testing.assert_allclose(marginals, 1.0, rtol=1e-14)
    result = est.decode(X)
    assert result.exact.all()


def test_features_never_seen():
    est = tagger().fit(X, Y)
    strange, empty = est.predict_marginals([[{"w": "zzz"}], [{}]])
    np.testing.assert_allclose(strange, empty, rtol=1e-12)


# -- scikit-learn's tools ---------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [Y, LabelSequences(Y), object_array(Y)], ids=["list", "LabelSequences", "array"])
@pytest.mark.parametrize("cv", [2, KFold(3), GroupKFold(2)], ids=["int", "KFold", "GroupKFold"])
def test_grid_search(cv, labels):
    groups = [i % 4 for i in range(12)] if isinstance(cv, GroupKFold) else None
    grid = {"sigma": [0.1, 1.0], "n_latent": [1, 2]}
    search = GridSearchCV(tagger(), grid, cv=cv, error_score="raise").fit(X, labels, groups=groups)
    assert search.best_params_.keys() == grid.keys()
    scores = search.cv_results_["mean_test_score"]
    assert ((scores >= 0) & (scores <= 1)).all()
    assert [len(y) for y in search.predict(X)] == [len(y) for y in Y]
    assert search.score(X, Y) == search.best_estimator_.score(X, Y)


def test_grid_search_in_workers_with_a_chunk_scorer():
    grid = {"sigma": [0.1, 1.0], "n_latent": [1, 2]}
    runs = [
        GridSearchCV(tagger(), grid, cv=2, n_jobs=n, scoring=chunk_f1_scorer, error_score="raise").fit(X, Y)
        for n in (1, 2)
    ]
    assert runs[0].best_params_ == runs[1].best_params_
    np.testing.assert_array_equal(runs[0].cv_results_["mean_test_score"], runs[1].cv_results_["mean_test_score"])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("data", ["tokens", "SequenceMatrix", "arrays", "3-D array"])
def test_search_over_every_form(data):
    rng = np.random.default_rng(0)
    forms = {
        "tokens": (X, Y),
        "SequenceMatrix": (SequenceMatrix(np.concatenate(XS), [len(x) for x in XS]), Y),
        "arrays": (XS, Y),
        "3-D array": (rng.normal(size=(12, 2, 3)), [["B-PER", "O"], ["O", "B-PER"]] * 6),
    }
    search = GridSearchCV(tagger(), {"n_latent": [1, {"O": 2}]}, cv=2, error_score="raise")
    assert [len(y) for y in search.fit(*forms[data]).predict(forms[data][0])] == [len(y) for y in forms[data][1]]


@pytest.mark.parametrize(
    ("data", "y"), [(X, Y), (EQUAL_X, EQUAL_Y), (X[2::4], Y[2::4])], ids=["ragged", "equal", "ones"]
)
def test_cross_val_predict(data, y):
    found = cross_val_predict(tagger(), data, y, cv=3)
    assert len(found) == len(y)
    assert found.dtype == object
    assert [len(labels) for labels in found] == [len(labels) for labels in y]


def test_cross_validate():
    scoring = {"token": token_accuracy_scorer, "chunk": make_chunk_scorer(scheme="iob2")}
    result = cross_validate(
        tagger(),
        X,
        Y,
        cv=3,
        scoring=scoring,
        n_jobs=2,
        return_train_score=True,
        return_estimator=True,
        error_score="raise",
    )
    assert (result["test_token"] == 1.0).all()
    assert (result["train_chunk"] == 1.0).all()
    weights_ = np.ones(12)
    scores = cross_val_score(tagger(), X, Y, cv=3, params={"sample_weight": weights_}, error_score="raise")
    assert scores.shape == (3,)


def test_learning_curve():
    _, train, test = learning_curve(tagger(), X, Y, cv=3, train_sizes=[0.5, 1.0], error_score="raise")
    assert train.shape == test.shape == (2, 3)


@pytest.mark.parametrize("output", ["default", "pandas"])
@pytest.mark.parametrize("vectorizer", [SequenceDictVectorizer(), TemplateVectorizer("np-chunking")], ids=type)
def test_pipeline(vectorizer, output):
    X_, y = load_chunks(return_X_y=True)
    X_, y = X_[:20], y[:20]
    if isinstance(vectorizer, SequenceDictVectorizer):
        X_ = [[{"w": word, "pos": pos} for word, pos in x] for x in X_]
    inside = tagger(vectorizer=vectorizer, max_iter=60, tol=1e-3).fit(X_, y)
    with sklearn.config_context(transform_output=output):
        pipeline = make_pipeline(clone(vectorizer), tagger(max_iter=60, tol=1e-3)).fit(X_, y)
        assert pipeline.predict(X_) == inside.predict(X_)
        assert pipeline.score(X_, y) == inside.score(X_, y)
        again = tagger(vectorizer=vectorizer, max_iter=60, tol=1e-3).fit(X_, y)
    assert_same_model(again, inside)
    assert_same_model(pipeline[-1], inside)
    assert pipeline[-1].feature_names_in_.tolist() == inside.feature_names_in_.tolist()
    assert inside.feature_names_in_.tolist() == pipeline[0].get_feature_names_out().tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_search_in_a_pipeline():
    pipeline = make_pipeline(SequenceDictVectorizer(), tagger())
    grid = {f"{KIND.__name__.lower()}__n_latent": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=2, scoring=chunk_f1_scorer).fit(X, Y)
    assert search.predict(X) == Y


class Lengths:
    """A vectorizer by duck typing, that makes one array a sequence."""

    def get_params(self, deep=False):
        return {}

    def fit_transform(self, X, y=None):
        return self.transform(X)

    def transform(self, X):
        return [np.array([[len(t), t.istitle()] for t in x], dtype=float).reshape(len(x), 2) for x in X]


class Broken(Lengths):
    def transform(self, X):
        return super().transform(X)[1:]


class Shorter(Lengths):
    def transform(self, X):
        return [matrix[:1] for matrix in super().transform(X)]


class Idle(Lengths):
    def transform(self, X):
        return X


def test_vectorizers_of_users():
    est = tagger(vectorizer=Lengths()).fit(T, Y)
    assert est.n_features_in_ == 2
    assert est.score(T, Y) == 1.0
    assert est.predict([T[0], []]) == [Y[0], []]
    with pytest.raises(ValueError, match=f"Broken must keep the number of sequences: it made {len(T) - 1} of {len(T)}"):
        tagger(vectorizer=Broken()).fit(T, Y)
    i = next(i for i, tokens in enumerate(T) if len(tokens) > 1)
    with pytest.raises(ValueError, match=rf"Shorter must keep the .*: it made 1 of the {len(T[i])} of X\[{i}\]"):
        tagger(vectorizer=Shorter()).fit(T, Y)
    with pytest.raises(TypeError, match=r"Idle must turn tokens into.*, but gave a list"):
        tagger(vectorizer=Idle()).fit(T, Y)
