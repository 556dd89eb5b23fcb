# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from metrics.capitals import Capitals
from sklearn_latent import LabelSequences
from sklearn_latent.metrics import chunk_f1_scorer, make_chunk_scorer, token_accuracy_scorer

T = [["Ana", "met", "Bo"], ["Bo", "left"], ["rain"], ["Ana", "and", "Bo", "sang"]] * 3
Y = [["B-PER", "O", "B-PER"], ["B-PER", "O"], ["O"], ["B-PER", "O", "B-PER", "O"]] * 3


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_cross_validate(n_jobs):
    scoring = {"token": token_accuracy_scorer, "chunk": chunk_f1_scorer, "strict": make_chunk_scorer(scheme="iob2")}
    result = cross_validate(Capitals(), T, Y, scoring=scoring, cv=3, n_jobs=n_jobs)
    for name in scoring:
        assert result[f"test_{name}"].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("y", [Y, LabelSequences(Y)], ids=["list", "LabelSequences"])
def test_grid_search_on_ragged_labels(y):
    search = GridSearchCV(Capitals(), {"on": [False, True]}, scoring=chunk_f1_scorer, cv=2, error_score="raise")
    search.fit(T, y)
    assert search.best_params_ == {"on": True}
    assert search.cv_results_["mean_test_score"].tolist() == [0.0, 1.0]
    assert search.score(T, y) == 1.0


def test_pipeline():
    pipe = make_pipeline(FunctionTransformer(), Capitals()).fit(T, Y)
    assert chunk_f1_scorer(pipe, T, Y) == 1.0
    assert token_accuracy_scorer(pipe, T, Y) == 1.0


def test_options_reach_the_score():
    stray = Capitals(prefix="I")
    assert chunk_f1_scorer(stray, T, Y) == 1.0
    assert make_chunk_scorer(scheme="iob2", invalid="discard")(stray, T, Y) == 0.0
    with pytest.raises(ValueError, match="y_pred, sequence 0, position 0"):
        make_chunk_scorer(scheme="iob2", invalid="raise")(stray, T, Y)
    assert make_chunk_scorer(zero_division=1.0)(Capitals(), [["rain"]], [["O"]]) == 1.0


@pytest.mark.parametrize("scorer", [chunk_f1_scorer, token_accuracy_scorer, make_chunk_scorer(average="macro")])
def test_pickle(scorer):
    again = pickle.loads(pickle.dumps(scorer))
    assert again(Capitals(), T, Y) == scorer(Capitals(), T, Y) == 1.0


def test_unknown_label_positions_do_not_count_for_tokens():
    assert token_accuracy_scorer(Capitals(), [["Ana", "met"]], [[None, "O"]]) == 1.0


def test_finite_and_warned_where_undefined():
    with pytest.warns(UndefinedMetricWarning):
        assert np.isfinite(chunk_f1_scorer(Capitals(), [["rain"]], [["O"]]))


@pytest.mark.parametrize("options", [{"average": None}, {"average": "binary"}, {"scheme": "x"}, {"invalid": "x"}])
def test_bad_options(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        make_chunk_scorer(**options)


def test_unknown_option():
    with pytest.raises(TypeError):
        make_chunk_scorer(beta=2)
