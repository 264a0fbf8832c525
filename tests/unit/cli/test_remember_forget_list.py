"""Storing, forgetting and listing from the command line."""

import datetime as dt
import json
import sys

import msgspec
import pytest
from stand_in_daemon import Run, StandIn

from recalld.daemon.cli.common import Common
from recalld.protocol import fields, replies, requests
from recalld.protocol.items import ForgottenItem, MemoryItem

MEMORY = MemoryItem(
    id="mem_1",
    user="ines",
    text="Mei works from Monday to Thursday.",
    kind="fact",
    scope="work",
    source="explicit",
    status="active",
    created_at_ms=1_796_000_000_000,
    updated_at_ms=1_796_000_000_000,
    revision=1,
)


def remembered(outcome: str = "created", *, is_embedded: bool = True) -> replies.Remembered:
    return replies.Remembered(memory=MEMORY, outcome=outcome, decision_id="dec_1", is_embedded=is_embedded)


def preview(*ids: str, unknown: tuple[str, ...] = ()) -> replies.Forgotten:
    items = tuple(
        ForgottenItem(id=memory_id, preview=f"text of {memory_id}", kind="fact", scope="") for memory_id in ids
    )
    return replies.Forgotten(count=len(ids), ids=ids, items=items, unknown=unknown, is_dry_run=True)


def gone(*ids: str) -> replies.Forgotten:
    return replies.Forgotten(count=len(ids), ids=ids, tombstones=len(ids), decision_id="dec_2")


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Common, "is_interactive", True)


def test_a_memory_is_sent_with_everything_the_options_say(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Remember, remembered())
    ended = run(
        *("remember", "Mei works from Monday to Thursday.", "--kind", "convention", "--scope", "work", "--cue", "Mei"),
        *("--ask", "Is Mei in on Friday?", "--ask", "When does Mei work?", "--session", "s1"),
        *("--expires-at", "2027-01-01", "--time-zone", "Europe/Berlin"),
    )
    assert ended.code == 0
    assert ended.out.startswith("Remembered: Mei works")
    assert "`recalld explain dec_1` shows the decision." in ended.out
    (request,) = daemon.seen
    assert (request.user, request.session, request.kind, request.scope) == ("ines", "s1", "convention", "work")
    assert request.cues == ("Mei",)
    assert request.asks == ("Is Mei in on Friday?", "When does Mei work?")
    assert (request.expires_at, request.time_zone) == ("2027-01-01", "Europe/Berlin")


def test_an_expiry_in_digits_is_milliseconds_and_none_names_no_zone(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Remember, remembered())
    run("remember", "x", "--expires-at", "1796000000000")
    run("remember", "x")
    first, second = daemon.seen
    assert first.expires_at == 1_796_000_000_000
    assert (second.expires_at, second.time_zone) == (None, "")


def test_a_date_is_meant_in_the_local_zone(daemon: StandIn, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    daemon.plan(requests.Remember, remembered())
    run("remember", "x", "--expires-at", "2026-11-01")
    assert daemon.seen[0].time_zone == "America/New_York"


@pytest.mark.parametrize(
    ("outcome", "words"),
    [("created", "Remembered"), ("duplicate", "nothing changed"), ("updated", "brought up to date")],
)
def test_the_outcome_is_said_in_words(daemon: StandIn, run: Run, outcome: str, words: str) -> None:
    daemon.plan(requests.Remember, remembered(outcome))
    assert words in run("remember", "x").out


def test_a_memory_that_only_its_words_can_find_yet_is_said_to_be_so(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Remember, remembered(is_embedded=False))
    assert "only its words find it" in run("remember", "x").out


def test_forgetting_by_query_without_a_terminal_is_refused_before_anything_is_asked(daemon: StandIn, run: Run) -> None:
    ended = run("forget", "--query", "lighthouse")
    assert ended.code == 64
    assert "--yes" in ended.err
    assert daemon.seen == []


def test_a_dry_run_forgets_nothing(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Forget, preview("mem_1", "mem_2"))
    daemon.plan(requests.GetLineage, replies.Error(code="not_found", message="memory_id: there is none"))
    ended = run("forget", "--query", "lighthouse", "--dry-run")
    assert ended.code == 0
    assert "Would forget 2 memories" in ended.out
    assert "text of mem_2" in ended.out
    assert [request.dry_run for request in daemon.seen if isinstance(request, requests.Forget)] == [True]
    assert not any(isinstance(request, requests.Forget) and not request.dry_run for request in daemon.seen)


def test_what_was_previewed_is_forgotten_by_id_and_nothing_stored_since(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Forget, preview("mem_1", "mem_2"), gone("mem_1", "mem_2"))
    ended = run("forget", "--query", "lighthouse", "--yes", "--hard")
    assert ended.code == 0
    assert "Forgotten: 2 memories." in ended.out
    assert "`recalld explain dec_2` shows the decision." in ended.out
    look, act = daemon.seen
    assert (look.query, look.dry_run, look.hard) == ("lighthouse", True, True)
    assert (act.query, act.ids, act.dry_run, act.hard) == ("", ("mem_1", "mem_2"), False, True)


def test_bytes_that_could_not_be_removed_yet_are_owned_up_to(daemon: StandIn, run: Run) -> None:
    pending = msgspec.structs.replace(gone("mem_1"), is_erasure_pending=True)
    daemon.plan(requests.Forget, preview("mem_1"), pending, preview("mem_1"), gone("mem_1"))
    assert "write-ahead log" in run("forget", "mem_1", "--hard", "--yes").out
    assert "write-ahead log" not in run("forget", "mem_1", "--hard", "--yes").out


@pytest.mark.usefixtures("at_a_terminal")
@pytest.mark.parametrize(("answer", "code", "asked"), [(b"y\n", 0, 2), (b"n\n", 130, 1), (b"", 130, 1)])
def test_at_a_terminal_the_answer_decides(daemon: StandIn, run: Run, answer: bytes, code: int, asked: int) -> None:
    daemon.plan(requests.Forget, preview("mem_1"), gone("mem_1"))
    ended = run("forget", "mem_1", stdin=answer)
    assert ended.code == code
    assert "text of mem_1" in ended.out
    assert len(daemon.seen) == asked


def test_more_ids_than_one_request_may_name_go_in_several(daemon: StandIn, run: Run) -> None:
    ids = tuple(f"mem_{number}" for number in range(fields.IDS_MAX + 5))
    daemon.plan(requests.Forget, preview(*ids), gone(*ids[: fields.IDS_MAX]), gone(*ids[fields.IDS_MAX :]))
    ended = run("forget", "--query", "x", "--yes", "--json")
    document = json.loads(ended.out)
    assert document["count"] == fields.IDS_MAX + 5
    assert document["tombstones"] == fields.IDS_MAX + 5
    assert document["is_dry_run"] is False
    assert [len(request.ids) for request in daemon.seen] == [0, fields.IDS_MAX, 5]


def test_an_unknown_id_is_named_and_fails(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Forget, preview(unknown=("mem_9",)))
    ended = run("forget", "mem_9")
    assert ended.code == 1
    assert "mem_9: no such memory" in ended.err
    assert len(daemon.seen) == 1


@pytest.mark.parametrize(("arguments", "is_dry_run"), [((), False), (("--dry-run",), True)])
def test_nothing_forgotten_is_called_a_dry_run_only_when_it_was_one(
    daemon: StandIn, run: Run, arguments: tuple[str, ...], *, is_dry_run: bool
) -> None:
    daemon.plan(requests.Forget, preview(unknown=("mem_9",)))
    ended = run("forget", "mem_9", "--json", *arguments)
    assert ended.code == 1
    document = json.loads(ended.out)
    assert (document["count"], document["is_dry_run"], document["unknown"]) == (0, is_dry_run, ["mem_9"])


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("expires_at: 'x' is not understood", "--expires-at: 'x' is not understood"),
        ("cues[1]: is blank; leave it out", "--cue: is blank; leave it out"),
        ("`cursor` was not made by this store", "--cursor was not made by this store"),
        ("$.user is missing", "--user is missing"),
        ("something else: is wrong", "something else: is wrong"),
        ("unheard_of: is wrong", "unheard_of: is wrong"),
    ],
)
def test_what_the_daemon_refuses_is_named_as_it_was_given(daemon: StandIn, run: Run, said: str, shown: str) -> None:
    daemon.plan(requests.Remember, replies.Error(code="bad_request", message=said))
    ended = run("remember", "x")
    assert (ended.code, ended.err) == (64, f"recalld: {shown}\n")


def test_nothing_that_matches_is_nothing_to_forget(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Forget, preview())
    ended = run("forget", "--query", "lighthouse", "--yes")
    assert ended.code == 0
    assert "nothing to forget" in ended.out


def test_a_listing_shows_whole_ids_and_how_to_go_on(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.ListMemories, replies.Memories(memories=(MEMORY,), cursor="abc", total=7))
    ended = run("list", "--scope", "work", "--kind", "fact", "--contains", "50%", "--limit", "1")
    assert "mem_1" in ended.out
    assert "2026-" in ended.out
    assert "1 of 7; go on with --cursor abc" in ended.err
    (request,) = daemon.seen
    assert (request.scope, request.kind, request.contains, request.limit) == ("work", "fact", "50%", 1)


def test_what_no_longer_holds_can_be_listed(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.ListMemories, replies.Memories(memories=(MEMORY,), total=1))
    assert "mem_1" in run("list", "--superseded").out
    run("list")
    assert [request.superseded for request in daemon.seen] == [True, False]


def test_an_empty_listing_says_so(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.ListMemories, replies.Memories())
    assert run("list").out == "Nothing stored.\n"


@pytest.mark.parametrize(
    "arguments", [("--contains", "zzz"), ("--scope", "x"), ("--scope", ""), ("--kind", "note"), ("--superseded",)]
)
def test_an_empty_listing_of_a_selection_does_not_claim_that_nothing_is_stored(
    daemon: StandIn, run: Run, arguments: tuple[str, ...]
) -> None:
    daemon.plan(requests.ListMemories, replies.Memories())
    assert run("list", *arguments).out == "Nothing stored matches.\n"


@pytest.mark.parametrize(
    ("zone", "at", "shown"),
    [
        ("Europe/Berlin", "2030-01-01T23:00:00+00:00", "end of 2030-01-01"),
        ("Europe/Berlin", "2030-01-01T17:30:00+00:00", "2030-01-01 18:30+01:00"),
        ("America/New_York", "2026-11-02T05:00:00+00:00", "end of 2026-11-01"),
    ],
)
def test_an_expiry_is_listed_as_it_was_given(
    daemon: StandIn, run: Run, monkeypatch: pytest.MonkeyPatch, zone: str, at: str, shown: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    at_ms = int(dt.datetime.fromisoformat(at).timestamp() * 1000)
    memory = msgspec.structs.replace(MEMORY, expires_at_ms=at_ms)
    daemon.plan(requests.ListMemories, replies.Memories(memories=(memory,), total=1))
    daemon.plan(requests.Get, replies.Memory(memory=memory))
    assert shown in run("list").out
    assert f"expires  {shown}" in run("get", "mem_1").out


def test_one_memory_is_shown_in_full(daemon: StandIn, run: Run) -> None:
    memory = msgspec.structs.replace(
        MEMORY, cues=("Working\x1b days",), asks=("Is Mei in on Friday?",), updated_at_ms=MEMORY.created_at_ms + 60_000
    )
    daemon.plan(requests.Get, replies.Memory(memory=memory))
    ended = run("get", "mem_1")
    assert ended.code == 0
    for shown in ("Mei works from Monday", "mem_1, of ines", "fact", "work", "days", "Is Mei in", "never", "changed"):
        assert shown in ended.out
    assert "\x1b" not in ended.out
    request, *_ = daemon.seen
    assert (request.user, request.memory_id) == ("ines", "mem_1")
    assert json.loads(run("get", "mem_1", "--json").out)["memory"]["asks"] == ["Is Mei in on Friday?"]


def test_a_memory_that_is_not_there_ends_with_1(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Get, replies.Error(code="not_found", message="there is no memory 'mem_9'"))
    ended = run("get", "mem_9")
    assert (ended.code, ended.err) == (1, "recalld: there is no memory 'mem_9'\n")


def test_a_person_is_asked_only_when_both_ends_are_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from recalld.daemon.config import process_environment

    class Terminal:
        def __init__(self, *, is_one: bool) -> None:
            self.isatty = lambda: is_one

    for stdin, stdout, as_json, expected in (
        (True, True, False, True),
        (True, False, False, False),
        (False, True, False, False),
        (True, True, True, False),
    ):
        monkeypatch.setattr(sys, "stdin", Terminal(is_one=stdin))
        monkeypatch.setattr(sys, "stdout", Terminal(is_one=stdout))
        assert Common(environment=process_environment(), as_json=as_json).is_interactive is expected
