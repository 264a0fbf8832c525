"""The file of an export: a header, then one record on each line, as JSON.

A file without a header is taken as well, and so is a line without a `type`: `{"text": "Prefers tea"}` is a memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final

import msgspec

from recalld.daemon.gateway.portable import from_wire
from recalld.models.domain.errors import RecalldError
from recalld.protocol import portable_items as p
from recalld.protocol.faults import describe, describe_missing, missing_field
from recalld.protocol.fields import FRAME_BYTES_MAX

FORMAT: Final = "recalld_export"
VERSION: Final = 1
LINE_BYTES_MAX: Final = FRAME_BYTES_MAX - 65_536
"""Longest line: its record must fit a frame with room for what is around it."""


class Header(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag=FORMAT):
    """The first line.

    Attributes:
        version: Of the format.
        recalld: The version of the program that wrote it.
        user: Whose records they are.
        created_at_ms: When it was made, Unix epoch milliseconds.
        memories: How many follow.
        observations: How many follow.
        proposals: How many follow.
    """

    version: int = VERSION
    recalld: str = ""
    user: str = ""
    created_at_ms: int = 0
    memories: int = 0
    observations: int = 0
    proposals: int = 0

    @property
    def counts(self) -> Counts:
        """What it announces."""
        return Counts(memories=self.memories, observations=self.observations, proposals=self.proposals)


class Counts(msgspec.Struct, kw_only=True):
    """How many records of each sort there are."""

    memories: int = 0
    observations: int = 0
    proposals: int = 0

    def add(self, record: p.Portable) -> None:
        """Count one more."""
        match record:
            case p.PortableMemory():
                self.memories += 1
            case p.PortableObservation():
                self.observations += 1
            case p.PortableProposal():
                self.proposals += 1

    @property
    def total(self) -> int:
        """All of them."""
        return self.memories + self.observations + self.proposals


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that cannot be taken over, and why."""

    line: int
    problem: str


class GoodLine(msgspec.Struct, frozen=True, kw_only=True):
    """A record and the line it stands on."""

    line: int
    record: p.Portable


class _Tag(msgspec.Struct, frozen=True):
    type: str | None = None


_RECORDS: Final[msgspec.json.Decoder[p.Portable]] = msgspec.json.Decoder(p.Portable)
_PLAIN: Final = msgspec.json.Decoder(p.PortableMemory)
_HEADER: Final = msgspec.json.Decoder(Header)
_TAG: Final = msgspec.json.Decoder(_Tag)


def line_of(record: p.Portable | Header) -> bytes:
    """A record or the header as one line."""
    return msgspec.json.encode(record) + b"\n"


def read_lines(file: IO[bytes], user: str, *, now_ms: int) -> Iterator[Header | GoodLine | BadLine]:
    """What stands on each line; blank ones are passed over. Holds one line at a time.

    Args:
        file: At its beginning.
        user: Whose the records become.
        now_ms: Present time, against which the expiry of new memories is held.
    """
    number = 0
    while line := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(line) > LINE_BYTES_MAX and not line.endswith(b"\n"):
            _skip_rest(file)
            yield BadLine(line=number, problem=f"is longer than {LINE_BYTES_MAX} bytes; leave some evidence out")
        elif line.strip():
            yield _read(number, line, user, now_ms)


def _skip_rest(file: IO[bytes]) -> None:
    while (rest := file.readline(LINE_BYTES_MAX)) and not rest.endswith(b"\n"):
        pass


def _read(number: int, line: bytes, user: str, now_ms: int) -> Header | GoodLine | BadLine:
    try:
        tag = _TAG.decode(line).type
        if tag == FORMAT:
            return _checked(number, _HEADER.decode(line))
        record = _PLAIN.decode(line) if tag is None else _RECORDS.decode(line)
        from_wire(record, user, now_ms=now_ms)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return BadLine(line=number, problem=_described(f"{error}"))
    except RecalldError as error:
        return BadLine(line=number, problem=error.message)
    return GoodLine(line=number, record=record)


def _described(fault: str) -> str:
    """What is wrong with a line, as a sentence that names the field and the remedy."""
    missing = missing_field(fault)
    if missing is not None:
        return describe_missing([missing])
    return describe(fault) if "`$" in fault else f"is no JSON object of a record: {fault}"


def _checked(number: int, header: Header) -> Header | BadLine:
    if number != 1:
        return BadLine(line=number, problem="is a second header; import the files one by one")
    if header.version != VERSION:
        problem = f"is of version {header.version} of the format, and this program reads {VERSION}; bring it up to date"
        return BadLine(line=number, problem=problem)
    return header
