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
from recalld.protocol.items import Coverage, DroppedItem, GateReport, MemoryItem, RecalledItem, ShadowItem, Timings

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
    assert request.time == "boost"


def test_only_memories_of_a_time_are_asked_for_in_the_local_zone(
    daemon: StandIn, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.plan(requests.Recall, SILENT, SILENT)
    monkeypatch.setenv("TZ", "Europe/Berlin")
    run("recall", "what did we decide yesterday?", "--only-then")
    monkeypatch.setenv("TZ", "Nowhere/Atall")
    run("recall", "hello")
    assert [(request.time, request.time_zone) for request in daemon.seen] == [
        ("filter", "Europe/Berlin"),
        ("boost", ""),
    ]


EMPTIES = {
    "nothing stored": (
        replies.Recalled(recall_id="r", decision="silent", mode="gated", reason="nothing_stored"),
        "Nothing is stored yet for ines.",
    ),
    "pending": (
        replies.Recalled(
            recall_id="r",
            decision="silent",
            mode="gated",
            reason="embedding_pending",
            coverage=Coverage(discovered=2, searched=2, pending_embedding=2),
        ),
        "Stored but not embedded yet",
    ),
    "below the floor": (
        replies.Recalled(recall_id="r", decision="silent", mode="gated", reason="below_floor"),
        "Nothing stored is similar enough",
    ),
    "gated": (
        replies.Recalled(recall_id="r", decision="silent", mode="gated", reason="gated"),
        "none of them is relevant",
    ),
    "excluded": (
        replies.Recalled(recall_id="r", decision="silent", mode="gated", reason="excluded"),
        "shown in this session",
    ),
    "degraded": (
        replies.Recalled(
            recall_id="r",
            decision="error",
            mode="lexical_only",
            reason="degraded",
            degraded_reason="embedder_unavailable",
        ),
        "Only words could be searched",
    ),
    "of no such time": (
        replies.Recalled(recall_id="r", decision="silent", mode="gated", reason="nothing_in_interval"),
        "Nothing is stored from the time",
    ),
}


@pytest.mark.parametrize("name", EMPTIES)
def test_each_kind_of_empty_has_its_own_sentence(daemon: StandIn, run: Run, name: str) -> None:
    reply, words = EMPTIES[name]
    daemon.plan(requests.Recall, reply)
    first_line = run("recall", "hello").out.splitlines()[0]
    assert words in first_line
    assert [other for other, (_, sentence) in EMPTIES.items() if sentence in first_line] == [name]


@pytest.mark.parametrize(
    "reason", ["below_floor", "no_candidates", "gated", "embedding_pending", "nothing_in_interval"]
)
def test_where_the_index_lags_that_is_said_and_no_other_query_is_advised(
    daemon: StandIn, run: Run, reason: str
) -> None:
    coverage = Coverage(discovered=9, searched=9, pending_embedding=4, index_seq=5, store_seq=9)
    reply = replies.Recalled(recall_id="r", decision="silent", mode="gated", reason=reason, coverage=coverage)
    daemon.plan(requests.Recall, reply)
    out = run("recall", "hello").out
    lines = out.splitlines()
    assert "not embedded yet" in lines[0 if reason == "embedding_pending" else 1]
    assert "The vector index lags behind the newest changes" in out
    for advice in ("broaden", "other words", "rephrase", "another query"):
        assert advice not in out


def test_limits_and_what_was_skipped_are_told_when_asked(daemon: StandIn, run: Run) -> None:
    coverage = Coverage(
        discovered=9,
        searched=5,
        skipped_wrong_scope=1,
        skipped_out_of_interval=2,
        skipped_unreadable=1,
        limited_by=("vector_limit", "max_items"),
    )
    daemon.plan(requests.Recall, msgspec.structs.replace(INJECTED, coverage=coverage))
    out = run("recall", "x", "--explain").out
    assert "Searched 5 of 9 memories (1 in other scopes, 2 of other times, 1 unreadable; 0 not embedded yet)." in out
    assert "Limited: more are similar." in out
    assert "Limited: more passed than may be handed over." in out


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


def test_each_way_in_is_counted_as_what_it_is(daemon: StandIn, run: Run) -> None:
    whys = ("passed_gate", "passed_floor", "passed_floor", "matched_words", "by_evidence", "below_threshold")
    items = tuple(
        RecalledItem(id=f"mem_{place}", text="x", kind="fact", scope="", why=why) for place, why in enumerate(whys)
    )
    daemon.plan(requests.Recall, msgspec.structs.replace(INJECTED, items=items))
    assert run("recall", "x", "--search").out.startswith(
        "6 memories (1 judged relevant, 1 relevant by its other evidence, not scored in time, 1 less relevant,"
        " 2 near enough but not judged, 1 matched by words but not judged):\n"
    )


@pytest.mark.parametrize("limit", ["budget", "candidates_max"])
def test_a_silence_of_the_gate_says_when_not_all_were_judged(daemon: StandIn, run: Run, limit: str) -> None:
    daemon.plan(requests.Recall, msgspec.structs.replace(SILENT, coverage=Coverage(limited_by=(limit,))), SILENT)
    assert "none of those that could be judged is relevant" in run("recall", "x").out
    assert "none of them is relevant" in run("recall", "x").out


def test_an_explicit_search_counts_what_is_relevant_and_what_is_not(daemon: StandIn, run: Run) -> None:
    others = tuple(
        RecalledItem(id=f"mem_{n}", text="x", kind="fact", scope="", relevance=0.01, why="below_threshold")
        for n in (2, 3)
    )
    found = msgspec.structs.replace(INJECTED, items=(msgspec.structs.replace(ITEM, why="passed_gate"), *others))
    daemon.plan(requests.Recall, found, msgspec.structs.replace(found, items=others), found)
    first = run("recall", "x", "--search").out
    assert first.startswith("3 memories (1 judged relevant, 2 less relevant):\n")
    assert run("recall", "x", "--search").out.startswith("2 memories (2 less relevant):\n")
    assert run("recall", "x", "--search", "--explain").out.count("│ less relevant") == 2


@pytest.mark.parametrize("reason", ["relevant", "passed_floor"])
def test_an_answer_that_found_something_and_holds_nothing_is_a_sentence(daemon: StandIn, run: Run, reason: str) -> None:
    daemon.plan(requests.Recall, replies.Recalled(recall_id="r", decision="silent", mode="floor_only", reason=reason))
    assert run("recall", "x").out.startswith("Something was found, but none of it was handed over.\n")


def test_dropped_candidates_are_shown_with_their_texts_as_far_as_they_can_be_had(daemon: StandIn, run: Run) -> None:
    dropped = tuple(DroppedItem(id=f"mem_d{n}", reason="below_threshold", logit=-9.0) for n in range(TEXTS_MAX + 2))
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


def test_what_never_came_to_the_gate_is_counted_but_for_the_first_few(daemon: StandIn, run: Run) -> None:
    far = tuple(DroppedItem(id=f"mem_f{n}", reason="below_floor", cosine=0.3) for n in range(21))
    reply = msgspec.structs.replace(INJECTED, dropped=(*INJECTED.dropped, *far))
    daemon.plan(requests.Recall, reply, reply)
    out = run("recall", "x", "--explain").out
    assert [f"mem_f{n}" in out for n in range(21)] == [True] * 5 + [False] * 16
    assert "mem_2" in out
    assert "… and 16 not similar enough (--explain --all shows them)" in out
    everything = run("recall", "x", "--explain", "--all").out
    assert "mem_f20" in everything
    assert "shows them)" not in everything
    refused = run("recall", "x", "--all")
    assert (refused.code, "--explain" in refused.err) == (64, True)


def test_of_a_long_memory_its_beginning_is_shown_and_how_to_see_the_rest(daemon: StandIn, run: Run) -> None:
    text = "word " * 1_602 + "end"
    long = msgspec.structs.replace(INJECTED, items=(msgspec.structs.replace(ITEM, text=text),))
    daemon.plan(requests.Recall, long, long)
    line = run("recall", "x").out.splitlines()[1]
    assert "… (8,013 characters; `recalld get mem_1`)" in line
    assert len(line) < 400
    assert json.loads(run("recall", "x", "--json").out)["items"][0]["text"] == text


@pytest.mark.parametrize(("is_filtered", "is_said"), [(False, True), (True, False), (None, False)])
def test_that_the_turn_names_no_time_is_said_where_only_that_time_was_asked_for(
    daemon: StandIn, run: Run, monkeypatch: pytest.MonkeyPatch, *, is_filtered: bool | None, is_said: bool
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    reply = msgspec.structs.replace(SILENT, coverage=Coverage(discovered=3, searched=3, is_time_filtered=is_filtered))
    daemon.plan(requests.Recall, reply, reply)
    assert ("names no time" in run("recall", "dentist", "--only-then").out) is is_said
    assert "names no time" not in run("recall", "dentist").out


def test_texts_of_dropped_candidates_are_an_extra_that_cannot_fail_the_command(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Recall, INJECTED)
    daemon.plan(requests.Get, replies.Error(code="busy", message="no"))
    ended = run("recall", "x", "--explain")
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    "reason", [reason for reason in RecallReason if reason not in {"relevant", "passed_floor", "in_interval"}]
)
def test_every_empty_answer_says_why_in_words_of_its_own(daemon: StandIn, run: Run, reason: RecallReason) -> None:
    decision = "error" if reason in {"store_unreadable", "envelope_exceeded", "busy"} else "silent"
    daemon.plan(
        requests.Recall, replies.Recalled(recall_id="rec_1", decision=decision, mode="empty", reason=reason.value)
    )
    ended = run("recall", "hello")
    first_line = ended.out.splitlines()[0]
    assert first_line == ("Nothing is stored yet for ines." if reason == "nothing_stored" else RECALL_REASONS[reason])
    assert ended.code == (75 if decision == "error" else 0)
    assert len([words for words in RECALL_REASONS.values() if words == first_line]) == (reason != "nothing_stored")


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


def test_in_shadow_mode_what_was_done_is_told_beside_what_the_gates_decided(daemon: StandIn, run: Run) -> None:
    decided = ShadowItem(mode="shadow_silent", decision="inject", reason="relevant", item_ids=("mem_1", "mem_2"))
    daemon.plan(requests.Recall, msgspec.structs.replace(SILENT, reason="shadow", shadow=decided))
    assert run("recall", "hello").out.splitlines()[0] == (
        "Shadow mode (shadow_silent): nothing is handed over; with the gates obeyed, 2 memories would have been "
        "(inject, relevant)."
    )
    skipped = ShadowItem(mode="shadow_inject", decision="skip", reason="acknowledgement")
    daemon.plan(requests.Recall, msgspec.structs.replace(INJECTED, reason="shadow", shadow=skipped))
    lines = run("recall", "thanks").out.splitlines()
    assert "1 memory handed over; with the gates obeyed, nothing would have been (skip, acknowledgement)" in lines[0]
    assert "Mei works from" in lines[1]
