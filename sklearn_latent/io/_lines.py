# SPDX-License-Identifier: BSD-3-Clause
"""Lines of text from whatever a user calls a file."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import zlib
from collections.abc import Iterator

__all__ = ["source_name", "text_lines"]

_GZIP_MAGIC = b"\x1f\x8b"


def source_name(source) -> str:
    """What to call a source in messages."""
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


@contextlib.contextmanager
def text_lines(source) -> Iterator[Iterator[tuple[int, str]]]:
    r"""Number and text of each line of a path or an open file, read as it is asked for.

    Lines end in ``\n`` or ``\r\n``, nothing else; the end is not part of the text. Bytes are UTF-8,
    with or without a byte order mark, and are decompressed if they start as gzip does. Only what was
    opened here is closed.

    Raises
    ------
    ValueError
        On invalid UTF-8, a broken gzip stream or a carriage return inside a line, naming file and line.
    TypeError
        If `source` is neither a path nor an open file.
    """
    with contextlib.ExitStack() as stack:
        if isinstance(source, (str, os.PathLike)):
            if isinstance(source, str) and "\n" in source:
                raise ValueError("source is read as a path, but it holds a line end: wrap text in io.StringIO(text)")
            file = stack.enter_context(open(source, "rb"))
        elif hasattr(source, "read"):
            file = source
        else:
            raise TypeError(f"source must be a path or an open file, got {type(source).__name__}")
        yield _numbered(file, source_name(source), stack)


def _numbered(file, name: str, stack: contextlib.ExitStack) -> Iterator[tuple[int, str]]:
    n = 0
    try:
        for line in _raw_lines(file, stack):
            n += 1
            if isinstance(line, bytes):
                try:
                    line = line.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise ValueError(f"{name}, line {n}: not valid UTF-8 ({error.reason}): {line[:200]!r}") from None
            if n == 1:
                line = line.removeprefix("\ufeff")
            line = line.rstrip("\r\n")
            if "\r" in line:
                raise ValueError(f"{name}, line {n}: a carriage return inside the line: {line!r}")
            yield n, line
    except UnicodeDecodeError as error:  # of a file opened as text: it decodes ahead, so the line is a bound
        raise ValueError(f"{name}, line {n + 1} or later: not valid {error.encoding} ({error.reason})") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{name}, after line {n}: the gzip stream is cut short or damaged ({error})") from None


def _raw_lines(file, stack: contextlib.ExitStack) -> Iterator[str | bytes]:
    if isinstance(file.read(0), str):
        yield from file if isinstance(file, io.TextIOBase) else _split_text(file)
        return
    head = file.read(2)
    unread = io.BufferedReader(_Prefixed(head, file))
    if head == _GZIP_MAGIC:
        unread = stack.enter_context(gzip.GzipFile(fileobj=unread))
    yield from unread


def _split_text(file) -> Iterator[str]:
    """Lines of a text stream whose own notion of a line may be wider (that of `codecs` is)."""
    rest = ""
    while text := file.read(1 << 16):
        *whole, rest = (rest + text).split("\n")
        yield from whole
    if rest:
        yield rest


class _Prefixed(io.RawIOBase):
    """A binary stream with the bytes already taken from it in front; closing it leaves the stream open."""

    def __init__(self, head: bytes, file):
        self._head = head
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        data = self._head or self._file.read(len(buffer)) or b""
        self._head = b""
        buffer[: len(data)] = data
        return len(data)
