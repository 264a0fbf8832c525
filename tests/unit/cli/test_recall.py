"""`recalld recall` says what it found, and tells the empty answers apart."""

import json

import msgspec
import pytest
from stand_in_daemon import Run, StandIn

from recalld.daemon.cli.memory_texts import TEXTS_MAX
from recalld.daemon.cli.words import DEGRADED_REASONS, RECALL_REASONS
from recalld.models.domain.reasons import RecallReason
from recalld.protocol import replies, requests
from recalld.protocol.errors import ErrorCode
from recalld.protocol.items import Coverage, DroppedItem, GateReport, MemoryItem, RecalledItem, Timings

ITEM = RecalledItem(
    id="mem_1",
    text="Mei works from\nMonday to Thursday.",
    kind="fact",
    scope="",
    cosine=0.71,
    logit=4.2,
    relevance=0.93,
)


def stored(text: str) -> MemoryItem:
    return MemoryItem(
        id="mem_2",
        user="ines",
        text=text,
        kind="fact",
        scope="",
        source="explicit",
        status="active",
        created_at_ms=0,
        updated_at_ms=0,
        revision=1,
    )


SILENT = replies.Recalled(recall_id="rec_1", decision="silent", mode="gated", reason="gated")
INJECTED = replies.Recalled(
    recall_id="rec_2",
    decision="inject",
    mode="gated",
    reason="relevant",
    items=(ITEM,),
    dropped=(DroppedItem(id="mem_2", reason="below_threshold", cosine=0.6, relevance=0.01),),
    floor_items=("mem_1", "mem_2"),
    coverage=Coverage(discovered=9, searched=7, skipped_wrong_scope=2),
    gate=GateReport(threshold=0.02, pairs_scored=2),
    timings=Timings(total_ms=41.3, gate_ms=30),
)


def test_a_found_memory_is_shown_on_one_line_with_its_relevance(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Recall, INJECTED)
    ended = run("recall", "Is Mei in on Friday?")
    assert ended.code == 0
    assert "1 memory, judged relevant" in ended.out
    assert "0.93  Mei works from Monday to Thursday." in ended.out
    assert "recalld explain rec_2" in ended.out
    assert "mem_2" not in ended.out


def test_the_request_carries_what_the_options_say(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Recall, SILENT)
    run("recall", "hello", "--search", "--scope", "work", "--budget-ms", "120", "--max-items", "2", "--session", "s9")
    (request,) = daemon.seen
    assert (request.text, request.mode, request.scope) == ("hello", "search", "work")
    assert (request.budget_ms, request.max_items) == (120, 2)
    assert (request.session, request.user, request.explain) == ("s9", "ines", False)


def test_explain_shows_scores_dropped_candidates_and_coverage(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Recall, INJECTED)
    ended = run("recall", "Is Mei in on Friday?", "--explain")
    assert daemon.seen[0].explain
    assert "0.710" in ended.out
    assert "not relevant" in ended.out
    assert "mem_2" in ended.out
    assert "Searched 7 of 9 memories (2 in other scopes" in ended.out
    assert "threshold 0.020, 2 pairs scored" in ended.out
    assert "alone would have recalled 2" in ended.out


def test_an_explicit_search_counts_what_is_relevant_and_what_is_not(daemon: StandIn, run: Run) -> None:
    others = tuple(
        RecalledItem(id=f"mem_{n}", text="x", kind="fact", scope="", relevance=0.01, why="below_threshold")
        for n in (2, 3)
    )
    found = msgspec.structs.replace(INJECTED, items=(msgspec.structs.replace(ITEM, why="passed_gate"), *others))
    daemon.plan(requests.Recall, found, msgspec.structs.replace(found, items=others), found)
    first = run("recall", "x", "--search").out
    assert first.startswith("3 memories, 1 of them judged relevant, 2 less so:\n")
    assert run("recall", "x", "--search").out.startswith("2 memories, none of them judged relevant, 2 less so:\n")
    assert run("recall", "x", "--search", "--explain").out.count("less relevant") == 2


@pytest.mark.parametrize("reason", ["relevant", "passed_floor"])
def test_an_answer_that_found_something_and_holds_nothing_is_a_sentence(daemon: StandIn, run: Run, reason: str) -> None:
    daemon.plan(requests.Recall, replies.Recalled(recall_id="r", decision="silent", mode="floor_only", reason=reason))
    assert run("recall", "x").out.startswith("Something was found, but none of it was handed over.\n")


def test_dropped_candidates_are_shown_with_their_texts_as_far_as_they_can_be_had(daemon: StandIn, run: Run) -> None:
    dropped = tuple(DroppedItem(id=f"mem_d{n}", reason="below_threshold") for n in range(TEXTS_MAX + 2))
    daemon.plan(requests.Recall, msgspec.structs.replace(INJECTED, dropped=dropped))
    gone = replies.Error(code="not_found", message="gone")
    daemon.plan(requests.Get, *(replies.Memory(memory=stored(f"text {n}")) for n in range(3)), gone)
    ended = run("recall", "x", "--explain")
    asked = [request.memory_id for request in daemon.seen if isinstance(request, requests.Get)]
    assert asked == [item.id for item in dropped[:TEXTS_MAX]]
    assert "text 2 [mem_d2]" in ended.out
    assert "mem_d11" in ended.out
    assert "`recalld get ID` shows the memories listed by id alone." in ended.out
    assert "not a probability" in ended.out


def test_texts_of_dropped_candidates_are_an_extra_that_cannot_fail_the_command(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Recall, INJECTED)
    daemon.plan(requests.Get, replies.Error(code="busy", message="no"))
    ended = run("recall", "x", "--explain")
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize("reason", [reason for reason in RecallReason if reason not in {"relevant", "passed_floor"}])
def test_every_empty_answer_says_why_in_words_of_its_own(daemon: StandIn, run: Run, reason: RecallReason) -> None:
    decision = "error" if reason in {"store_unreadable", "envelope_exceeded", "busy"} else "silent"
    daemon.plan(
        requests.Recall, replies.Recalled(recall_id="rec_1", decision=decision, mode="empty", reason=reason.value)
    )
    ended = run("recall", "hello")
    first_line = ended.out.splitlines()[0]
    assert first_line == RECALL_REASONS[reason]
    assert ended.code == (75 if decision == "error" else 0)
    assert len([words for words in RECALL_REASONS.values() if words == first_line]) == 1


def test_a_degraded_answer_names_mode_cause_and_kind_of_failure(daemon: StandIn, run: Run) -> None:
    degraded = replies.Recalled(
        recall_id="rec_3",
        decision="silent",
        mode="floor_only",
        reason="below_floor",
        degraded_reason="score_failed",
        degraded_detail="RuntimeError",
    )
    daemon.plan(requests.Recall, degraded)
    ended = run("recall", "hello")
    assert "Degraded, by similarity only: the relevance model failed (RuntimeError)." in ended.out
    assert DEGRADED_REASONS["score_failed"] in ended.out


def test_a_reason_of_a_newer_daemon_is_shown_as_it_came(daemon: StandIn, run: Run) -> None:
    daemon.plan(
        requests.Recall, replies.Recalled(recall_id="r", decision="silent", mode="gated", reason="moon_in_the_way")
    )
    assert run("recall", "hello").out.startswith("moon in the way")


def test_json_is_the_reply_itself(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Recall, INJECTED)
    document = json.loads(run("recall", "hello", "--json").out)
    assert document["items"][0]["id"] == "mem_1"
    assert document["items"][0]["untrusted"] is True
    assert document["reason"] == "relevant"


def test_a_dash_reads_standard_input(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Recall, SILENT)
    run("recall", "-", stdin="Wo arbeitet Jürgen?\n".encode())
    assert daemon.seen[0].text == "Wo arbeitet Jürgen?"


def test_stored_escape_sequences_and_markup_reach_the_terminal_as_text(daemon: StandIn, run: Run) -> None:
    hostile = RecalledItem(id="mem_1", text="\x1b[2J[red]x[/red]\u202e", kind="fact", scope="\x07", relevance=0.9)
    daemon.plan(
        requests.Recall,
        replies.Recalled(recall_id="r", decision="inject", mode="gated", reason="relevant", items=(hostile,)),
    )
    for arguments in (("recall", "x"), ("recall", "x", "--explain")):
        out = run(*arguments).out
        assert "\x1b" not in out
        assert "\x07" not in out
        assert "\u202e" not in out
        assert "[red]x[/red]" in out


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        (ErrorCode.FORBIDDEN, 77),
        (ErrorCode.BUSY, 75),
        (ErrorCode.DRAINING, 75),
        (ErrorCode.STORAGE_UNAVAILABLE, 75),
        (ErrorCode.BAD_REQUEST, 64),
        (ErrorCode.INTERNAL, 1),
    ],
)
def test_what_the_daemon_refuses_becomes_one_line_and_an_exit_code(
    daemon: StandIn, run: Run, code: ErrorCode, exit_code: int
) -> None:
    daemon.plan(requests.Recall, replies.Error(code=code.value, message="no, because of the test"))
    ended = run("recall", "hello")
    assert ended.code == exit_code
    assert ended.out == ""
    assert ended.err.startswith("recalld: no, because of the test")
    assert ended.err.count("\n") == 1


def test_with_json_an_error_is_an_object_on_standard_output(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Recall, replies.Error(code="busy", message="too much at once"))
    ended = run("recall", "hello", "--json")
    assert ended.err == ""
    error = json.loads(ended.out)["error"]
    assert error["code"] == "busy"
    assert error["message"].startswith("too much at once")
