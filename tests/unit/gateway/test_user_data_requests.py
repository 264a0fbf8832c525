"""Everything of a user on the wire: nothing is lost in either direction, and every page fits a frame."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from wire_examples import REQUESTS

from recalld.daemon.gateway.portable import from_wire, page_to_wire, without_quotes
from recalld.daemon.gateway.user_data_requests import import_request, imported
from recalld.models.domain import user_data as u
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import MemorySource, MemoryStatus
from recalld.protocol import portable_items as p
from recalld.protocol import requests

NOW_MS = 1_796_000_000_000
IMPORT = REQUESTS["import"]
assert isinstance(IMPORT, requests.Import)
RECORDS = IMPORT.records[1:]


def page(records: tuple[p.Portable, ...]) -> u.ExportPage:
    found = tuple(from_wire(each, "ines", now_ms=NOW_MS) for each in records)
    return u.ExportPage(
        memories=tuple(each for each in found if isinstance(each, u.PortableMemory)),
        observations=tuple(each for each in found if isinstance(each, u.PortableObservation)),
        proposals=tuple(each for each in found if isinstance(each, u.PortableProposal)),
    )


def test_a_record_with_everything_comes_back_as_it_was() -> None:
    assert page_to_wire(page(RECORDS)) == RECORDS


def test_the_example_leaves_no_field_at_its_default() -> None:
    def unset(record: msgspec.Struct) -> Iterator[str]:
        for field in msgspec.structs.fields(record):
            if field.name != "untrusted" and getattr(record, field.name) == field.default:
                yield f"{type(record).__name__}.{field.name}"

    assert [name for record in RECORDS for name in unset(record)] == []


def test_a_memory_of_which_only_the_text_is_given_is_new_and_made_now() -> None:
    new = from_wire(p.PortableMemory(text="Prefers tea"), "omar", now_ms=NOW_MS)
    assert isinstance(new, u.PortableMemory)
    memory = new.memory
    assert (memory.id, memory.user, memory.source, memory.status) == (
        *("", "omar"),
        MemorySource.IMPORTED,
        MemoryStatus.ACTIVE,
    )
    assert (memory.created_at_ms, memory.updated_at_ms, memory.revision) == (NOW_MS, NOW_MS, 1)


def test_an_exported_memory_that_has_expired_is_taken_and_a_new_one_is_not() -> None:
    old = p.PortableMemory(memory_id="mem_1", text="On call", expires_at_ms=5)
    assert isinstance(from_wire(old, "ines", now_ms=NOW_MS), u.PortableMemory)
    with pytest.raises(RecalldError, match="expires_at: is not in the future"):
        from_wire(msgspec.structs.replace(old, memory_id=""), "ines", now_ms=NOW_MS)


def test_a_record_at_fault_is_named_with_its_place_and_field() -> None:
    bad = p.PortableMemory(text=" ")
    request = requests.Import(user="ines", records=(p.PortableMemory(text="x"), bad))
    with pytest.raises(RecalldError, match=r"^records\[1\]\.text: is blank") as raised:
        import_request(request, now_ms=NOW_MS, deadline_s=1.0)
    assert raised.value.code is ErrorCode.BAD_REQUEST


def test_lines_answer_records_in_the_order_in_which_they_were_handed_over() -> None:
    memory, observation, proposal = RECORDS
    request = requests.Import(user="ines", records=(proposal, memory, observation, memory))
    wanted = import_request(request, now_ms=NOW_MS, deadline_s=1.0)
    assert (len(wanted.memories), len(wanted.observations), len(wanted.proposals)) == (2, 1, 1)

    def line(name: str) -> u.ImportLine:
        return u.ImportLine(memory_id=name, outcome=u.ImportOutcome.KNOWN)

    done = u.MemoriesImported(lines=(line("m1"), line("m2")), observations=(line("o"),), proposals=(line("p"),))
    reply = imported(request, u.ImportReply(imported=done))
    assert [each.record_id for each in reply.lines] == ["p", "m1", "o", "m2"]


def test_a_record_that_fits_no_frame_goes_without_the_words_of_its_turns() -> None:
    for record in RECORDS:
        bare = without_quotes(record)
        assert {each.quote for each in bare.evidence} == {""}
        assert msgspec.structs.replace(bare, evidence=record.evidence) == record
