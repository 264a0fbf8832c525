from __future__ import annotations

import json
import stat
from pathlib import Path

import msgspec
import pytest
from stand_in_daemon import Run, StandIn

from recalld.protocol import replies, requests
from recalld.protocol.items import MemoryItem


def memory(*, cues: tuple[str, ...] = ("Drinks",), asks: tuple[str, ...] = ("What do I drink?",)) -> MemoryItem:
    return MemoryItem(
        id="mem_1",
        user="ines",
        text="Prefers tea",
        kind="fact",
        scope="",
        cues=cues,
        asks=asks,
        source="explicit",
        status="active",
        created_at_ms=1,
        updated_at_ms=1,
        revision=4,
    )


def updated(*, decision_id: str = "upd_1", is_embedded: bool = True) -> replies.Updated:
    return replies.Updated(memory=memory(), decision_id=decision_id, is_embedded=is_embedded)


def backfilled(
    reason: str, *, done: int = 0, remaining: int = 0, cursor: str | None = None, refusals: dict[str, int] | None = None
) -> replies.Backfilled:
    refused = sum((refusals or {}).values())
    return replies.Backfilled(
        asked=done + refused,
        updated=done,
        refused=refused,
        failed=0,
        remaining=remaining,
        reason=reason,
        refusals=refusals or {},
        cursor=cursor,
    )


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that does what a script beside it says to the file it is given."""
    script = tmp_path / "editor"
    script.write_text("#!/bin/sh\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(script))
    return script


def appends(*lines: str) -> str:
    """A script that saves the file with more lines; the time of the change is set so that it counts as one."""
    written = "".join(f"echo '{line}' >> \"$1\"\n" for line in lines)
    return f'#!/bin/sh\n{written}touch -d "+1 hour" "$1"\n'


def test_the_list_shows_headings_and_questions_of_each_memory(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.ListMemories, replies.Memories(memories=(memory(),), total=1))
    ended = run("cues", "list")
    assert ended.code == 0
    assert ended.out.splitlines() == ["mem_1  Prefers tea", "  cue  Drinks", "  ask  What do I drink?"]
    assert not daemon.seen[0].without_asks


def test_only_memories_without_questions_can_be_listed(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.ListMemories, replies.Memories(total=0))
    assert run("cues", "list", "--missing").out == "Every memory has questions.\n"
    assert daemon.seen[0].without_asks


def test_one_memory_is_shown_as_text_and_as_json(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    assert "  ask  What do I drink?" in run("cues", "show", "mem_1").out
    assert json.loads(run("cues", "show", "mem_1", "--json").out)["memory"]["cues"] == ["Drinks"]


def test_adding_keeps_what_is_there_and_minds_the_revision(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    daemon.plan(requests.Update, updated(is_embedded=False))
    ended = run("cues", "add", "mem_1", "--ask", "Tea or coffee?", "--cue", "Tea")
    assert ended.code == 0
    request = daemon.seen[1]
    assert (request.cues, request.asks, request.if_revision) == (
        ("Drinks", "Tea"),
        ("What do I drink?", "Tea or coffee?"),
        4,
    )
    assert "`recalld explain upd_1` shows the change." in ended.out
    assert "Not embedded in full yet" in ended.out


def backed(cue_origins: tuple[str, ...], ask_origins: tuple[str, ...]) -> MemoryItem:
    """A memory with as many cues and asks as may be kept."""
    full = memory(cues=("one", "two", "three"), asks=("a?", "b?", "c?", "d?"))
    return msgspec.structs.replace(full, cue_origins=cue_origins, ask_origins=ask_origins)


def test_what_was_added_automatically_makes_room_for_what_is_added(daemon: StandIn, run: Run) -> None:
    daemon.plan(
        requests.Get, replies.Memory(memory=backed(("given", "rule", "rule"), ("given", "model", "rule", "rule")))
    )
    daemon.plan(requests.Update, updated())
    assert run("cues", "add", "mem_1", "--ask", "x?", "--ask", "y?", "--ask", "z?", "--cue", "four").code == 0
    assert daemon.seen[1].asks == ("a?", "x?", "y?", "z?")
    assert daemon.seen[1].cues == ("one", "two", "four")


def test_who_wrote_what_is_shown_behind_it(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=backed((), ("given", "model", "rule", "made_up_later"))))
    assert run("cues", "show", "mem_1").out.splitlines()[3:] == [
        "  cue  three",
        "  ask  a?",
        "  ask  b?  (written by a lent model)",
        "  ask  c?  (added automatically)",
        "  ask  d?",
    ]


def test_an_undone_backfill_leaves_what_others_wrote(daemon: StandIn, run: Run) -> None:
    written = backed(("given", "model", "rule"), ("model", "model", "model", "given"))
    page = replies.Memories(memories=(written, memory()), total=2)
    daemon.plan(requests.ListMemories, page, page)
    daemon.plan(requests.Update, updated())
    would = run("cues", "backfill", "--undo", "--dry-run")
    assert would.out == "Would take 3 questions and 1 heading of models away, from 1 memory.\n"
    assert [type(request) for request in daemon.seen] == [requests.ListMemories]
    assert run("cues", "backfill", "--undo").out.startswith("Took 3 questions and 1 heading")
    update = daemon.seen[-1]
    assert (update.cues, update.asks, update.if_revision) == (("one", "three"), ("d?",), 4)


def test_undoing_takes_no_limit(daemon: StandIn, run: Run) -> None:
    ended = run("cues", "backfill", "--undo", "--limit", "3")
    assert (ended.code, daemon.seen) == (64, [])
    assert "--limit" in ended.err


def test_more_than_may_be_kept_is_refused_before_anything_is_changed(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    ended = run("cues", "add", "mem_1", *(f"--ask={number}?" for number in range(4)))
    assert ended.code == 64
    assert "--ask: that makes 5, and at most 4 are kept" in ended.err
    assert len(daemon.seen) == 1


@pytest.mark.parametrize("words", [("add", "mem_1"), ("set", "mem_1")])
def test_giving_nothing_is_a_mistake(daemon: StandIn, run: Run, words: tuple[str, ...]) -> None:
    ended = run("cues", *words)
    assert ended.code == 64
    assert "give at least one --cue or --ask" in ended.err
    assert daemon.seen == []


@pytest.mark.parametrize(
    ("words", "cues", "asks"),
    [
        (("--ask", "Which?"), ("Drinks",), ("Which?",)),
        (("--cue", "Tea"), ("Tea",), ("What do I drink?",)),
        (("--no-cues",), (), ("What do I drink?",)),
        (("--no-asks", "--cue", "Tea"), ("Tea",), ()),
    ],
)
def test_setting_replaces_what_is_given_and_keeps_the_rest(
    daemon: StandIn, run: Run, words: tuple[str, ...], cues: tuple[str, ...], asks: tuple[str, ...]
) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    daemon.plan(requests.Update, updated())
    assert run("cues", "set", "mem_1", *words).code == 0
    assert (daemon.seen[1].cues, daemon.seen[1].asks) == (cues, asks)


def test_setting_and_taking_away_contradict_each_other(daemon: StandIn, run: Run) -> None:
    ended = run("cues", "set", "mem_1", "--cue", "a", "--no-cues")
    assert ended.code == 64
    assert "--cue and --no-cues contradict each other" in ended.err


def test_a_change_that_changes_nothing_says_so(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    daemon.plan(requests.Update, updated(decision_id=""))
    assert run("cues", "set", "mem_1", "--cue", "Drinks").out.startswith("Nothing changed.\n")


def test_somebody_elses_change_meanwhile_is_told(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    daemon.plan(requests.Update, replies.Error(code="conflict", message="the memory has revision 5, not 4"))
    ended = run("cues", "set", "mem_1", "--cue", "Tea")
    assert ended.code == 1
    assert "revision 5" in ended.err


def test_what_is_saved_in_the_editor_is_stored(daemon: StandIn, run: Run, editor: Path) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    daemon.plan(requests.Update, updated())
    editor.write_text(appends("ask: Tea or coffee?"))
    assert run("cues", "edit", "mem_1").code == 0
    assert daemon.seen[-1].asks == ("What do I drink?", "Tea or coffee?")
    assert daemon.seen[-1].cues == ("Drinks",)


def test_leaving_the_editor_without_saving_changes_nothing(daemon: StandIn, run: Run, editor: Path) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    ended = run("cues", "edit", "mem_1")
    assert ended.code == 0
    assert "Not saved, nothing changed." in ended.err
    assert [type(request) for request in daemon.seen if not isinstance(request, requests.Hello)] == [requests.Get]
    assert editor.exists()


def test_a_line_that_cannot_be_read_is_named(daemon: StandIn, run: Run, editor: Path) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    editor.write_text(appends("Tea or coffee?"))
    ended = run("cues", "edit", "mem_1")
    assert ended.code == 64
    assert "line 11: starts with neither `cue:` nor `ask:`" in ended.err


def test_an_editor_that_cannot_be_run_is_named_with_the_remedy(
    daemon: StandIn, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    monkeypatch.setenv("VISUAL", "/nonexistent/editor")
    ended = run("cues", "edit", "mem_1")
    assert ended.code == 1
    assert "/nonexistent/editor" in ended.err
    assert "name an editor in EDITOR" in ended.err


def test_an_editor_that_fails_is_a_failure_and_no_mistake_on_the_command_line(
    daemon: StandIn, run: Run, editor: Path
) -> None:
    daemon.plan(requests.Get, replies.Memory(memory=memory()))
    editor.write_text("#!/bin/sh\nexit 3\n")
    ended = run("cues", "edit", "mem_1")
    assert ended.code == 1
    assert "Editing failed" in ended.err
    assert len(daemon.seen) == 1


def test_a_backfill_goes_on_by_the_cursor_until_all_is_done(daemon: StandIn, run: Run) -> None:
    daemon.plan(
        requests.Backfill,
        backfilled("limit", done=4, remaining=3, cursor="c1"),
        backfilled("done", done=3, remaining=0),
    )
    ended = run("cues", "backfill")
    assert ended.code == 0
    assert ended.out == "Asked about 7 memories: 7 now with questions; 0 memories without questions left.\n"
    assert [(request.limit, request.cursor) for request in daemon.seen] == [(4, None), (4, "c1")]


def test_a_limit_is_kept_over_several_requests(daemon: StandIn, run: Run) -> None:
    daemon.plan(
        requests.Backfill,
        backfilled("limit", done=4, remaining=9, cursor="c1"),
        backfilled("limit", done=1, remaining=8),
    )
    assert run("cues", "backfill", "--limit", "5").code == 0
    assert [request.limit for request in daemon.seen] == [4, 1]


def test_answers_that_could_not_be_used_are_told_by_reason(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Backfill, backfilled("done", done=1, remaining=2, refusals={"no_asks": 2}))
    ended = run("cues", "backfill")
    assert ended.code == 1
    assert "2 answers not used: the model found no question that the memory answers" in ended.out


def test_without_a_lent_model_it_says_what_to_do(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Backfill, backfilled("no_runtime", remaining=3))
    ended = run("cues", "backfill")
    assert ended.code == 69
    assert "No connected runtime lends its model" in ended.err
    assert "recalld cues edit" in ended.err
    assert len(daemon.seen) == 1


@pytest.mark.parametrize("reason", ["failing", "time"])
def test_a_model_that_does_not_answer_is_something_that_may_work_later(daemon: StandIn, run: Run, reason: str) -> None:
    daemon.plan(requests.Backfill, backfilled(reason, remaining=3))
    assert run("cues", "backfill").code == 75
    assert len(daemon.seen) == 1


def test_a_backfill_under_way_is_something_that_may_work_later(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Backfill, replies.Error(code="busy", message="a backfill is under way", retryable=True))
    assert run("cues", "backfill").code == 75


def test_a_dry_run_only_counts(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Backfill, backfilled("dry_run", remaining=1))
    ended = run("cues", "backfill", "--dry-run")
    assert (ended.code, ended.out) == (0, "1 memory without questions.\n")
    assert daemon.seen[0].dry_run


def test_the_whole_run_is_one_json_object(daemon: StandIn, run: Run) -> None:
    daemon.plan(
        requests.Backfill,
        backfilled("limit", done=3, remaining=2, cursor="c1", refusals={"no_asks": 1}),
        backfilled("done", done=0, remaining=2, refusals={"no_asks": 1}),
    )
    document = json.loads(run("cues", "backfill", "--json").out)
    assert document == {
        "asked": 5,
        "updated": 3,
        "refused": 2,
        "failed": 0,
        "remaining": 2,
        "reason": "done",
        "refusals": {"no_asks": 2},
        "failures": {},
    }
