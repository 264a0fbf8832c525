from __future__ import annotations

import pytest

from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.policy.relations import ABOUT_MAX, BROUGHT_MAX, as_item, related


def memory(memory_id: str, text: str, kind: MemoryKind = MemoryKind.FACT, cues: tuple[str, ...] = ()) -> Memory:
    return Memory(
        id=memory_id,
        user="ines",
        text=text,
        kind=kind,
        scope="",
        cues=cues,
        asks=(),
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=0,
        updated_at_ms=0,
        expires_at_ms=None,
        revision=1,
    )


ITEM = memory("item", "lendd waits for holdq before it answers, and stores its state in SQLite")
HOLDQ = memory("holdq", "holdq: reservation queue service", MemoryKind.ENTITY)


def brought(*others: Memory) -> list[tuple[str, str]]:
    return [(each.memory.id, each.by) for each in related((ITEM,), {"item": others})]


def test_a_record_brings_the_record_about_what_it_names() -> None:
    assert brought(HOLDQ) == [("holdq", "item")]
    item = as_item(related((ITEM,), {"item": (HOLDQ,)})[0])
    assert (item.memory, item.brought_by, item.relevance) == (HOLDQ, "item", None)


@pytest.mark.parametrize(
    "other",
    [
        memory("fact", "holdq: reservation queue service", MemoryKind.FACT),
        memory("other", "lockd: another service, beside holdq", MemoryKind.ENTITY),
        memory("common", "State: what a service keeps", MemoryKind.ENTITY),
        memory("later", "Write no mocks when testing the storage layer; use real SQLite", MemoryKind.CONVENTION),
        memory("refused", "Never SQLite on a network drive", MemoryKind.CONVENTION),
        memory("format", "JSON keys are in camel case", MemoryKind.CONVENTION, ("JSON style",)),
    ],
)
def test_another_kind_a_passing_word_and_a_rejected_name_are_not_brought(other: Memory) -> None:
    assert brought(other) == []


def test_a_convention_is_brought_by_the_name_it_opens_with() -> None:
    assert brought(memory("wal", "SQLite runs in WAL mode", MemoryKind.CONVENTION)) == [("wal", "item")]


def test_no_more_than_two_are_brought_and_none_twice_nor_one_that_is_there() -> None:
    others = (
        HOLDQ,
        HOLDQ,
        ITEM,
        memory("sqlite", "SQLite: embedded", MemoryKind.ENTITY),
        memory("lendd", "lendd: the lending service", MemoryKind.ENTITY),
    )
    assert [memory_id for memory_id, _ in brought(*others)] == ["holdq", "sqlite"]
    assert BROUGHT_MAX == 2


def test_what_many_records_are_about_relates_none_of_them() -> None:
    about = tuple(memory(str(number), "holdq: a note", MemoryKind.ENTITY) for number in range(ABOUT_MAX))
    assert len(brought(*about)) == BROUGHT_MAX
    assert brought(*about, memory("more", "holdq: yet another", MemoryKind.ENTITY)) == []


def test_what_is_brought_brings_nothing_itself() -> None:
    second = memory("gate", "gated: the gate in front of lendd", MemoryKind.ENTITY)
    found = related((ITEM,), {"item": (HOLDQ,), "holdq": (second,)})
    assert [each.memory.id for each in found] == ["holdq"]


@pytest.mark.parametrize(
    ("text", "is_brought"),
    [
        ("The moon landing poster shows Apollo 11 and hangs in the hall", False),
        ("The Apollo Theatre is opposite the office", False),
        ("Invoices are sent by Apollo at night", True),
    ],
)
def test_a_namesake_with_a_longer_name_brings_nothing(text: str, *, is_brought: bool) -> None:
    apollo = memory("apollo", "Apollo: the invoice service", MemoryKind.ENTITY)
    found = related((memory("item", text),), {"item": (apollo,)})
    assert [each.memory.id for each in found] == ["apollo"] * is_brought
