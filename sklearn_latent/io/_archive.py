# SPDX-License-Identifier: BSD-3-Clause
"""The container of a model file: a zip of stored members, each starting at a multiple of 64 bytes.

Names, sizes and CRCs of the members determine every other byte of the file (`_local`, `_tail`). Reading takes these
three from the zip's directory, writes the headers, padding and directory anew, and compares: what isn't covered by a
CRC is covered by that comparison, so no byte of a file can change unnoticed.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

__all__ = ["ALIGNMENT", "Archive", "ArchiveError", "write_archive"]

ALIGNMENT = 64
#: From here on sizes and places need the fields of zip64 (tests make it small).
ZIP64_FROM = 0xFFFFFFFF
_FULL32 = 0xFFFFFFFF

_LOCAL = struct.Struct("<4s5H3I2H")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_DATE = 0x21  # 1980-01-01, so that equal models are equal files
_PADDING_ID = 0xD935  # the extra field that zipalign pads with
_PIECE = 1 << 24


class ArchiveError(ValueError):
    """The file is not what `write_archive` wrote; the message goes on after the file's name."""


@dataclass(frozen=True)
class _Member:
    name: str
    size: int
    crc: int


# -- the bytes that follow from names, sizes and CRCs ----------------------------------------------


def _version(large: bool) -> int:
    return 45 if large else 20


def _local(member: _Member, offset: int) -> bytes:
    """Local header of a member at `offset`, padded so that its data are aligned."""
    large = member.size >= ZIP64_FROM
    name = member.name.encode("ascii")
    extra = struct.pack("<2H2Q", 1, 16, member.size, member.size) if large else b""
    padding = -(offset + _LOCAL.size + len(name) + len(extra) + 6) % ALIGNMENT
    extra += struct.pack("<3H", _PADDING_ID, 2 + padding, ALIGNMENT) + bytes(padding)
    size = _FULL32 if large else member.size
    head = _LOCAL.pack(
        b"PK\3\4", _version(large), 0, 0, 0, _DATE, member.crc, size, size, len(name), len(extra)
    )  # fmt: skip
    return head + name + extra


def _tail(members: list[_Member], offsets: list[int], start: int) -> bytes:
    """Directory and end records, for a directory that starts at `start`."""
    out = bytearray()
    for member, offset in zip(members, offsets, strict=True):
        large, far = member.size >= ZIP64_FROM, offset >= ZIP64_FROM
        wide = [member.size, member.size] * large + [offset] * far
        extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
        name, version, size = member.name.encode("ascii"), _version(bool(wide)), _FULL32 if large else member.size
        out += _ENTRY.pack(
            b"PK\1\2", version, version, 0, 0, 0, _DATE, member.crc, size, size, len(name), len(extra), 0, 0, 0, 0,
            _FULL32 if far else offset,
        ) + name + extra  # fmt: skip
    n, size = len(members), len(out)
    if n >= min(ZIP64_FROM, 0xFFFF) or max(size, start) >= ZIP64_FROM:
        out += _END64.pack(b"PK\6\6", _END64.size - 12, 45, 45, 0, 0, n, n, size, start)
        out += _LOCATOR.pack(b"PK\6\7", 0, start + size, 1)
        out += _END.pack(b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, _FULL32, _FULL32, 0)
    else:
        out += _END.pack(b"PK\5\6", 0, 0, n, n, size, start, 0)
    return bytes(out)


# -- writing ---------------------------------------------------------------------------------------


def write_archive(file: BinaryIO, members: Iterable[tuple[str, list]]) -> None:
    """Write members of (name, pieces of data), a piece being bytes or a C-contiguous array."""
    done: list[_Member] = []
    offsets: list[int] = []
    offset = 0
    for name, pieces in members:
        views = [memoryview(piece).cast("B") for piece in pieces if memoryview(piece).nbytes]
        crc = 0
        for view in views:
            crc = zlib.crc32(view, crc)
        member = _Member(name, sum(view.nbytes for view in views), crc)
        header = _local(member, offset)
        file.write(header)
        for view in views:
            for start in range(0, len(view), _PIECE):
                file.write(view[start : start + _PIECE])
        done.append(member)
        offsets.append(offset)
        offset += len(header) + member.size
    file.write(_tail(done, offsets, offset))


# -- reading ---------------------------------------------------------------------------------------


class Archive:
    """The members of an open file, each checked when it is read.

    Parameters
    ----------
    file : binary file
        Open for reading and seekable.
    first : str
        Name of the first member.
    judge : callable
        Takes the first member's bytes; called before anything else is looked at, since a later version may have
        another layout.

    Raises
    ------
    ArchiveError
        If the file is not what `write_archive` writes, saying in which way.
    """

    def __init__(self, file: BinaryIO, first: str, judge: Callable[[bytes], None]):
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._read_first(first, judge)
        members, start = self._directory()
        offset, offsets = 0, []
        self._places: dict[str, tuple[int, _Member]] = {}
        for member in members:
            header = _local(member, offset)
            if member.name in self._places:
                raise ArchiveError(f"has two members {member.name!r}")
            end = offset + len(header) + member.size
            if end > start:
                raise ArchiveError(f"is altered: the member {member.name!r} reaches into its directory")
            if self._at(offset, len(header)) != header:
                raise ArchiveError(f"is altered: the header of the member {member.name!r} is not as written")
            self._places[member.name] = (offset + len(header), member)
            offsets.append(offset)
            offset = end
        if offset != start or self._at(start, self._size - start) != _tail(members, offsets, start):
            raise ArchiveError("is altered: its directory is not as written")

    @property
    def names(self) -> list[str]:
        """Names of the members, in the file's order."""
        return list(self._places)

    def read(self, name: str, mapped: np.ndarray | None = None) -> np.ndarray:
        """Bytes of a member, uint8, of its own or a part of the `mapped` file; its CRC is checked either way.

        Raises
        ------
        ArchiveError
            If there is no such member or its bytes are not those written.
        """
        if name not in self._places:
            raise ArchiveError(f"has no member {name!r}")
        offset, member = self._places[name]
        if mapped is not None:
            data = mapped[offset : offset + member.size]
        else:
            self._file.seek(offset)
            data = np.fromfile(self._file, dtype=np.uint8, count=member.size)
        if len(data) != member.size:
            raise ArchiveError("is cut short")
        if zlib.crc32(data.data) != member.crc:
            raise ArchiveError(f"is altered: the member {name!r} fails its checksum")
        return data

    def _at(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(size)

    def _read_first(self, first: str, judge: Callable[[bytes], None]) -> None:
        if self._size == 0:
            raise ArchiveError("is empty")
        start = self._at(0, _LOCAL.size)
        if start[:4] != b"PK\3\4"[: len(start)]:
            raise ArchiveError("is not a zip, and so no model file")
        if len(start) < _LOCAL.size:
            raise ArchiveError("is cut short")
        crc, size, name_size = (_LOCAL.unpack(start)[k] for k in (6, 7, 9))
        if name_size != len(first) or self._at(_LOCAL.size, name_size) != first.encode("ascii"):
            if self._size < _LOCAL.size + len(first):
                raise ArchiveError("is cut short")
            raise ArchiveError(f"is a zip, but no model file: its first member is not {first!r}")
        header = _local(_Member(first, size, crc), 0)
        if self._at(0, len(header)) != header[: self._size] or size > 4096:
            raise ArchiveError(f"is altered: the header of the member {first!r} is not as written")
        data = self._at(len(header), size)
        if len(data) < size:
            raise ArchiveError("is cut short")
        if zlib.crc32(data) != crc:
            raise ArchiveError(f"is altered: the member {first!r} fails its checksum")
        judge(data)

    def _directory(self) -> tuple[list[_Member], int]:
        """Members as the directory lists them, and where it starts."""
        n, size, start, end = self._end()
        if start + size != end or n * _ENTRY.size > size:
            raise ArchiveError("is altered: its parts are not where its directory says")
        raw, at, members = self._at(start, size), 0, []
        for _ in range(n):
            if len(raw) - at < _ENTRY.size:
                raise ArchiveError("is altered: its directory breaks off")
            fields = _ENTRY.unpack_from(raw, at)
            crc, length, name_size, extra_size = fields[7], fields[9], fields[10], fields[11]
            at += _ENTRY.size
            name, extra = raw[at : at + name_size], raw[at + name_size : at + name_size + extra_size]
            at += name_size + extra_size
            if length == _FULL32 and len(extra) >= 12:
                length = struct.unpack_from("<Q", extra, 4)[0]
            if not name.isascii() or length > self._size:
                raise ArchiveError(f"is altered: its directory has a wrong entry {name!r}")
            members.append(_Member(name.decode("ascii"), length, crc))
        return members, start

    def _end(self) -> tuple[int, int, int, int]:
        """Number of members, size and start of the directory, and where the end records start."""
        at = self._size - _END.size
        record = self._at(max(at, 0), _END.size)
        if record[:4] != b"PK\5\6":
            # An end record further up means that something was added behind it.
            last = self._at(max(0, self._size - (1 << 20)), 1 << 20)
            found = last.rfind(b"PK\5\6")
            if 0 <= found <= len(last) - _END.size:
                raise ArchiveError(f"has {len(last) - found - _END.size} bytes behind its end")
            raise ArchiveError("is cut short: the record that ends a zip is missing")
        n, size, start = (_END.unpack(record)[k] for k in (4, 5, 6))
        if start == _FULL32:
            at -= _END64.size + _LOCATOR.size
            record = self._at(max(at, 0), _END64.size)
            if len(record) < _END64.size or record[:4] != b"PK\6\6":
                raise ArchiveError("is altered: its end records are not as written")
            n, size, start = (_END64.unpack(record)[k] for k in (7, 8, 9))
        return n, size, start, at
