# SPDX-License-Identifier: BSD-3-Clause
import io
import sys
from typing import NamedTuple

import pytest

from sklearn_latent.cli import main
from sklearn_latent.datasets import load_chunks
from sklearn_latent.io import write_conll


class Input(io.BytesIO):
    name = "<stdin>"


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def command(monkeypatch, capsysbinary):
    """Run the command in this process: arguments, and text or bytes for the standard input."""

    def run(*argv, stdin=b"") -> Done:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Input(data)))
        code = main([str(word) for word in argv])
        out, err = capsysbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return run


@pytest.fixture(scope="session")
def chunks(tmp_path_factory):
    """A folder with the small corpus shipped inside as files, and models trained on a part of it by the command."""
    folder = tmp_path_factory.mktemp("chunks")
    for subset in ("train", "test"):
        X, y = load_chunks(subset=subset, return_X_y=True)
        write_conll(folder / f"{subset}.txt", X[:60], y[:60], separator=" ")
        write_conll(folder / f"{subset}.words", [[word for word, _ in own] for own in X[:60]], y[:60])
    for source, model, n_latent in (("train.txt", "model.zip", "2"), ("train.words", "words.zip", "1")):
        options = ["-m", str(folder / model), "--n-latent", n_latent, "--quiet", "--max-iter", "15"]
        assert main(["train", str(folder / source), *options]) == 0
    return folder
