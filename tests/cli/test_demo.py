# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sklearn_latent.cli import main, tokenize
from sklearn_latent.cli._demo import bracketed


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \t\n", []),
        ("Stop", ["Stop"]),
        ("?!...--", ["?", "!", "...", "--"]),
        ('"Yes," he said.', ["``", "Yes", ",", "''", "he", "said", "."]),
        ("They can't; Ann's won't.", ["They", "ca", "n't", ";", "Ann", "'s", "wo", "n't", "."]),
        ("The U.S. paid $1,300.50 at 10:30", ["The", "U.S.", "paid", "$", "1,300.50", "at", "10:30"]),
        ("naïve Zoë lives in München 東京", ["naïve", "Zoë", "lives", "in", "München", "東京"]),
        ("a well-known man", ["a", "well-known", "man"]),
    ],
)
def test_tokenize(text, tokens):
    assert tokenize(text) == tokens


def test_bracketed():
    assert bracketed(["He", "ran", "home", "."], ["B-NP", "B-VP", "I-VP", "O"]) == "[NP He] [VP ran home] ."


def test_text_without_a_word_is_refused_before_the_work(capsys):
    assert main(["demo", "--text", " "]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "holds no word" in err


def test_demo(capsys):
    assert main(["demo", "--text", "Zoë's café — isn't it \"open\"? " + "The old man saw the dog and " * 50]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for shown in ("368 sentences", "ldi_exact", "ldi_approx", "bhp", "bmp", "mbr", "Your sentence", "Zoë", "done in"):
        assert shown in out


def test_terminal_that_lacks_letters():
    code = "from sklearn_latent.cli import _demo, main; _demo._demo = lambda args: _demo._say(args.text) or 0; main()"
    call = [sys.executable, "-c", code, "demo", "--text", "Zoë"]
    done = subprocess.run(call, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=True)
    assert done.stdout.startswith(b"Zo?") and done.stderr == b""


def test_reader_that_goes_away():
    command = [sys.executable, "-m", "sklearn_latent", "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
