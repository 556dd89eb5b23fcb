# SPDX-License-Identifier: BSD-3-Clause
"""G18 and G19: no temporary files, round trips."""

import copy
import io
import os
import pickle
import stat
import subprocess
import sys
import zipfile

import cloudpickle
import joblib
import numpy as np
import pytest

from cases.helpers import assert_same_marginals
from sklearn_latent.feature_extraction import SequenceDictVectorizer
from sklearn_latent.io import load_model, save_model

NO_FILES = """
import os, pickle, sys
import sklearn_latent
cls = getattr(sklearn_latent, sys.argv[2])
T = [["Ana", "met", "Bo"], ["Bo", "left"], ["rain"]]
X = [[{"w": t} for t in s] for s in T]
Y = [["B-PER", "O", "B-PER"], ["B-PER", "O"], ["O"]]
before = sorted(os.listdir(sys.argv[1]))
for _ in range(50):
    tagger = pickle.loads(pickle.dumps(cls(random_state=0, n_jobs=2, solver="lbfgs", max_iter=40, tol=1e-2).fit(X, Y)))
    tagger.predict(X)
assert sorted(os.listdir(sys.argv[1])) == before
print(tagger.predict(X))
"""


@pytest.mark.parametrize("read_only", [False, True])
def test_g18_no_temporary_files(tagger, toy, tmp_path, read_only):
    if read_only:
        tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    environment = {**os.environ, "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", NO_FILES, str(tmp_path), tagger.cls.__name__], env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    tmp_path.chmod(stat.S_IRWXU)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == repr(toy.Y[:3])


LOAD = """
import pickle, sys
from sklearn_latent.io import load_model
X, found, marginals = pickle.load(open(sys.argv[1], "rb"))
for tagger in (pickle.load(open(sys.argv[2], "rb")), load_model(sys.argv[3])):
    assert tagger.predict(X) == found
    assert all(a.tobytes() == b.tobytes() for a, b in zip(tagger.predict_marginals(X), marginals))
    print(type(tagger.predict(X)[0][0]).__name__, tagger.classes_.tolist())
"""


@pytest.mark.parametrize("kind", ["str", "int", "bool"])
def test_g19_round_trips(tagger, toy, tmp_path, kind):
    names = {"str": ("O", "B-PER"), "int": (7, 3), "bool": (False, True)}[kind]
    y = [[names[label != "O"] for label in labels] for labels in toy.Y]
    est = tagger().fit(toy.X, y)
    found, marginals = est.predict(toy.X), est.predict_marginals(toy.X)
    packed = io.BytesIO()
    joblib.dump(est, packed, compress=True)
    packed.seek(0)
    save_model(est, tmp_path / "model.zip")
    copies = [
        pickle.loads(pickle.dumps(est)), pickle.loads(cloudpickle.dumps(est)), copy.deepcopy(est), joblib.load(packed),
        load_model(tmp_path / "model.zip"), load_model(tmp_path / "model.zip", mmap_mode="r"),
    ]  # fmt: skip
    for other in copies:
        assert other.predict(toy.X) == found
        assert_same_marginals(other, est, toy.X)
        assert other.classes_.dtype == est.classes_.dtype
        assert {type(label) for labels in other.predict(toy.X) for label in labels} == {type(names[0])}
    (tmp_path / "data").write_bytes(pickle.dumps((toy.X, found, marginals)))
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(est))
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *(str(tmp_path / name) for name in ("data", "model.pickle", "model.zip"))],
        env={**os.environ, "PYTHONHASHSEED": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{kind} {est.classes_.tolist()}"] * 2


def test_g19_a_file_of_a_later_version(tagger, toy, tmp_path):
    path = tmp_path / "model.zip"
    save_model(tagger().fit(toy.X, toy.Y), path)
    whole = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        head = archive.read("format.json")
        names = archive.namelist()
        parts = {name: archive.read(name) for name in names}
    assert b'"version":1' in head
    from sklearn_latent.io._archive import write_archive

    later = io.BytesIO()
    parts["format.json"] = head.replace(b'"version":1', b'"version":2')
    write_archive(later, [(name, [parts[name]]) for name in names])
    path.write_bytes(later.getvalue())
    with pytest.raises(ValueError, match=r"later version of the format, 2"):
        load_model(path)


def test_g19_vectorizers(toy, tmp_path):
    vectorizer = SequenceDictVectorizer().fit(toy.X)
    expected = vectorizer.transform(toy.X).values.toarray()
    save_model(vectorizer, tmp_path / "v.zip")
    for other in (pickle.loads(pickle.dumps(vectorizer)), copy.deepcopy(vectorizer), load_model(tmp_path / "v.zip")):
        assert np.array_equal(other.transform(toy.X).values.toarray(), expected)
