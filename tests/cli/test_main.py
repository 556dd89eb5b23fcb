# SPDX-License-Identifier: BSD-3-Clause
"""What all commands share: help, completion, refusals, missing extras, pipes."""

import os
import subprocess
import sys

import pytest

import sklearn_latent

COMMANDS = ["completion", "demo", "evaluate", "inspect", "tag", "train"]


def python(program, *, env=None, **options):
    environment = {**os.environ, **(env or {})}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, **options
    )


def test_version(command):
    assert command("--version") == (0, f"sklearn-latent {sklearn_latent.__version__}\n", "")


def test_help(command):
    done = command("--help")
    assert done.code == 0 and done.err == "" and "Examples:" in done.out and "Exit codes: 0 done" in done.out
    listed = done.out.partition("Commands:\n")[2].split("\n\n")[0]
    assert [line.split()[0] for line in listed.splitlines()] == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_has_an_example(command, name):
    done = command(name, "--help")
    assert done.code == 0 and done.err == ""
    assert f"sklearn-latent {name}" in done.out.lower().partition("example")[2]


@pytest.mark.parametrize(
    "call",
    [
        [], ["nosuch"], ["train"], ["tag"], ["inspect"], ["tag", "-m", "nosuch.zip"], ["evaluate", "nosuch.txt"],
        ["evaluate", "--scheme", "xyz"], ["completion", "tcsh"], ["demo", "--seed", "-1"], ["demo", "--seed", "x"],
        ["demo", "word"],
    ],
)  # fmt: skip
def test_wrong_call(command, call):
    done = command(*call)
    assert done.code == 2 and done.out == "" and "sklearn-latent" in done.err


def test_help_and_completion_wait_for_no_numbers():
    program = """if True:
        import sys
        from sklearn_latent.cli import main
        for argv in (["--help"], ["train", "--help"], ["tag"], ["completion", "zsh"]):
            main(argv)
        print(*{"numpy", "scipy", "sklearn", "tqdm"} & set(sys.modules))
    """
    assert python(program).stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("missing", ["click", "tqdm"])
def test_without_the_extra(missing):
    program = f"import sys; sys.modules[{missing!r}] = None; from sklearn_latent.cli import main; sys.exit(main({{}}))"
    done = python(program.format(["tag", "--help"]))
    assert done.returncode == 2 and done.stdout == ""
    assert f"need {missing}" in done.stderr and "pip install 'sklearn-latent[cli]'" in done.stderr
    assert python(program.format(["--version"])).stdout.startswith("sklearn-latent ")
    done = python(program.format(["demo", "--text", " "]))
    assert done.returncode == 1 and "holds no word" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(command, shell):
    done = command("completion", shell)
    assert done.code == 0 and f"_SKLEARN_LATENT_COMPLETE={shell}_complete" in done.out


@pytest.mark.parametrize(
    ("words", "found"), [("sklearn-latent ta", ["tag"]), ("sklearn-latent tag --deco", ["--decoder"]),
                         ("sklearn-latent train --solver a", ["adam", "adf"])],
)  # fmt: skip
def test_completion_of_words(words, found):
    env = {
        "_SKLEARN_LATENT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = python("import sys; from sklearn_latent.cli import main; sys.exit(main([]))", env=env)
    assert done.stderr == "" and [line.partition(",")[2] for line in done.stdout.splitlines()] == found


def test_a_damaged_model(command, chunks, tmp_path):
    path = tmp_path / "model.zip"
    path.write_bytes((chunks / "model.zip").read_bytes()[:-100])
    done = command("inspect", "-m", path)
    assert done.code == 1 and done.out == "" and str(path) in done.err and "Traceback" not in done.err


@pytest.mark.parametrize("argv", [["tag", "-m", "{0}/model.zip", "{0}/many.txt"], ["inspect", "-m", "{0}/model.zip"]])
def test_reader_that_goes_away(chunks, argv):
    many = chunks / "many.txt"
    many.write_text((chunks / "test.txt").read_text() * 50)
    call = [sys.executable, "-m", "sklearn_latent", *(word.format(chunks) for word in argv)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
