# SPDX-License-Identifier: BSD-3-Clause
"""`explain`: the parts add up, and each is what its definition says, by enumeration."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.pipeline import make_pipeline

import oracle
from sklearn_latent import LatentCRFTagger, SPNCRFTagger
from sklearn_latent._scorers import Design
from sklearn_latent.datasets import load_chunks, make_latent_sequences
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.inspection import explain

pytest.importorskip("pandas")

LATENT = {
    "plain": {"n_latent": 1},
    "latent": {"n_latent": {0: 2, 1: 1, 2: 3}},
    "edges": {"n_latent": 2, "edge_features": [0, 2], "support": "all"},
    "constraints": {
        "n_latent": 2,
        "edge_features": True,
        "constraints": [(0, 1), (1, 2), (2, 0), (1, 1), (0, 0), (2, 1)],
    },
}
SPN = {
    "linear": {"n_layers": 0},
    "networks": {},
    "two layers": {"n_layers": 2, "n_products": 1},
    "max": {"operator": "max"},
    "tied": {"tie_inputs": True, "n_states": 2},
    "order": {"order": 2},
    "arcs": {"factors": ((1, 1), (2, 2), (3, 1))},
    "histories": {"order": 2, "factors": ((1, 1), (2, 2)), "n_latent": 2},
    "forbid": {"order": 2, "unseen": "forbid"},
    "local": {"normalization": "local", "order": 1},
    "local of order two": {"normalization": "local", "order": 2, "factors": ((2, 1),), "n_layers": 0},
}


def corpus(constrained: bool = False):
    X, y = make_latent_sequences(
        30, n_labels=3, n_latent=2, n_features=4, mean_length=4, random_state=0, return_X_y=True
    )
    if constrained:
        y = [[(0, 1, 2)[t % 3] for t in range(len(own))] for own in y]
    return X, y


def fitted(kind, name: str, **more):
    X, y = corpus(name == "constraints")
    options = {**(LATENT if kind is LatentCRFTagger else SPN)[name], **more}
    with pytest.warns(match="did not converge"):
        return kind(max_iter=6, tol=0.0, init_scale=0.7, random_state=0, **options).fit(X, y), X


CASES = [(LatentCRFTagger, name) for name in LATENT] + [(SPNCRFTagger, name) for name in SPN]


@pytest.mark.parametrize(("kind", "name"), CASES, ids=lambda v: v if isinstance(v, str) else v.__name__)
def test_parts_add_up_to_the_log_odds(kind, name):
    tagger, X = fitted(kind, name)
    seen = set()
    for x in (X[0], X[1], X[2], X[3][:1]):
        marginals, labels = tagger.predict_marginals([x])[0], tagger.predict([x])[0]
        for i in range(len(x)):
            table = explain(tagger, x, i)
            a, b = tagger.classes_.tolist().index(table.attrs["label"]), table.attrs["against"]
            assert table.attrs["label"] == labels[i] and b != labels[i]
            b = tagger.classes_.tolist().index(b)
            assert b == np.where(np.arange(3) == a, -1.0, marginals[i]).argmax()
            odds = np.log(marginals[i, a]) - np.log(marginals[i, b])
            np.testing.assert_allclose(table.attrs["log_odds"], odds, rtol=0.0, atol=1e-9)
            np.testing.assert_allclose(table["contribution"].sum(), table.attrs["log_odds"], rtol=0.0, atol=1e-11)
            assert (table["contribution"] != 0).all()
            assert table["contribution"].abs().is_monotonic_decreasing
            seen |= set(table["part"])
    networks = kind is SPNCRFTagger and tagger.n_layers > 0
    assert {"feature", "neighbour"} <= seen
    assert ("hidden" in seen) == networks or name.startswith("local")
    assert ("states" in seen) == (len(tagger.state_labels_) > 3)


@pytest.mark.parametrize("name", LATENT)
def test_parts_of_a_linear_model_by_enumeration(name):
    tagger, X = fitted(LatentCRFTagger, name)
    coef, S = tagger.coef_, len(tagger.state_labels_)
    edges = tagger.edge_coef_.toarray().reshape(-1, S, S)
    x = next(x for x in X if len(x) == 5)
    top, (scorer, prepared) = tagger._topology, tagger._scoring(False)
    node, arc = scorer.forward(prepared, Design(np.ascontiguousarray(x)), np.array([0, len(x)]))
    paths, scores = oracle.path_scores(top, node, arc, None, 0, len(x))
    paths, matrix = np.array(paths), top.as_matrix(arc)
    for i in range(len(x)):
        table = explain(tagger, x, i)
        share = []
        for label in (table.attrs["label"], table.attrs["against"]):
            own = tagger.state_labels_[paths[:, i]] == label
            share.append(np.where(own, np.exp(scores - logsumexp(scores[own])), 0.0))
        change = share[0] - share[1]
        state = np.array([[change[paths[:, t] == h].sum() for h in range(S)] for t in range(len(x))])
        expected = x[i] * (coef @ state[i])
        into = np.zeros(x.shape[1])
        if i:
            move = np.zeros((S, S))
            np.add.at(move, (paths[:, i - 1], paths[:, i]), change)
            into[tagger.edge_features_] = x[i][tagger.edge_features_] * (edges * move).sum(axis=(1, 2))
        features = table[table["part"] == "feature"]
        assert (features["position"] == i).all()
        np.testing.assert_array_equal(features["value"], x[i][features["feature"].to_numpy(dtype=int)])
        found = np.zeros(x.shape[1])
        found[features["feature"].to_numpy(dtype=int)] = features["contribution"]
        np.testing.assert_allclose(found, expected + into, rtol=0.0, atol=1e-10)

        # Logs of summed weights into each state from the left, and out of it to the right.
        left, right = np.zeros((len(x), S)), np.zeros((len(x), S))
        with np.errstate(divide="ignore"):
            for t in range(1, len(x)):
                m = matrix[t if len(matrix) > 1 else 0]
                left[t] = logsumexp((left[t - 1] + node[t - 1])[:, None] + m, axis=0)
                back = len(x) - 1 - t
                m = matrix[back + 1 if len(matrix) > 1 else 0]
                right[back] = logsumexp(m + (node[back + 1] + right[back + 1])[None, :], axis=1)
        left, right = np.where(state != 0, left, 0.0), np.where(state != 0, right, 0.0)
        said = np.zeros(len(x))
        for t in range(i):
            said[t] = state[t + 1] @ left[t + 1] - state[t] @ left[t] - (into.sum() if t == i - 1 else 0.0)
        for t in range(i + 1, len(x)):
            said[t] = state[t - 1] @ right[t - 1] - state[t] @ right[t]
        neighbours = table[table["part"] == "neighbour"].set_index("position")["contribution"]
        np.testing.assert_allclose(neighbours.reindex(range(len(x)), fill_value=0.0), said, rtol=0.0, atol=1e-9)
        for part, weights, there in (("start", tagger.start_coef_, i == 0), ("end", tagger.end_coef_, i == len(x) - 1)):
            rows = table[table["part"] == part]["contribution"]
            np.testing.assert_allclose(rows.sum(), weights @ state[i] * there, rtol=0.0, atol=1e-10)


def test_with_one_state_a_label_the_left_is_what_is_lost_without_it():
    tagger, X = fitted(LatentCRFTagger, "plain")
    x = next(x for x in X if len(x) >= 5)
    whole = explain(tagger, x, 2, label=0, against=1)
    cut = explain(tagger, x[2:], 0, label=0, against=1)
    left = whole[(whole["part"] == "neighbour") & (whole["position"] < 2)]["contribution"].sum()
    start = cut[cut["part"] == "start"]["contribution"].sum()
    np.testing.assert_allclose(left, whole.attrs["log_odds"] - cut.attrs["log_odds"] + start, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("name", ["networks", "two layers", "max", "tied", "arcs", "histories", "local"])
def test_parts_of_networks_are_values_times_slopes(name):
    """Finite differences of the scores, at shares of states that are held."""
    tagger, X = fitted(SPNCRFTagger, name)
    x = np.ascontiguousarray(X[0][:4])
    scorer, prepared = tagger._scoring(False)
    top, rng = tagger._topology, np.random.default_rng(0)
    offsets = np.array([0, len(x)])
    for i in range(len(x)):
        node_delta, arc_delta = rng.standard_normal(top.n_states), rng.standard_normal(top.n_arcs)
        node_delta[~np.isfinite(scorer.forward(prepared, Design(x), offsets)[0][i])] = 0.0
        arc_delta[:] = arc_delta if i and scorer.arc_rows_differ else 0.0
        if name == "local" and i:
            node_delta[:] = 0.0

        def score(rows, i=i, node_delta=node_delta, arc_delta=arc_delta):
            node, arc = scorer.forward(prepared, Design(rows), offsets)
            used = node_delta != 0
            return node_delta[used] @ node[i][used] + (arc_delta @ arc[i] if arc_delta.any() else 0.0)

        parts = scorer.feature_parts(prepared, Design(x), offsets, i, node_delta, arc_delta)
        found = np.zeros_like(x)
        for token, feature, part in parts.rows:
            found[token, feature] += part
        for t, f in np.ndindex(*x.shape):
            step = np.zeros_like(x)
            step[t, f] = 1e-5
            slope = (score(x + step) - score(x - step)) / 2e-5
            assert found[t, f] == pytest.approx(x[t, f] * slope, rel=1e-5, abs=1e-8)


def test_tokens_pipelines_and_asked_labels():
    X, y = load_chunks(return_X_y=True)
    X, y = X[:40], y[:40]
    inside = LatentCRFTagger(n_latent=1, vectorizer=TemplateVectorizer("chunking"), tol=1e-2).fit(X, y)
    behind = make_pipeline(TemplateVectorizer("chunking"), LatentCRFTagger(n_latent=1, tol=1e-2)).fit(X, y)
    a, b = explain(inside, X[0], 1), explain(behind, X[0], 1)
    assert a.equals(b) and a.attrs == b.attrs
    assert "w[0]=town" in set(a["feature"].dropna()) and set(a["token"]) <= {word for word, _ in X[0]}
    asked = explain(inside, X[0], 1, label="O", against="B-VP")
    assert (asked.attrs["label"], asked.attrs["against"]) == ("O", "B-VP")
    turned = explain(inside, X[0], 1, label="B-VP", against="O")
    assert turned.attrs["log_odds"] == -asked.attrs["log_odds"]
    assert turned["contribution"].sum() == pytest.approx(-asked["contribution"].sum(), abs=1e-11)


def test_single_precision_adds_up_to_its_rounding():
    tagger, X = fitted(SPNCRFTagger, "networks", dtype=np.float32)
    table = explain(tagger, X[0], 1)
    assert table["contribution"].sum() == pytest.approx(table.attrs["log_odds"], abs=1e-5)


def test_extreme_weights_stay_finite():
    tagger = LatentCRFTagger.from_weights(["a", "b"], [[900.0, -900.0]], [[500.0, -500.0], [-500.0, 500.0]])
    table = explain(tagger, [[1.0]] * 50, 20)
    assert np.isfinite(table["contribution"]).all()
    assert table["contribution"].sum() == pytest.approx(table.attrs["log_odds"], rel=1e-12)
    assert table.attrs["log_odds"] > 1000


def test_called_wrongly():
    tagger, X = fitted(LatentCRFTagger, "latent")
    x = X[0]
    with pytest.raises(IndexError, match=f"has {len(x)} tokens, there is no token {len(x)}"):
        explain(tagger, x, len(x))
    with pytest.raises(IndexError):
        explain(tagger, x, -1)
    with pytest.raises(TypeError, match="i must be"):
        explain(tagger, x, 1.0)
    with pytest.raises(ValueError, match="label=7 is not a label"):
        explain(tagger, x, 0, label=7)
    with pytest.raises(ValueError, match="the same: 1"):
        explain(tagger, x, 0, label=1, against=1)
    with pytest.raises(TypeError, match="got str"):
        explain("tagger", x, 0)
    with pytest.raises(Exception, match="not fitted"):
        explain(LatentCRFTagger(), x, 0)


def test_impossible_labels_are_refused():
    tagger, X = fitted(LatentCRFTagger, "constraints", n_latent=1)
    table = explain(tagger, X[0], 0)
    assert np.isfinite(table.attrs["log_odds"])
    only = LatentCRFTagger(n_latent=1).fit([[[1.0]], [[2.0]]], [["a"], ["a"]])
    with pytest.raises(ValueError, match="token 0 can have no other label than 'a'"):
        explain(only, [[1.0]], 0)
    bio = LatentCRFTagger(n_latent=1, constraints="iob2").fit([[[1.0], [2.0]]] * 2, [["B-X", "I-X"], ["O", "B-X"]])
    with pytest.raises(ValueError, match="token 0 can't have the label 'I-X'"):
        explain(bio, [[1.0], [1.0]], 0, label="I-X")


def test_histories_without_a_lattice_are_refused():
    X, y = corpus()
    with pytest.warns(match="did not converge"):
        tagger = SPNCRFTagger.memm(order=9, max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match="order=9 are too many for a lattice"):
        explain(tagger, X[0], 0)


def test_without_pandas_it_is_named():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from sklearn_latent import LatentCRFTagger\n"
        "from sklearn_latent.inspection import explain, transitions_table, weights_table\n"
        "tagger = LatentCRFTagger(n_latent=1).fit([[[1.0], [0.0]]] * 2, [['a', 'b']] * 2)\n"
        "calls = [lambda: explain(tagger, [[1.0]], 0)]\n"
        "calls += [lambda: weights_table(tagger), lambda: transitions_table(tagger)]\n"
        "for f in calls:\n"
        "    try:\n        f()\n    except ImportError as error:\n        print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.count("pip install pandas") == 3
