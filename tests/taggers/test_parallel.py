# SPDX-License-Identifier: BSD-3-Clause
"""The same bits whatever the number of threads, the process or the order of hashes; and copies."""

import copy
import hashlib
import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.datasets import make_latent_sequences

WEIGHTS = ("coef_", "transition_coef_", "start_coef_", "end_coef_")


def corpus(sparse=False):
    """Long enough for several blocks of work (8192 tokens each)."""
    made = make_latent_sequences(600, n_labels=2, n_features=4, mean_length=30, scale=1.5, random_state=0)
    X = made.data.map(lambda v: sp.csr_array(np.where(np.abs(v) > 1, v, 0))) if sparse else made.data
    return X, made.target


def after_four(info):
    """Stop: a few iterations tell as much as all."""
    return info.n_iter == 4


def fit(X, y, **params):
    return LatentCRFTagger(n_latent=2, random_state=0, callback=after_four, **params).fit(X, y)


def bits(tagger, X):
    """Digest of weights and answers."""
    digest = hashlib.sha256()
    for name in WEIGHTS:
        digest.update(getattr(tagger, name).tobytes())
    digest.update(tagger.edge_coef_.toarray().tobytes())
    digest.update(np.array(tagger.loss_curve_).tobytes())
    for marginals in tagger.predict_marginals(X):
        digest.update(marginals.tobytes())
    digest.update(json.dumps(tagger.predict(X)).encode())
    digest.update(tagger.log_likelihood(X, tagger.predict(X)).tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("params", [{}, {"edge_features": [0, 1]}], ids=["states", "edges"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_n_jobs_changes_no_bit(sparse, params):
    X, y = corpus(sparse)
    assert X.n_tokens > 2 * 8192
    found = {bits(fit(X, y, n_jobs=n_jobs, **params), X[:60]) for n_jobs in (None, 1, 2, 3, -1)}
    assert len(found) == 1


def test_n_jobs_changes_no_bit_of_any_decoder():
    X, y = corpus()
    tagger = fit(X, y)
    for decoder in ("ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"):
        options = {"mbr_metric": "token_accuracy", "n_paths": 5}
        one, two = (tagger.set_params(n_jobs=n).decode(X, decoder, **options) for n in (1, 2))
        assert one.labels == two.labels
        for field in ("log_prob", "upper_bound", "exact", "n_paths", "n_expanded"):
            np.testing.assert_array_equal(getattr(one, field), getattr(two, field))
    n_best = [tagger.set_params(n_jobs=n).predict_nbest(X[:50], 3) for n in (1, 2)]
    assert n_best[0] == n_best[1]


def test_blas_threads_change_no_bit():
    X, y = corpus()
    with threadpool_limits(1, user_api="blas"):
        one = bits(fit(X, y), X[:60])
    with threadpool_limits(2, user_api="blas"):
        two = bits(fit(X, y), X[:60])
    assert one == two


def test_a_joblib_context_changes_no_bit():
    X, y = corpus()
    with joblib.parallel_config(backend="threading", n_jobs=2):
        two = bits(fit(X, y), X[:60])
    assert two == bits(fit(X, y), X[:60])


def test_eight_threads_on_one_model():
    X, y = corpus()
    tagger = fit(X, y, n_jobs=2)
    expected = tagger.predict_marginals(X[:60]), tagger.predict(X[:60])

    def answers(_):
        return tagger.predict_marginals(X[:60]), tagger.predict(X[:60])

    with ThreadPoolExecutor(8) as pool:
        for marginals, labels in pool.map(answers, range(24)):
            assert labels == expected[1]
            for own, right in zip(marginals, expected[0], strict=True):
                np.testing.assert_array_equal(own, right)


def test_threads_that_fit_at_once():
    X, y = corpus()
    with ThreadPoolExecutor(3) as pool:
        found = set(pool.map(lambda _: bits(fit(X[:100], y[:100]), X[:20]), range(6)))
    assert len(found) == 1


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from taggers.test_parallel import token_bits
print(token_bits())
"""

TOKENS = [
    [{"w": w, "n": float(len(w)), "s": ["x", w[-1]]} for w in s.split()] for s in ("Ana met Bo", "Bo left", "rain")
]
LABELS = [["B-P", "O", "B-P"], ["B-P", "O"], ["O"]]


def token_bits():
    return bits(LatentCRFTagger(random_state=0, constraints={("O", "B-P"), ("B-P", "O")}).fit(TOKENS, LABELS), TOKENS)


@pytest.mark.parametrize("seed", ["0", "12345"])
def test_another_process_with_other_hashes_gives_the_same_bits(seed):
    script = SCRIPT.format(tests=os.path.dirname(os.path.dirname(__file__)))
    environment = {**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == token_bits()


# -- copies -----------------------------------------------------------------------------------------


def by_joblib(tagger, tmp_path):
    joblib.dump(tagger, tmp_path / "tagger.joblib", compress=3)
    return joblib.load(tmp_path / "tagger.joblib")


def by_memory_map(tagger, tmp_path):
    joblib.dump(tagger, tmp_path / "tagger.joblib")
    return joblib.load(tmp_path / "tagger.joblib", mmap_mode="r")


def by_cloudpickle(tagger, tmp_path):
    cloudpickle = pytest.importorskip("cloudpickle")
    return pickle.loads(cloudpickle.dumps(tagger))


COPIES = {
    "pickle": lambda tagger, _: pickle.loads(pickle.dumps(tagger)),
    "old pickle": lambda tagger, _: pickle.loads(pickle.dumps(tagger, protocol=2)),
    "joblib": by_joblib,
    "memory map": by_memory_map,
    "cloudpickle": by_cloudpickle,
    "deepcopy": lambda tagger, _: copy.deepcopy(tagger),
}


@pytest.mark.parametrize("labels", [LABELS, [[len(v) for v in y] for y in LABELS]], ids=["str", "int"])
@pytest.mark.parametrize("how", COPIES)
def test_copies_are_bitwise(how, labels, tmp_path):
    tagger = LatentCRFTagger(random_state=0, edge_features=True).fit(TOKENS, labels)
    other = COPIES[how](tagger, tmp_path)
    assert bits(other, TOKENS) == bits(tagger, TOKENS)
    assert other.classes_.tolist() == tagger.classes_.tolist()
    assert type(other.predict(TOKENS)[0][0]) is type(labels[0][0])
    assert other.feature_names_in_.tolist() == tagger.feature_names_in_.tolist()
    assert other.get_params().keys() == tagger.get_params().keys()


PICKLED = """
import pickle, sys
sys.path.insert(0, {tests!r})
from taggers.test_parallel import TOKENS, bits
print(bits(pickle.loads(sys.stdin.buffer.read()), TOKENS))
"""


def test_a_pickle_in_a_fresh_process():
    tagger = LatentCRFTagger(random_state=0).fit(TOKENS, LABELS)
    script = PICKLED.format(tests=os.path.dirname(os.path.dirname(__file__)))
    done = subprocess.run(
        [sys.executable, "-c", script], input=pickle.dumps(tagger), capture_output=True, check=True, timeout=120
    )
    assert done.stdout.decode().strip() == bits(tagger, TOKENS)


def predict_in_child(tagger, X, queue):
    queue.put(tagger.predict(X))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_predict():
    X, y = corpus()
    tagger = fit(X, y, n_jobs=2)
    context = get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=predict_in_child, args=(tagger, X[:50], queue))
    child.start()
    assert queue.get() == tagger.predict(X[:50])
    child.join(60)
    assert child.exitcode == 0


def test_predicting_does_not_grow_the_model():
    tagger = LatentCRFTagger(random_state=0).fit(TOKENS, LABELS)
    before = len(pickle.dumps(tagger))
    X = [[{"w": f"new{i}"} for i in range(k, k + 10)] for k in range(0, 5000, 10)]
    tagger.predict(X)
    tagger.predict_marginals(X)
    tagger.predict_nbest(X[:3], 2)
    assert tagger.feature_names_in_.shape == (tagger.n_features_in_,)
    assert len(pickle.dumps(tagger)) == before


def test_a_pickle_holds_no_training_data():
    X, y = corpus()
    few = LatentCRFTagger(n_latent=1).fit(X[:10], y[:10])
    many = LatentCRFTagger(n_latent=1).fit(X[:400], y[:400])
    assert abs(len(pickle.dumps(many)) - len(pickle.dumps(few))) < 2000
    sm = SequenceMatrix(np.ones((50_000, 2)), [50_000], feature_names=["a", "b"])
    tagger = LatentCRFTagger(n_latent=1).fit(sm, [["x", "y"] * 25_000])
    assert len(pickle.dumps(tagger)) < 10_000
