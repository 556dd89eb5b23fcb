# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent train``: the models it makes, what it refuses, and how it is stopped."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

from sklearn_latent import LatentCRFTagger, SPNCRFTagger
from sklearn_latent.cli import _grid
from sklearn_latent.cli._progress import Progress, iterations_left, stoppable
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.io import load_model, read_conll
from sklearn_latent.metrics import chunk_f1_score, chunk_f1_scorer

SHORT = "He PRP B-NP\nran VBD B-VP\n\nIt PRP B-NP\nrained VBD B-VP\n\n" * 3


@pytest.fixture
def target(tmp_path):
    return tmp_path / "model.zip"


def same(a, b):
    return all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("coef_", "transition_coef_", "start_coef_")
    )


def test_model_is_the_library_s(command, chunks, target):
    done = command("train", chunks / "train.txt", "-m", target, "--n-latent", "2", "--sigma", "0.5", "--max-iter", "12")
    X, y = read_conll(chunks / "train.txt")
    vectorizer = TemplateVectorizer("chunking")
    with pytest.warns(match="did not converge"):
        tagger = LatentCRFTagger(2, 0.5, max_iter=12, vectorizer=vectorizer, random_state=0).fit(X, y)
    assert done.code == 0 and same(load_model(target), tagger)
    n_tokens = sum(map(len, X))
    assert done.err.startswith(
        f"60 sequences, {n_tokens:,} tokens, {len(tagger.classes_)} labels\niteration 1  objective "
    )
    assert "largest gradient" in done.err and "left\n" in done.err
    assert done.err.count("warning: lbfgs did not converge in 12 iterations") == 1
    assert done.out.startswith(f"{target}: {len(tagger.classes_)} labels, {len(tagger.state_labels_)} states, ")
    assert f"12 iterations, objective {tagger.objective_:.6g}" in done.out


def test_standard_input_and_several_files(command, chunks, tmp_path):
    text = (chunks / "train.txt").read_text()
    half = text.index("\n\n", len(text) // 2) + 1
    (tmp_path / "a.txt").write_text(text[:half])
    (tmp_path / "b.txt").write_text(text[half:])
    options = ["-q", "--n-latent", "1", "--max-iter", "5"]
    assert command("train", "-m", tmp_path / "1.zip", *options, stdin=text).err.count("\n") == 1
    assert command("train", tmp_path / "a.txt", tmp_path / "b.txt", "-m", tmp_path / "2.zip", *options).code == 0
    assert command("train", tmp_path / "a.txt", "-", "-m", tmp_path / "3.zip", *options, stdin=text[half:]).code == 0
    models = [load_model(tmp_path / f"{k}.zip") for k in (1, 2, 3)]
    assert same(models[0], models[1]) and same(models[0], models[2])


def test_parameters(command, target):
    settings = ["class_weight={'B-NP': 2.0}", "edge_features=True", "decoder=bmp", "init_scale=0.2", "tol=1e-3"]
    given = [word for setting in settings for word in ("--set", setting)]
    options = [
        "--sigma",
        "inf",
        "--constraints",
        "iob2",
        "--min-df",
        "2",
        "--jobs",
        "2",
        "--seed",
        "7",
        "--max-iter",
        "50",
    ]
    done = command("train", "-q", "-m", target, *options, *given, stdin=SHORT)
    params = load_model(target).get_params()
    assert done.code == 0
    wanted = {
        "class_weight": {"B-NP": 2.0}, "edge_features": True, "decoder": "bmp", "init_scale": 0.2, "tol": 1e-3,
        "sigma": np.inf, "constraints": "iob2", "vectorizer__min_df": 2, "n_jobs": 2, "random_state": 7, "max_iter": 50,
        "callback": None,
    }  # fmt: skip
    assert {name: params[name] for name in wanted} == wanted


def test_spn(command, target):
    settings = ["n_layers=0", "order=2", "factors=((1, 1), (1, 2))", "max_iter=4"]
    given = [word for setting in settings for word in ("--set", setting)]
    assert command("train", "-q", "--tagger", "spn", "-m", target, *given, stdin=SHORT).code == 0
    tagger = load_model(target)
    assert type(tagger) is SPNCRFTagger and tagger.order == 2 and tagger.factors == ((1, 1), (1, 2))


# -- templates -------------------------------------------------------------------------------------


def test_template_file_of_crfpp(command, target, tmp_path):
    template = "# comment\nU00:%x[-1,0]\nU01:%x[0,0]/%x[0,1]\n\nB\nB01:%x[0,1]\n"
    (tmp_path / "template").write_text(template)
    assert command("train", "-q", "-m", target, "-t", tmp_path / "template", stdin=SHORT).code == 0
    tagger = load_model(target)
    names = tagger.feature_names_in_.tolist()
    assert "U01:He/PRP" in names and "U00:_B-1" in names
    assert [names[k] for k in tagger.edge_features_] == [name for name in names if name.startswith("B01")]
    # The file is needed no more.
    (tmp_path / "template").unlink()
    assert command("tag", "-m", target, stdin="He PRP\nran VBD\n").out == "He PRP B-NP\nran VBD B-VP\n"


@pytest.mark.parametrize(
    ("options", "width", "templates"),
    [
        ([], 2, "chunking"), ([], 1, "np-chunking"), (["-t", "bio-ner"], 2, None), (["-t", "np-chunking"], 3, None),
        (["-t", "U:%x[0,0]"], 1, None), (["--columns", "a,b"], 3, None), (["-t", "U:%x[0,2]"], 3, None),
    ],
)  # fmt: skip
def test_templates(command, target, options, width, templates):
    text = "".join(" ".join([*(f"w{k}" for k in range(width)), label]) + "\n" for label in ("B-NP", "O")) * 3
    assert command("train", "-q", "-m", target, "--n-latent", "1", *options, stdin=text).code == 0
    vectorizer = load_model(target).vectorizer
    assert vectorizer.templates == (templates or (options[1] if "-t" in options else "chunking"))
    assert vectorizer.columns == (["a", "b"] if "--columns" in options else ["word", "pos", "column2"][:width])


# -- choosing --------------------------------------------------------------------------------------


def table(text):
    """Rows of the table of scores: mark, sigma and latent states or one of them, mean, deviation."""
    return [line.split() for line in text.split("\n")[1:] if re.fullmatch(r"[* ] [-.\d ]+", line)]


def test_cross_validation(command, chunks, target):
    options = ["--cv", "3", "--sigma", "0.1,1", "--n-latent", "1,2", "--max-iter", "8"]
    done = command("train", "-q", chunks / "train.txt", "-m", target, *options)
    X, y = read_conll(chunks / "train.txt")
    wanted = {}
    for n_latent in (1, 2):
        for sigma in (0.1, 1.0):
            tagger = LatentCRFTagger(
                n_latent, sigma, max_iter=8, vectorizer=TemplateVectorizer("chunking"), random_state=0
            )
            with pytest.warns(match="did not converge"):
                wanted[n_latent, sigma] = cross_val_score(tagger, X, y, cv=KFold(3), scoring=chunk_f1_scorer)
    rows = [row[-5:] for row in table(done.out)]
    assert [(int(row[0]), float(row[1])) for row in rows] == list(wanted)
    for row, scores in zip(rows, wanted.values(), strict=True):
        assert row[2:4] == [f"{100 * scores.mean():.2f}", f"{100 * scores.std():.2f}"]
    best = max(wanted, key=lambda key: wanted[key].mean())
    tagger = load_model(target)
    assert (tagger.n_latent, tagger.sigma) == best
    [starred] = [line for line in done.out.split("\n") if line.startswith("*")]
    assert starred.split()[1:3] == [str(value) for value in best]
    # One warning for all of the fits.
    assert done.err.count("warning") == 1 and "(and 12 more of this kind)" in done.err


def test_folds_keep_documents_whole():
    splits = _grid.cross_validation_splits(2, [0, 0, 0, 1, 1, 2])
    order = np.arange(6)
    assert [tuple(map(list, own)) for own in splits] == [
        tuple(map(list, own)) for own in GroupKFold(2).split(order, groups=[0, 0, 0, 1, 1, 2])
    ]
    assert [list(test) for _, test in _grid.cross_validation_splits(3, [0] * 6)] == [[0, 1], [2, 3], [4, 5]]


def test_development_file(command, chunks, target):
    options = ["--dev", chunks / "test.txt", "--sigma", "0.05,1", "--n-latent", "1", "--max-iter", "8"]
    done = command("train", "-q", chunks / "train.txt", "-m", target, *options)
    tagger = load_model(target)
    X, y = read_conll(chunks / "test.txt")
    f1 = chunk_f1_score(y, tagger.predict(X))
    [starred] = [line for line in done.out.split("\n") if line.startswith("*")]
    assert starred.split()[1:3] == [str(tagger.sigma), f"{100 * f1:.2f}"]
    assert f"{chunks / 'test.txt'}:\nprocessed" in done.out and f"FB1: {100 * f1:6.2f}\n" in done.out


def test_development_file_of_another_width(command, target, tmp_path):
    (tmp_path / "dev.txt").write_text("He B-NP\n")
    done = command("train", "-q", "-m", target, "--dev", tmp_path / "dev.txt", stdin=SHORT)
    assert done.code == 1 and "dev.txt: 1 columns beside the label, but training has 2" in done.err


def test_labels_that_are_no_chunks(command, target, tmp_path):
    (tmp_path / "tags.txt").write_text("He PRP\nran VBD\n\nIt PRP\nrained VBD\n\n" * 4)
    options = ["--cv", "2", "--sigma", "1,2", "--n-latent", "1", "--dev", tmp_path / "tags.txt"]
    done = command("train", "-q", tmp_path / "tags.txt", "-m", target, *options)
    assert done.code == 0 and "accuracy" in done.out and "100.00" in done.out and "FB1" not in done.out


# -- refusals --------------------------------------------------------------------------------------


def test_a_model_is_not_overwritten(command, target):
    target.write_text("precious")
    done = command("train", "-m", target, stdin=SHORT)
    assert done.code == 2 and "--force" in done.err and target.read_text() == "precious"
    # An error leaves it, too.
    assert command("train", "-m", target, "--force", stdin="a b\nc\n").code == 1
    assert target.read_text() == "precious"
    assert command("train", "-q", "-m", target, "--force", stdin=SHORT).code == 0
    assert load_model(target).n_iter_ > 0


@pytest.mark.parametrize(
    "options",
    [
        ["--sigma", "0"], ["--sigma", "1,2"], ["--sigma", "x"], ["--n-latent", "0"], ["--n-latent", "1,1", "--cv", "2"],
        ["--n-latent", "1.5"], ["--set", "nosuch=1"], ["--set", "callback=print"], ["--set", "vectorizer=None"],
        ["--sigma", "1", "--set", "sigma=2"], ["--set", "max_iter=-1"], ["--set", "solver=best"], ["--cv", "1"],
        ["--template", "nosuch"], ["--columns", "a,,b"], ["--columns", "a,b,c"], ["--set", "warm_start=True"],
        ["--tagger", "spn", "--set", "edge_features=True"], ["--set", "sigma=" + "(" * 999],
        ["--set", "class_weight={'B-NP': 'x'}"], ["--set", "n_latent={'B-NP': 0}"], ["--set", "constraints=[1]"],
        ["--set", "edge_features=['nosuch']"], ["--set", "random_state=1"],
        ["--n-latent", "10000000"], ["-m", "nosuch/model.zip"], ["-m", "."],
    ],
    ids=str,
)  # fmt: skip
def test_wrong_options(command, target, options):
    done = command("train", "-q", "-m", target, *options, stdin=SHORT)
    assert done.code == 2 and done.out == "" and done.err and not target.exists()


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", [], "<stdin>: no token"), ("\n\n", [], "<stdin>: no token"),
        ("He\nran\n", [], "line 1: a single column, which leaves no token beside the label: 'He'"),
        ("He PRP B-NP\nran VBD\n", [], "line 2: 2 columns, but line 1 has 3: 'ran VBD'"),
        ("He\tB-NP\nran\t\n", [], "line 2: the label is empty"),
        ("a b O\n\n\nc d O\ne f I-NP\n", ["--constraints", "iob2"], "line 5: true labels: 'I-NP' can't begin a chunk"),
        ("a b O\n\nc d E-X\n", ["--constraints", "iob2"], "line 3: true labels: label 'E-X' has a prefix"),
        ("a b O\n", ["--label", "7"], "line 1: no column 7, there are 3: 'a b O'"),
        ("a b O\n", ["-t", "U:%x[0,5]"], "reads column 5, but there are 2"),
        ("a O\n", ["-t", "chunking"], "has no 'pos'"),
        ("a b O\n", ["--cv", "2"], "Cannot have number of splits"),
    ],
)  # fmt: skip
def test_input_at_fault(command, target, text, options, message):
    done = command("train", "-q", "-m", target, *options, stdin=text)
    assert done.code == 1 and message in done.err and "comments=" not in done.err and not target.exists()


def test_files_of_different_widths_and_a_bad_template(command, target, tmp_path):
    (tmp_path / "a.txt").write_text("\nHe PRP B-NP\n")
    (tmp_path / "b.txt").write_text("# x\n\nHe B-NP\n")
    done = command("train", "--comments", "-m", target, tmp_path / "a.txt", tmp_path / "b.txt")
    assert (
        done.code == 1 and f"b.txt, line 3: 2 columns, but line 2 of {tmp_path / 'a.txt'} has 3: 'He B-NP'" in done.err
    )
    (tmp_path / "template").write_text("U00:%x[0,0]\nX:%x[0,0]\n")
    done = command("train", "-m", target, "-t", tmp_path / "template", tmp_path / "a.txt")
    assert done.code == 1 and "line 2" in done.err and "'X:%x[0,0]'" in done.err


# -- progress, and its end -------------------------------------------------------------------------


def test_iterations_left():
    curve = [100.0 + 50 * 0.8**k for k in range(40)]
    left, estimated = iterations_left(curve, 1e-5, 460)
    falls = [(100.0 + 50 * 0.8 ** (k - 10) - (100.0 + 50 * 0.8**k)) / (100.0 + 50 * 0.8**k) for k in range(39, 200)]
    true = next(k for k, fall in enumerate(falls) if fall < 1e-5)
    assert estimated and abs(left - true) <= 2
    assert iterations_left(curve, 1e-5, 3) == (3, True)
    assert iterations_left(curve, 1.0, 460) == (0, True)
    assert iterations_left(curve[:20], 1e-5, 480) == (480, False)
    assert iterations_left(curve, 0.0, 460) == (460, False)
    assert iterations_left([1.0] * 30, 1e-5, 470) == (470, False)
    assert iterations_left([0.0] * 30, 1e-5, 470) == (470, False)


@pytest.mark.skipif(os.name == "nt", reason="signals of processes")
def test_interrupted_training_keeps_the_model(chunks, target):
    options = ["--set", "tol=0", "--max-iter", "1000000", "--n-latent", "2"]
    call = [sys.executable, "-m", "sklearn_latent", "train", chunks / "train.txt", "-m", target, *options]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith("iteration 3"):
                break
        process.send_signal(signal.SIGINT)
        err = process.stderr.read()
        out = process.stdout.read()
    assert process.returncode == 130
    assert "stopping after this iteration" in err and "Traceback" not in err
    tagger = load_model(target)
    assert tagger.n_iter_ >= 3 and not tagger.converged_
    assert f"holds the best model so far, after {tagger.n_iter_} iterations" in err and out.startswith(f"{target}: ")
    assert tagger.loss_curve_[-1] == min(tagger.loss_curve_)


def test_the_second_interrupt_is_one(capfd):
    before = signal.getsignal(signal.SIGINT)
    progress = Progress(LatentCRFTagger(), quiet=True)
    with pytest.raises(KeyboardInterrupt), stoppable(progress):
        signal.raise_signal(signal.SIGINT)
        assert progress.stop
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert "Ctrl-C again" in capfd.readouterr().err


def test_interrupted_choice(command, chunks, target, monkeypatch):
    import sklearn.model_selection

    calls = []

    def interrupted(*args, **kwargs):
        calls.append(args)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return np.array([0.5])

    monkeypatch.setattr(sklearn.model_selection, "cross_val_score", interrupted)
    done = command("train", "-q", chunks / "train.txt", "-m", target, "--cv", "3", "--sigma", "1,2")
    assert done.code == 130 and "no model has been trained" in done.err and not target.exists()
    assert [row[1:3] for row in table(done.out)] == [["1.0", "50.00"]]


def test_progress_on_a_terminal(chunks, target):
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    call = [sys.executable, "-m", "sklearn_latent", "train", chunks / "train.txt", "-m", target, "--max-iter", "15"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=follower) as process:
        os.close(follower)
        shown = b""
        try:
            while piece := os.read(leader, 1024):
                shown += piece
        except OSError:  # the end of a terminal
            pass
        os.close(leader)
    assert process.wait() == 0
    assert b"\riteration 1  objective" in shown and b"left" in shown
