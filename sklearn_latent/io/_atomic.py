# SPDX-License-Identifier: BSD-3-Clause
"""Files that are replaced whole or not at all."""

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
    """Binary file that takes the place of `path` when the block ends, and leaves no trace if it raises.

    What is written goes to a new file in the same folder, since only within one file system a rename is
    atomic. A process that is killed leaves the old file whole, and at worst a hidden ``.<name>.<hex>.tmp``
    beside it. The permissions of an old file are kept; a new one has those that `open` would give it. A
    symbolic link stays one, the file it leads to is replaced. What is not a regular file (a pipe, a
    terminal) can't be replaced and is written to as it is.

    Parameters
    ----------
    path : str or path-like
        File to create or replace; its folder exists.

    Yields
    ------
    file object
        Open for reading and writing, and seekable, if `path` is new or a regular file; it must be left open.

    Raises
    ------
    OSError
        If the file can't be written, for instance since `path` is a folder.
    """
    path = os.fsdecode(path)
    mode = _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path!r} is a folder, not a file")
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            yield file
        return
    if mode is not None and not os.access(path, os.W_OK):  # a rename would not ask
        raise PermissionError(f"{path!r} may not be written")
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    # the end of a long name is what has to go: the temporary one must fit too
    temporary = os.path.join(folder, f".{name[:80]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "x+b") as file:
            yield file
            file.flush()
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            error.filename = path  # what the caller asked for
        raise
    _sync_folder(folder)


def _mode(path: str) -> int | None:
    """Type and permissions of a file, None if there is none."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _sync_folder(folder: str) -> None:
    """Make a rename last through a power failure, where the system lets folders be synced."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
