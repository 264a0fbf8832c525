"""Going through the newest memories, and what of it counts as an audit."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
import pytest
from stand_in_daemon import Run, StandIn

from recalld.daemon.cli.commands.audit_loop import Audited, audit
from recalld.daemon.cli.commands.review_loop import Said
from recalld.daemon.clock import SystemClock
from recalld.protocol import items, replies, requests
from recalld.protocol.audit_items import SampleItem

DAY_MS = 86_400_000
NOW_MS = 1_790_000_000_000


def memory(number: int, *, age_days: float = 1.0) -> items.MemoryItem:
    at_ms = NOW_MS - round(age_days * DAY_MS)
    return items.MemoryItem(
        id=f"mem_{number}",
        user="ines",
        text=f"Memory {number}\x1b[2J",
        kind="preference",
        scope="work",
        source="heuristic",
        status="active",
        created_at_ms=at_ms,
        updated_at_ms=at_ms,
        revision=1,
    )


MEMORIES = tuple(memory(number) for number in (1, 2, 3))


class ScriptedDesk:
    """Notes what it is told, and edits as planned."""

    def __init__(self, *edits: str | None, fails: bool = False) -> None:
        self.done: list[tuple[str, str]] = []
        self.noted: list[tuple[str, bool]] = []
        self._edits = list(edits)
        self._fails = fails

    def forget(self, memory: items.MemoryItem) -> Said:
        self.done.append(("forget", memory.id))
        return Said(text="Forgotten.", is_done=not self._fails)

    def edit(self, memory: items.MemoryItem) -> str | None:
        return self._edits.pop(0) if memory.text else None

    def reword(self, memory: items.MemoryItem, text: str) -> Said:
        self.done.append((text, memory.id))
        return Said(text="Kept")

    def note(self, memory: items.MemoryItem, *, is_right: bool) -> None:
        self.noted.append((memory.id, is_right))


class ScriptedKeys:
    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)

    def next_key(self) -> str:
        return self._keys.pop(0) if self._keys else ""


class ListScreen:
    def __init__(self) -> None:
        self.shown: list[str] = []
        self.said: list[str] = []

    def show(self, memory: items.MemoryItem, place: int, total: int) -> None:
        self.shown.append(f"{place}/{total} {memory.id}")

    def say(self, text: str) -> None:
        self.said.append(text)


def test_each_key_decides_about_one_memory() -> None:
    desk, screen = ScriptedDesk("Other words"), ListScreen()
    done = audit(MEMORIES, desk, ScriptedKeys("kef"), screen)
    assert desk.done == [("Other words", "mem_2"), ("forget", "mem_3")]
    assert done == Audited(kept=1, edited=1, forgotten=1, left=0)
    assert done.is_whole
    assert desk.noted == [("mem_1", True), ("mem_2", False), ("mem_3", False)]
    assert screen.shown == ["1/3 mem_1", "2/3 mem_2", "3/3 mem_3"]


@pytest.mark.parametrize("end", ["q", "", "\x03", "\x04", "\x1b"])
def test_who_quits_has_not_audited(end: str) -> None:
    done = audit(MEMORIES, ScriptedDesk(), ScriptedKeys(["k", end]), ListScreen())
    assert (done.kept, done.left, done.is_whole) == (1, 2, False)


@pytest.mark.parametrize(
    ("desk", "keys"),
    [(ScriptedDesk(), "xk"), (ScriptedDesk(None), "ek"), (ScriptedDesk(fails=True), "fk")],
)
def test_what_was_not_carried_out_asks_again(desk: ScriptedDesk, keys: str) -> None:
    screen = ListScreen()
    assert audit(MEMORIES[:1], desk, ScriptedKeys(keys), screen) == Audited(kept=1)
    assert len(screen.said) == 1


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemClock, "now_ms", lambda _: NOW_MS)


def asked(daemon: StandIn, kind: type) -> list[object]:
    return [request for request in daemon.seen if isinstance(request, kind)]


def plan(daemon: StandIn, *memories: items.MemoryItem) -> None:
    daemon.plan(requests.ListMemories, replies.Memories(memories=memories, total=len(memories)))
    daemon.plan(requests.GetLineage, replies.Error(code="not_found", message="memory_id: there is none"))
    daemon.plan(requests.NoteAudit, replies.Ok())
    daemon.plan(requests.ListSamples, replies.Samples(samples=(record("smp_2", "mem_2"),)))
    daemon.plan(requests.MarkSample, replies.Ok())


def record(sample_id: str, memory_id: str) -> SampleItem:
    return SampleItem(
        id=sample_id, kind="record", decision_id="adm_1", memory_id=memory_id, probability=1.0, at_ms=NOW_MS
    )


def test_a_memory_that_was_forgotten_is_marked_as_a_wrong_record(daemon: StandIn, run: Run) -> None:
    plan(daemon, memory(1), memory(2))
    daemon.plan(requests.Forget, replies.Forgotten(count=1, ids=("mem_2",)))
    assert run("audit", "--records", "--by", "cyd", stdin=b"k\nf\n").code == 0
    (mark,) = asked(daemon, requests.MarkSample)
    assert isinstance(mark, requests.MarkSample)
    assert (mark.sample_id, mark.answer, mark.by) == ("smp_2", "no", "cyd")


def test_an_audit_goes_on_when_a_mark_cannot_be_noted(daemon: StandIn, run: Run) -> None:
    plan(daemon, memory(2))
    daemon.plan(requests.MarkSample, replies.Error(code="busy", message="busy", retryable=True))
    assert "Noted as audited" in run("audit", "--records", stdin=b"k\n").out


def test_who_decided_about_all_of_the_last_days_is_noted(daemon: StandIn, run: Run) -> None:
    plan(daemon, memory(1), memory(2), memory(3, age_days=8))
    daemon.plan(requests.Forget, replies.Forgotten(count=1, ids=("mem_2",)))
    ended = run("audit", "--records", stdin=b"keep\nF\n")
    assert ended.code == 0
    assert "Memory 1\N{REPLACEMENT CHARACTER}[2J" in ended.out
    assert "preference, work" in ended.out
    assert "1 kept, 0 edited, 1 forgotten." in ended.out
    assert "Noted as audited; it counts for 7 days." in ended.out
    assert "mem_3" not in ended.out
    (audited,) = asked(daemon, requests.NoteAudit)
    assert isinstance(audited, requests.NoteAudit)
    assert audited.user == "ines"
    (gone,) = asked(daemon, requests.Forget)
    assert isinstance(gone, requests.Forget)
    assert (gone.ids, gone.hard, gone.dry_run) == (("mem_2",), False, False)


def test_an_audit_that_was_broken_off_is_not_noted(daemon: StandIn, run: Run) -> None:
    plan(daemon, memory(1), memory(2))
    ended = run("audit", "--records", stdin=b"k\n")
    assert (ended.code, "1 memory not looked at, so no audit is noted" in ended.out) == (0, True)
    assert asked(daemon, requests.NoteAudit) == []


def test_an_audit_of_nothing_new_is_one(daemon: StandIn, run: Run) -> None:
    plan(daemon, memory(1, age_days=3))
    ended = run("audit", "--records", "--days", "2")
    assert "No memory is of the last 2 days." in ended.out
    assert len(asked(daemon, requests.NoteAudit)) == 1


def test_more_than_the_limit_are_counted(daemon: StandIn, run: Run) -> None:
    plan(daemon, memory(1), memory(2), memory(3))
    ended = run("audit", "--records", "--limit", "1", stdin=b"k\n")
    assert "2 memories more of these days; --limit shows them." in ended.out


def test_pages_are_read_until_they_are_too_old(daemon: StandIn, run: Run) -> None:
    pages = [
        replies.Memories(memories=(memory(1),), total=9, cursor="c1"),
        replies.Memories(memories=(memory(2), memory(3, age_days=30)), total=9, cursor="c2"),
    ]
    daemon.plan(requests.ListMemories, *pages)
    document = json.loads(run("audit", "--records", "--json").out)
    assert [each["id"] for each in document["memories"]] == ["mem_1", "mem_2"]
    assert [request.cursor for request in daemon.seen if isinstance(request, requests.ListMemories)] == [None, "c1"]
    assert asked(daemon, requests.NoteAudit) == []


def test_an_edit_is_stored_in_place_of_the_old_words(
    daemon: StandIn, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recalld.daemon.cli.commands.audit_desk.edited", lambda *_, **__: "Other\nwords ")
    plan(daemon, memory(1))
    stored = msgspec.structs.replace(memory(9), text="Other words")
    daemon.plan(
        requests.Remember,
        replies.Remembered(memory=stored, outcome="created", decision_id="adm_1", is_embedded=True),
    )
    daemon.plan(requests.Forget, replies.Forgotten(count=1, ids=("mem_1",)))
    ended = run("audit", "--records", stdin=b"e\n")
    assert "0 kept, 1 edited, 0 forgotten." in ended.out
    (saved,) = asked(daemon, requests.Remember)
    assert isinstance(saved, requests.Remember)
    assert (saved.text, saved.kind, saved.scope) == ("Other words", "preference", "work")
    (gone,) = asked(daemon, requests.Forget)
    assert isinstance(gone, requests.Forget)
    assert gone.ids == ("mem_1",)
