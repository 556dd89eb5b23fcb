# SPDX-License-Identifier: BSD-3-Clause
"""Taggers made from given weights."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_latent import LatentCRFTagger
from taggers.brute import random_inputs, random_tagger


def same_answers(a, b, X):
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.predict(X) == b.predict(X)
    for one, two in zip(a.predict_marginals(X), b.predict_marginals(X), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-14)


def again(tagger):
    """From its own fitted attributes."""
    attributes = {
        "start_coef": tagger.start_coef_,
        "end_coef": tagger.end_coef_,
        "edge_coef": tagger.edge_coef_,
        "state_labels": tagger.state_labels_,
        "edge_features": tagger.edge_features_.tolist(),
        "constraints": tagger.constraints,
    }
    return LatentCRFTagger.from_weights(tagger.classes_, tagger.coef_, tagger.transition_coef_, **attributes)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "params",
    [
        {}, {"n_latent": 1}, {"n_latent": {"B": 3}}, {"edge_features": True},
        {"edge_features": [2, 0], "support": "all"}, {"constraints": "iob2"},
        {"constraints": [("B", "I"), ("I", "O"), ("O", "B"), ("I", "I"), (None, "B")]},
    ],
    ids=repr,
)  # fmt: skip
def test_own_attributes_give_the_same_tagger(rng, params, sparse):
    X = random_inputs(rng, [3, 2, 4, 0, 2])
    y = [["B", "I", "O"], ["B", "I"], ["B", "I", "I", "O"], [], ["B", "I"]]
    tagger = LatentCRFTagger(random_state=0, **{"n_latent": 2, **params}).fit(X, y)
    other = again(tagger)
    new = random_inputs(rng, [5, 1, 0, 7])
    same_answers(tagger, other, [sp.csr_array(x) for x in new] if sparse else new)
    np.testing.assert_array_equal(other.coef_, tagger.coef_)
    np.testing.assert_array_equal(other.transition_coef_, tagger.transition_coef_)
    np.testing.assert_array_equal(other.edge_coef_.toarray(), tagger.edge_coef_.toarray())
    np.testing.assert_array_equal(other.edge_features_, tagger.edge_features_)
    np.testing.assert_array_equal(other.state_labels_, tagger.state_labels_)


@pytest.mark.parametrize("edges", [False, True], ids=["no edges", "edges"])
def test_classes_and_states_in_any_order(rng, edges):
    """States are put in the order of the sorted labels, each label's in the given order."""
    sorted_ = random_tagger(rng, edges=edges)  # states a a b c c
    where = np.array([3, 0, 2, 4, 1])  # the old state that stands at each new place
    S = 5
    edge = None
    if edges:
        edge = sorted_.edge_coef_[:, (where[:, None] * S + where[None, :]).ravel()]
    shuffled = LatentCRFTagger.from_weights(
        ["c", "a", "b"], sorted_.coef_[:, where], sorted_.transition_coef_[np.ix_(where, where)],
        start_coef=sorted_.start_coef_[where], end_coef=sorted_.end_coef_[where], edge_coef=edge,
        state_labels=[0, 1, 2, 0, 1],
    )  # fmt: skip
    assert shuffled.classes_.tolist() == ["a", "b", "c"]
    assert shuffled.state_labels_.tolist() == [0, 0, 1, 2, 2]
    np.testing.assert_array_equal(shuffled.coef_, sorted_.coef_)
    np.testing.assert_array_equal(shuffled.transition_coef_, sorted_.transition_coef_)
    np.testing.assert_array_equal(shuffled.edge_coef_.toarray(), sorted_.edge_coef_.toarray())
    same_answers(shuffled, sorted_, random_inputs(rng, [4, 2]))


def test_states_are_shared_out_equally_by_default(rng):
    tagger = LatentCRFTagger.from_weights(["b", "a"], np.array([[1.0, 2.0, 3.0, 4.0]]), np.zeros((4, 4)))
    assert tagger.n_latent == 2
    assert tagger.coef_.tolist() == [[3.0, 4.0, 1.0, 2.0]]
    assert tagger.start_coef_.tolist() == [0.0] * 4
    unequal = LatentCRFTagger.from_weights(["b", "a"], np.ones((1, 3)), np.zeros((3, 3)), state_labels=[0, 0, 1])
    assert unequal.n_latent == {"a": 1, "b": 2}


def test_stored_entries_of_a_sparse_coef_are_the_weights_that_exist(rng):
    dense = np.array([[0.0, 1.5, 0.0, -2.0], [0.3, 0.0, 0.0, 0.0]])
    given = {"transition_coef": rng.normal(size=(4, 4))}
    taggers = [
        LatentCRFTagger.from_weights(["y", "x"], c, **given) for c in (dense, sp.csr_array(dense), sp.coo_matrix(dense))
    ]
    X = random_inputs(rng, [3, 2], 2)
    for other in taggers[1:]:
        same_answers(taggers[0], other, X)
        same_answers(taggers[0], other, [sp.csr_array(x) for x in X])
        np.testing.assert_array_equal(other.coef_, taggers[0].coef_)


@pytest.mark.parametrize(
    "classes", [["b", "a"], ("b", "a"), np.array(["b", "a"]), [np.str_("b"), np.str_("a")], [2, 1], [np.int64(2), 1]]
)
def test_forms_of_classes(classes):
    tagger = LatentCRFTagger.from_weights(classes, [[1.0, -1.0]], np.zeros((2, 2)))
    [[label]] = tagger.predict([np.ones((1, 1))])
    assert label == classes[0]
    assert type(label) in (str, int)


def test_names_and_parameters():
    tagger = LatentCRFTagger.from_weights(
        ["a", "b"], np.ones((2, 2)), np.zeros((2, 2)), feature_names=["x", "y"], decoder="bmp", sigma=3.0,
        edge_coef=np.ones((1, 4)), edge_features=["y"],
    )  # fmt: skip
    assert tagger.feature_names_in_.tolist() == ["x", "y"]
    assert (tagger.decoder, tagger.sigma, tagger.n_latent) == ("bmp", 3.0, 1)
    assert tagger.edge_features_.tolist() == [1]
    assert tagger.edge_features == ["y"]
    assert tagger.n_features_in_ == 2
    assert tagger.converged_


def test_given_arrays_are_not_kept(rng):
    coef, transition = rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    tagger = LatentCRFTagger.from_weights(["a", "b"], coef, transition)
    before = tagger.predict_marginals([np.ones((2, 2))])[0]
    coef[:], transition[:] = 0, 0
    tagger.coef_[:] = 0
    tagger.transition_coef_[:] = 0
    np.testing.assert_array_equal(tagger.predict_marginals([np.ones((2, 2))])[0], before)


GOOD = {"classes": ["a", "b"], "coef": np.ones((3, 2)), "transition_coef": np.ones((2, 2))}


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"coef": np.ones(3)}, ValueError, "coef must be 2-D"),
        ({"coef": np.ones((3, 5))}, ValueError, r"5 states for 2 classes"),
        ({"transition_coef": np.ones((2, 3))}, ValueError, r"transition_coef must have shape \(2, 2\)"),
        ({"start_coef": np.ones(3)}, ValueError, r"start_coef must have shape \(2,\)"),
        ({"end_coef": np.ones((1, 2))}, ValueError, r"end_coef must have shape \(2,\)"),
        ({"edge_coef": sp.csr_array((3, 3))}, ValueError, r"edge_coef must have shape \(3, 4\)"),
        ({"edge_coef": sp.csr_array((2, 4))}, ValueError, "edge_coef must have shape"),
        ({"coef": np.full((3, 2), np.nan)}, ValueError, "coef holds nan"),
        ({"coef": sp.csr_array(np.full((3, 2), np.inf))}, ValueError, "coef holds inf"),
        ({"transition_coef": np.full((2, 2), -np.inf)}, ValueError, "transition_coef holds -inf"),
        ({"edge_coef": sp.csr_array(np.full((3, 4), np.inf))}, ValueError, "edge_coef holds inf"),
        ({"classes": ["a", "a"]}, ValueError, r"distinct, but classes\[1\] is 'a' again"),
        ({"classes": ["a", 1]}, ValueError, "one kind"),
        ({"classes": ["a", None]}, ValueError, r"classes\[1\] is None"),
        ({"classes": []}, ValueError, "label"),
        ({"classes": "ab"}, TypeError, "classes"),
        ({"state_labels": [0, 0]}, ValueError, "at least one state"),
        ({"state_labels": [0, 2]}, ValueError, r"at least one state.*\[0, 2\]"),
        ({"state_labels": [0, 1, 1]}, ValueError, r"state_labels must be 2 integers, one a state; got shape \(3,\)"),
        ({"state_labels": [0.0, 1.0]}, ValueError, "state_labels must be 2 integers"),
        ({"feature_names": ["x"]}, ValueError, "1 feature names for 3 columns"),
        ({"n_latent": 2}, ValueError, "n_latent=2 does not agree"),
        ({"sigma": -1.0}, ValueError, "'sigma' parameter"),
        ({"constraints": "iob2"}, ValueError, "constraints='iob2'"),
        ({"no_such": 1}, TypeError, "no_such"),
    ],
)
def test_what_does_not_fit(changes, error, message):
    with pytest.raises(error, match=message):
        LatentCRFTagger.from_weights(**{**GOOD, **changes})
