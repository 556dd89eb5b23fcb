# SPDX-License-Identifier: BSD-3-Clause
"""Tables of weights hold what the fitted attributes hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

from sklearn_latent import LatentCRFTagger, SPNCRFTagger
from sklearn_latent.datasets import load_chunks, make_latent_sequences
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.inspection import transitions_table, weights_table

pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def chunks():
    X, y = load_chunks(return_X_y=True)
    return LatentCRFTagger(
        {"I-NP": 3, "O": 2}, vectorizer=TemplateVectorizer("np-chunking"), tol=1e-2, random_state=0
    ).fit(X[:80], y[:80])


def numbers(kind=SPNCRFTagger, **options):
    X, y = make_latent_sequences(20, n_labels=3, n_features=3, mean_length=5, random_state=0, return_X_y=True)
    with pytest.warns(match="did not converge"):
        return kind(max_iter=4, tol=0.0, random_state=0, **options).fit(X, y)


def test_weights_are_those_of_coef(chunks):
    table = weights_table(chunks)
    assert table.columns.tolist() == ["feature", "label", "state", "weight", "contrast"]
    column = {name: k for k, name in enumerate(chunks.feature_names_in_)}
    row = table["feature"].map(column).to_numpy(dtype=int)
    coef = sp.csr_array((table["weight"], (row, table["state"])), shape=chunks.coef_.shape).toarray()
    np.testing.assert_array_equal(coef, chunks.coef_)
    assert len(table) == chunks._model.support.state.n_weights
    assert (table["label"] == chunks.classes_[chunks.state_labels_[table["state"]]]).all()
    for _, own in table.groupby("state"):
        assert own["weight"].is_monotonic_decreasing
    assert table["state"].is_monotonic_increasing


def test_contrast_is_against_the_sisters(chunks):
    table = weights_table(chunks)
    mean = table.groupby(["feature", "label"], observed=True)["weight"].transform("mean")
    np.testing.assert_allclose(table["contrast"], table["weight"] - mean, rtol=0.0, atol=1e-12)
    assert (table.loc[table["label"] == "B-NP", "contrast"] == 0).all()
    assert table.loc[table["label"] == "I-NP", "contrast"].abs().max() > 0.1


def test_top_keeps_the_largest(chunks):
    table, top = weights_table(chunks), weights_table(chunks, top=3)
    assert top.groupby("state").size().max() == 3
    for state, own in top.groupby("state"):
        largest = table.loc[table["state"] == state, "weight"].abs().nlargest(3)
        np.testing.assert_array_equal(np.sort(own["weight"].abs()), np.sort(largest))
    for wrong in (0, 1.5, True, "all"):
        with pytest.raises(ValueError, match="top"):
            weights_table(chunks, top=wrong)


def test_features_without_names_are_columns():
    table = weights_table(numbers(LatentCRFTagger, n_latent=2))
    assert set(table["feature"]) == {0, 1, 2} and len(table) == 3 * 6


def test_transitions_are_those_of_the_attributes(chunks):
    table = transitions_table(chunks)
    assert "feature" not in table and "before" not in table
    moves = table[(table["from_state"] >= 0) & (table["to_state"] >= 0)]
    matrix = np.zeros_like(chunks.transition_coef_)
    matrix[moves["from_state"], moves["to_state"]] = moves["weight"]
    np.testing.assert_array_equal(matrix, chunks.transition_coef_)
    start = table[table["from_state"] < 0].set_index("to_state")["weight"]
    np.testing.assert_array_equal(start, chunks.start_coef_[start.index])
    end = table[table["to_state"] < 0].set_index("from_state")["weight"]
    np.testing.assert_array_equal(end, chunks.end_coef_[end.index])
    assert table["from_label"].isna().sum() == len(start) and table["to_label"].isna().sum() == len(end)
    labels = table.fillna({"from_label": "<start>", "to_label": "<end>"})
    for column, sisters in (("from_contrast", ["from_label", "to_state"]), ("to_contrast", ["from_state", "to_label"])):
        mean = labels.groupby(sisters)["weight"].transform("mean")
        np.testing.assert_allclose(table[column], table["weight"] - mean, rtol=0.0, atol=1e-12)


def test_edge_features_have_rows():
    tagger = numbers(LatentCRFTagger, n_latent=2, edge_features=[0, 2])
    table = transitions_table(tagger)
    S = len(tagger.state_labels_)
    edges = table[table["feature"].notna()]
    found = np.zeros((3, S * S))
    found[edges["feature"].to_numpy(dtype=int), edges["from_state"] * S + edges["to_state"]] = edges["weight"]
    np.testing.assert_array_equal(found[[0, 2]], tagger.edge_coef_.toarray())
    assert not found[1].any() and table["feature"].isna().sum() > 0


def test_linear_spn_tables_are_as_those_of_the_other_tagger():
    tagger = numbers(n_layers=0, solver="lbfgs", n_latent={0: 2})
    table = weights_table(tagger)
    assert table.columns.tolist() == ["feature", "label", "state", "weight", "contrast"]
    np.testing.assert_array_equal(
        table.pivot(index="feature", columns="state", values="weight").to_numpy(), tagger.coef_
    )
    moves = transitions_table(tagger).query("from_state >= 0 and to_state >= 0")
    matrix = moves.pivot(index="from_state", columns="to_state", values="weight").fillna(0.0)
    np.testing.assert_array_equal(matrix.to_numpy(), tagger.transition_coef_)


def test_longer_ngrams_name_the_labels_before():
    tagger = numbers(order=2)
    table = transitions_table(tagger)
    for n in (2, 3):
        rows = table[(table["from_state"] >= 0) & (table["to_state"] >= 0) & (table["before"].map(len) == n - 2)]
        found = {
            (*before, a, b): w
            for before, a, b, w in zip(*(rows[c] for c in ("before", "from_label", "to_label", "weight")), strict=True)
        }
        assert found == dict(zip(tagger.ngrams_[n], tagger.ngram_coef_[n].tolist(), strict=True))


@pytest.mark.parametrize("options", [
    {"n_layers": 2, "n_products": 1, "n_states": 3},
    {"factors": ((1, 1), (2, 2)), "n_latent": {1: 2}},
    {"tie_inputs": True, "n_states": 2},
    {"normalization": "local", "order": 2, "factors": ((2, 1),)},
])  # fmt: skip
def test_weights_of_networks(options):
    tagger = numbers(**options)
    table = weights_table(tagger)
    tied, D = "tie_inputs" in options, 3
    names = {f"label[-{back}]={label}": (back, label) for back in (1, 2) for label in (0, 1, 2)}
    names |= {"label[-1]": (1, 3), "label[-2]": (2, 3)}
    total = 0
    for k, (m, n) in enumerate(tagger._model.factors):
        coef = tagger.factor_coef_[k]
        coef = coef[None] if tied else coef
        total += coef.size // (2 if tied else 1)
        roots = {}
        first = np.cumsum([0, *tagger._model.n_latent[:-1]]) if hasattr(tagger._model, "n_latent") else np.arange(3)
        grams = [(c,) for c in range(3)] if n == 1 else tagger.ngrams_[n]
        counts = getattr(tagger._model, "n_latent", np.ones(3, dtype=int))
        for gram in grams:
            for latent in range(counts[gram[-1]]):
                roots[(gram[:-1], int(first[gram[-1]]) + latent)] = len(roots)
        own = table[table["factor"] == (m, n)]
        for row in own.itertuples():
            root = 0 if tied else roots[(row.before, row.state)]
            place = tuple(index for pair in row.path for index in pair)
            if isinstance(row.feature, str):
                back, label = names[row.feature]
                column = m * D + (back - 1) * 4 + label
            else:
                column = (m - 1 + row.offset) * D + row.feature
            assert coef[(root, *place, column)] == row.weight
    assert len(table) == total
    if tied:
        assert set(table["state"]) == {-1} and table["label"].isna().all()


def test_local_normalisation_has_no_transitions():
    with pytest.raises(ValueError, match="no transition weights"):
        transitions_table(numbers(normalization="local", order=1))


def test_a_pipeline_is_its_last_step():
    X, y = load_chunks(return_X_y=True)
    model = make_pipeline(TemplateVectorizer("chunking"), LatentCRFTagger(n_latent=1, tol=1e-2)).fit(X[:30], y[:30])
    assert weights_table(model).equals(weights_table(model[-1]))
    assert transitions_table(model).equals(transitions_table(model[-1]))
    with pytest.raises(TypeError, match="got TemplateVectorizer"):
        weights_table(model[:-1])
