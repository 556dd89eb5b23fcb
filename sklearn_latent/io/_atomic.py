# SPDX-License-Identifier: BSD-3-Clause
"""Writing a file so that a reader sees the old one or the new one, and never a part."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO

__all__ = ["atomic_write"]


@contextlib.contextmanager
def atomic_write(path) -> Iterator[BinaryIO]:
    """Binary file that takes the place of `path` when the block ends without an exception.

    It is written under a hidden name in the same folder (a rename across file systems would not be atomic), synced
    to the disk and renamed. On failure it is removed and `path` stays as it was; a killed process can leave the
    hidden file behind, but never a part of one under `path`. An existing file's permissions are kept, and a symbolic
    link keeps pointing to the file that is replaced.

    Raises
    ------
    OSError
        If the folder can't be written, or `path` is there and is no regular file or may not be written.
    """
    target = os.path.realpath(os.fsdecode(path))
    mode = None
    if os.path.exists(target):
        mode = os.stat(target).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(f"{target!r} is there and is not a regular file")
        if not os.access(target, os.W_OK):
            raise PermissionError(f"{target!r} may not be written")
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".{secrets.token_hex(8)}.tmp")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)  # less the umask, as open() does
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Make the rename itself last; where folders can't be synced (Windows, some network disks) it lasts anyway."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
