# SPDX-License-Identifier: BSD-3-Clause
"""Lines of text from whatever a user calls a file."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator

__all__ = ["line_blocks", "line_text", "source_name", "text_lines"]

_GZIP_MAGIC = b"\x1f\x8b"
_MARK = "\ufeff".encode()
_BLOCK_BYTES = 1 << 16  # lines and what they stand for stay in the cache of the processor
_BATCH_LINES = 4096


def source_name(source) -> str:
    """What to call a source in messages."""
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


@contextlib.contextmanager
def line_blocks(source) -> Iterator[Iterator[tuple[int, list]]]:
    r"""Lines of a path or an open file, many at a time: the number of the first one and the lines as they stand there.

    Lines end in ``\n``, which is not part of them; `line_text` does the rest, for a reader that may meet the same line
    many times and looks at it once. Bytes are decompressed if they start as gzip does, and a byte order mark at the
    start is taken off. Only what was opened here is closed.

    Raises
    ------
    ValueError
        On a broken gzip stream, or text that the file itself can't decode, naming file and line; lines before it have
        been given by then.
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


@contextlib.contextmanager
def text_lines(source) -> Iterator[Iterator[tuple[int, str]]]:
    """Number and text of each line of a path or an open file (see `line_blocks` and `line_text`)."""
    name = source_name(source)
    with line_blocks(source) as blocks:
        yield ((k, line_text(line, name, k)) for n, lines in blocks for k, line in enumerate(lines, start=n))


def line_text(line: bytes | str, name: str, n: int) -> str:
    r"""Text of line `n` of the file `name`: UTF-8, without the ``\r`` that may stand before its end.

    Raises
    ------
    ValueError
        On invalid UTF-8 or a carriage return inside the line, naming file and line.
    """
    if isinstance(line, bytes):
        try:
            line = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}, line {n}: not valid UTF-8 ({error.reason}): {line[:200]!r}") from None
    line = line.rstrip("\r\n")
    if "\r" in line:
        raise ValueError(f"{name}, line {n}: a carriage return inside the line: {line!r}")
    return line


def _numbered(file, name: str, stack: contextlib.ExitStack) -> Iterator[tuple[int, list]]:
    n = 0
    try:
        for lines in _raw_blocks(file, stack):
            if n == 0:
                lines[0] = lines[0].removeprefix(_MARK if isinstance(lines[0], bytes) else "\ufeff")
            yield n + 1, lines
            n += len(lines)
    except UnicodeDecodeError as error:  # of a file opened as text: it decodes ahead, so the line is a bound
        raise ValueError(f"{name}, line {n + 1} or later: not valid {error.encoding} ({error.reason})") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{name}, after line {n}: the gzip stream is cut short or damaged ({error})") from None


def _raw_blocks(file, stack: contextlib.ExitStack) -> Iterator[list]:
    """Lists of lines, bytes or str, none empty."""
    if isinstance(file.read(0), str):
        yield from _batches(file if isinstance(file, io.TextIOBase) else _split_text(file))
        return
    head = file.read(2)
    unread: io.BufferedReader | gzip.GzipFile = io.BufferedReader(_Prefixed(head, file))
    if head == _GZIP_MAGIC:
        unread = stack.enter_context(gzip.GzipFile(fileobj=unread))
    rest = []  # pieces of the line that the last block broke off in
    while data := unread.read1(_BLOCK_BYTES):  # not `read`: it would lose what comes before a damaged place
        *lines, last = data.split(b"\n")
        if lines:
            lines[0] = b"".join([*rest, lines[0]])
            rest = []
            yield lines
        rest.append(last)
    if last := b"".join(rest):
        yield [last]


def _batches(lines: Iterable[str]) -> Iterator[list[str]]:
    """Lines in lists; those before an error come before it."""
    batch = []
    try:
        for line in lines:
            batch.append(line)
            if len(batch) == _BATCH_LINES:
                yield batch
                batch = []
    except UnicodeDecodeError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


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
        # `read` of a buffered pipe waits until all is there that was asked for.
        self._read = getattr(file, "read1", file.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        data = self._head or self._read(len(buffer)) or b""
        self._head = b""
        buffer[: len(data)] = data
        return len(data)
