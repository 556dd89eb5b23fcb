# SPDX-License-Identifier: BSD-3-Clause
"""The battery of checks on sequences: our estimators pass it, and every check fails on an estimator broken for it."""

import functools
import subprocess
import sys

import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from sklearn_latent import LatentCRFTagger, SPNCRFTagger
from sklearn_latent.feature_extraction import (
    PerToken,
    PhoneSegments,
    SequenceDictVectorizer,
    SequenceFeatureHasher,
    SequenceUnion,
    TemplateVectorizer,
    Window,
)
from sklearn_latent.utils import estimator_checks
from sklearn_latent.utils._checks.corpora import KINDS, taken
from sklearn_latent.utils._checks.table import checks_for
from sklearn_latent.utils.estimator_checks import check_sequence_estimator, parametrize_with_sequence_checks
from utils import broken_copies, broken_data, broken_parameters, broken_taggers  # noqa: F401
from utils.broken import BROKEN, Tagger

WORDS = TemplateVectorizer(["%x[-1,0]", "%x[0,0]"])
OURS = [
    LatentCRFTagger(max_iter=100, tol=1e-4),
    LatentCRFTagger(1, solver="sgd", support="all", max_iter=5, vectorizer=WORDS),
    SPNCRFTagger(n_states=2, solver="lbfgs", max_iter=30),
    SequenceDictVectorizer(),
    SequenceFeatureHasher(64),
    TemplateVectorizer(),
    Window(),
    PerToken(StandardScaler()),
    PerToken(SimpleImputer()),
    PhoneSegments(),
    SequenceUnion([("here", TemplateVectorizer(["%x[0,0]"])), ("all", TemplateVectorizer("chunking"))]),
    SequenceUnion(
        [("here", "passthrough"), ("near", make_pipeline(Window(), PerToken(MaxAbsScaler()))), ("no", "drop")]
    ),
]


@parametrize_with_sequence_checks(OURS)
def test_ours(estimator, check):
    check(estimator)


EVERY = {check.__name__ for estimator in OURS for check in checks_for(estimator)}


def test_every_check_has_a_broken_estimator():
    assert BROKEN.keys() == EVERY


def named(check: str, estimator):
    return next(c for _, c in check_sequence_estimator(estimator, generate_only=True) if c.func.__name__ == check)


@pytest.mark.parametrize(
    ("check", "estimator"), [(check, estimator) for check, broken in BROKEN.items() for estimator in broken],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)  # fmt: skip
def test_each_check_fails_on_a_broken_estimator(check, estimator):
    with pytest.raises(Exception) as caught:
        named(check, estimator)(estimator)
    assert not isinstance(caught.value, (NameError, ImportError, NotImplementedError)), caught.value


# -- the two functions ------------------------------------------------------------------------------


def test_all_at_once():
    assert check_sequence_estimator(Window(2, 0)) is None
    with pytest.raises(AssertionError) as caught:
        check_sequence_estimator(BROKEN["check_fit_twice"][0])
    assert caught.value.__notes__ == ["check_fit_twice of Accumulates"]
    with pytest.raises(TypeError, match=r"pass Window\(\)"):
        check_sequence_estimator(Window)


def test_generating_runs_nothing():
    class Untouchable(Window):
        def fit(self, X, y=None):
            raise AssertionError

    estimator = Untouchable()
    pairs = check_sequence_estimator(estimator, generate_only=True)
    assert iter(pairs) is pairs
    pairs = list(pairs)
    assert len(pairs) > 60
    assert all(own is estimator and isinstance(check, functools.partial) for own, check in pairs)
    names = [check.func.__name__ for _, check in pairs]
    assert len(set(names)) == len(names) and all(name.startswith("check_") for name in names)
    with pytest.raises(AssertionError, match="can be fitted on none of"):
        named("check_fit_returns_self", estimator)(estimator)


def test_parametrize():
    mark = parametrize_with_sequence_checks([Window(), Tagger()])
    assert mark.args[0] == ("estimator", "check")
    assert isinstance(mark.args[1], list)  # pytest 9 warns of iterators
    ids = [mark.kwargs["ids"](value) for value in mark.args[1][0]]
    assert ids == ["Window()", "check_estimator_cloneable"]


def test_inputs_are_found_by_trying():
    kinds = {type(est).__name__: [corpus.kind for corpus in taken(est)] for est in OURS}
    assert kinds["Window"] == kinds["PerToken"] == ["numbers"]
    assert kinds["SequenceDictVectorizer"] == kinds["SequenceFeatureHasher"] == ["dicts", "strings"]
    assert kinds["TemplateVectorizer"] == ["dicts", "strings", "words", "columns"]
    assert kinds["SPNCRFTagger"] == ["numbers", "dicts", "strings"]
    assert set(kinds["SPNCRFTagger"]) < set(KINDS)


def test_no_pytest_needed():
    code = "import sys; sys.modules['pytest'] = None\nfrom sklearn_latent.utils.estimator_checks import *\n"
    code += "from sklearn_latent.feature_extraction import Window\n"
    code += "for estimator, check in check_sequence_estimator(Window(), generate_only=True):\n"
    code += "    check.func.__name__ == 'check_other_processes' or check(estimator)\n"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_the_package_does_not_import_it():
    code = "import sys, sklearn_latent; assert not any(m.startswith('sklearn_latent.utils') for m in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
    assert estimator_checks.__all__ == ["check_sequence_estimator", "parametrize_with_sequence_checks"]
