# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib
import signal
import stat
import subprocess
import sys
import zipfile

import pytest

from sklearn_latent.io import _atomic
from sklearn_latent.io._atomic import atomic_write

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX permissions, links and signals")


def names(folder):
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("form", [pathlib.Path, str, os.fsencode])
def test_new_and_replaced(tmp_path, form):
    path = tmp_path / "a.bin"
    for content in (b"one", b"", b"two" * 10_000):
        with atomic_write(form(path)) as file:
            file.write(content)
            assert len(names(tmp_path)) == 1 + path.exists()
        assert path.read_bytes() == content
        assert names(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("old", [b"old", None])
def test_failure_leaves_what_was_there(tmp_path, error, old):
    path = tmp_path / "a.bin"
    if old is not None:
        path.write_bytes(old)
    with pytest.raises(error), atomic_write(path) as file:
        file.write(b"new")
        raise error
    assert names(tmp_path) == ([] if old is None else ["a.bin"])
    assert old is None or path.read_bytes() == old


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o755])
def test_permissions_are_kept(tmp_path, mode):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_write(path) as file:
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_a_new_file_has_ordinary_permissions(tmp_path):
    (tmp_path / "plain").touch()
    with atomic_write(tmp_path / "a.bin"):
        pass
    assert (tmp_path / "a.bin").stat().st_mode == (tmp_path / "plain").stat().st_mode


@posix
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    real = tmp_path / "there" / "real.bin"
    link = tmp_path / "link.bin"
    link.symlink_to(real)
    for content in (b"one", b"two"):  # first it leads nowhere
        with atomic_write(link) as file:
            file.write(content)
        assert link.is_symlink() and real.read_bytes() == content


def test_seekable(tmp_path):
    with atomic_write(tmp_path / "a.zip") as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a", b"content")
        file.seek(0)
        assert file.read(2) == b"PK"
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.read("a") == b"content"


def test_what_cannot_be_written_is_named(tmp_path):
    with pytest.raises(IsADirectoryError, match="folder"), atomic_write(tmp_path):
        pass
    path = tmp_path / "no" / "a.bin"
    with pytest.raises(FileNotFoundError) as info, atomic_write(path):
        pass
    assert info.value.filename == str(path)
    long = tmp_path / ("x" * 200)
    with atomic_write(long) as file:
        file.write(b"x")
    assert long.read_bytes() == b"x"


def run(code, *args):
    """Run code in a process that has the one module, not the whole package, which takes a while to import."""
    head = f"import os, runpy, signal, sys\natomic_write = runpy.run_path({_atomic.__file__!r})['atomic_write']\n"
    return subprocess.run([sys.executable, "-c", head + code, *map(str, args)], capture_output=True)


@posix
def test_pipe():
    done = run("with atomic_write('/dev/stdout') as f: f.write(b'x')")
    assert (done.returncode, done.stdout) == (0, b"x")


@posix
def test_a_killed_process_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    code = (
        "with atomic_write(sys.argv[1]) as f: f.write(b'new' * 10**6); f.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert run(code, path).returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2  # it was killed in the midst of writing
