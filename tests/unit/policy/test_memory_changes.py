from __future__ import annotations

import msgspec
import pytest

from recalld.models.domain.cues import MemoryChanges
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus, TextOrigin
from recalld.models.policy.memory_changes import FieldCount, changed_memory, checked_changes, joined_cues, summary

NOW_MS = 1_800_000_000_000
MEMORY = Memory(
    id="mem_1",
    user="ines",
    text="Prefers tea",
    kind=MemoryKind.FACT,
    scope="home",
    cues=("Drinks",),
    asks=("What do I drink?",),
    source=MemorySource.EXPLICIT,
    status=MemoryStatus.ACTIVE,
    created_at_ms=1,
    updated_at_ms=1,
    expires_at_ms=NOW_MS + 1,
    revision=3,
)


def test_no_changes_change_nothing() -> None:
    assert changed_memory(MEMORY, MemoryChanges(), now_ms=NOW_MS) is None


@pytest.mark.parametrize(
    "changes",
    [
        MemoryChanges(cues=("Drinks",), asks=("What do I drink?",)),
        MemoryChanges(kind=MemoryKind.FACT, scope="home"),
        MemoryChanges(expires_at_ms=NOW_MS + 1),
    ],
)
def test_what_is_so_already_changes_nothing(changes: MemoryChanges) -> None:
    assert changed_memory(MEMORY, changes, now_ms=NOW_MS) is None


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        (MemoryChanges(cues=()), "cues", ()),
        (MemoryChanges(asks=("Tea?",)), "asks", ("Tea?",)),
        (MemoryChanges(kind=MemoryKind.PREFERENCE), "kind", MemoryKind.PREFERENCE),
        (MemoryChanges(scope=""), "scope", ""),
        (MemoryChanges(expires_at_ms=None), "expires_at_ms", None),
        (MemoryChanges(expires_at_ms=NOW_MS + 9), "expires_at_ms", NOW_MS + 9),
    ],
)
def test_each_field_changes_alone_and_makes_a_new_revision(changes: MemoryChanges, field: str, value: object) -> None:
    expected = msgspec.structs.replace(MEMORY, **{field: value}, revision=4, updated_at_ms=NOW_MS)
    assert changed_memory(MEMORY, changes, now_ms=NOW_MS) == expected


def test_new_cues_and_asks_are_trimmed_and_repeated_ones_dropped() -> None:
    changes = MemoryChanges(cues=(" Tea ", "tea"), asks=("What do I drink?",))
    checked = checked_changes(MEMORY, changes, now_ms=NOW_MS)
    assert (checked.cues, checked.asks) == (("Tea",), ("What do I drink?",))


def test_what_is_not_changed_stays_unsaid() -> None:
    assert checked_changes(MEMORY, MemoryChanges(), now_ms=NOW_MS) == MemoryChanges()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        (MemoryChanges(asks=("a", "b", "c", "d", "e")), "asks"),
        (MemoryChanges(cues=("",)), r"cues\[0\]"),
        (MemoryChanges(asks=("x" * 241,)), r"asks\[0\]"),
        (MemoryChanges(asks=("a\0",)), r"asks\[0\]"),
        (MemoryChanges(asks=("Where do I work? What is my name? Who am I?",)), r"asks\[0\]"),
        (MemoryChanges(asks=("What is that?",)), r"asks\[0\]"),
        (MemoryChanges(scope=" "), "scope"),
        (MemoryChanges(expires_at_ms=NOW_MS), "expires_at"),
    ],
)
def test_what_remember_refuses_an_update_refuses_too(changes: MemoryChanges, field: str) -> None:
    with pytest.raises(RecalldError, match=field):
        checked_changes(MEMORY, changes, now_ms=NOW_MS)


@pytest.mark.parametrize(
    ("present", "more", "expected"),
    [
        ((), ("a", "b"), ("a", "b")),
        (("a", "b"), ("c", "d"), ("a", "b", "c")),
        (("a", "b", "c"), ("d",), ("a", "b", "c")),
        (("Tea",), ("tea ", "drinks"), ("Tea", "drinks")),
    ],
)
def test_more_cues_fill_the_room_that_is_left(
    present: tuple[str, ...], more: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert joined_cues(msgspec.structs.replace(MEMORY, cues=present), more) == expected


def test_what_a_model_wrote_takes_the_place_of_what_a_rule_did_and_of_nothing_else() -> None:
    origins = (TextOrigin.GIVEN, TextOrigin.MODEL, TextOrigin.RULE)
    memory = msgspec.structs.replace(MEMORY, cues=("a", "b", "c"), cue_origins=origins)
    assert joined_cues(memory, ("d", "e")) == ("a", "b", "d")


def test_a_text_that_stays_keeps_its_origin_and_a_new_one_has_that_of_the_change() -> None:
    memory = msgspec.structs.replace(
        MEMORY, asks=("one", "two"), ask_origins=(TextOrigin.GIVEN, TextOrigin.RULE), cues=(), cue_origins=()
    )
    changes = MemoryChanges(asks=("two", "three"), cues=("four",), origin=TextOrigin.MODEL)
    after = changed_memory(memory, changes, now_ms=NOW_MS)
    assert after is not None
    assert after.ask_origins == (TextOrigin.RULE, TextOrigin.MODEL)
    assert after.cue_origins == (TextOrigin.MODEL,)
    given = changed_memory(after, MemoryChanges(asks=("five",)), now_ms=NOW_MS)
    assert given is not None
    assert given.ask_origins == ()


def test_the_summary_names_what_is_different_and_counts_texts_without_quoting_them() -> None:
    changes = MemoryChanges(asks=("What do I drink?", "Tea or coffee?"), cues=())
    after = changed_memory(MEMORY, changes, now_ms=NOW_MS)
    assert after is not None
    told = summary(MEMORY, after, "cues.v1")
    assert told.changed == ("cues", "asks")
    assert told.cues == FieldCount(before=1, after=0, new=0)
    assert told.asks == FieldCount(before=1, after=2, new=1)
    assert told.note == "cues.v1"
    assert b"drink" not in msgspec.json.encode(told).lower()
