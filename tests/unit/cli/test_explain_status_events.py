"""Looking into the daemon: one decision, its state, and what it reports."""

import errno
import json

import msgspec
import pytest
from stand_in_daemon import Run, StandIn

from recalld.daemon.cli import main
from recalld.daemon.cli.commands import events as events_module
from recalld.daemon.cli.standard_streams import OutputError
from recalld.protocol import replies, requests
from recalld.protocol.items import ModelState, StoreState

EXPLANATION = replies.Explanation(
    decision_id="rec_1",
    user="ines",
    session="s1",
    op="recall",
    at_ms=1_796_000_000_000,
    decision="silent",
    reason="gated",
    mode="floor_only",
    degraded_reason="breaker_open",
    body='{"threshold": 0.02, "note": "\\u001b[2J"}',
)
HEALTH = replies.HealthReport(
    version="0.1.0",
    pid=17,
    uptime_s=7_300,
    is_draining=False,
    store=StoreState(
        is_readable=True,
        is_writable=True,
        schema_version=1,
        users=2,
        live=12,
        blank=0,
        fts_rows=12,
        fts_matches=True,
        pending_embedding=3,
        other_embedder=0,
        db_bytes=1 << 20,
        wal_bytes=0,
    ),
    scorer=ModelState(state="ready", model_id="ms-marco-minilm-l-12-v2-int8", jobs=4),
    embedder=ModelState(state="unavailable", detail="no file"),
    breaker="closed",
    gate_mode="on",
    calibration_id="cal-1",
    calibration_matches=True,
    window_s=900,
    window_recalls=20,
    window_degraded={"embedder_unavailable": 4, "queue_full": 0},
    actors_active=1,
    actor_restarts=0,
    queue_depth=0,
    ledger_rows_dropped=0,
    rss_bytes=200 << 20,
    open_fds=19,
)


def event(number: int) -> replies.Event:
    return replies.Event(name="memory_retrieval_final", at_ms=1_796_000_000_000 + number, fields={"n": number})


def test_a_decision_is_explained_in_words_with_its_details(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Explain, EXPLANATION)
    out = run("explain", "rec_1").out
    assert "silent (gated)" in out
    assert "none of them is relevant" in out
    assert "left alone for a while" in out
    assert '"threshold": 0.02' in out
    assert "\x1b" not in out


def test_the_record_of_a_recall_is_a_table_a_person_can_read(daemon: StandIn, run: Run) -> None:
    body = msgspec.json.encode(
        {
            "items": [{"memory_id": "mem_1", "relevance": 0.91, "evidence": {"logit": 4.5, "ask_cosine": 0.88}}],
            "dropped": [{"memory_id": "mem_2", "reason": "below_threshold", "relevance": 0.01, "evidence": {}}],
            "floor_items": ["mem_1", "mem_2"],
            "threshold": 0.04,
            "calibration_id": "shipped",
            "discovered": 12,
            "searched": 10,
            "pairs_scored": 2,
            "pairs_cached": 0,
            "total_ms": 41.0,
            "gate_ms": 22.0,
            "from_the_future": True,
        }
    ).decode()
    daemon.plan(requests.Explain, replies.Explanation(**{**_fields(EXPLANATION), "body": body}))
    out = run("explain", "rec_1").out
    assert "0.910" in out
    assert "4.500" in out
    assert "not relevant" in out
    assert "threshold 0.040 (shipped)" in out
    assert "Searched 10 of 12 memories" in out
    assert "{" not in out


def test_what_the_turn_gate_saw_is_told_in_sentences(daemon: StandIn, run: Run) -> None:
    turn = {
        "answer": "run",
        "decided_by": "store_probe",
        "cause": "error",
        "cue_families": ["told"],
        "terms": 4,
        "terms_posted": 1,
        "intervals": [{"rule": "since", "start_ms": 0, "end_ms": None, "confidence": 0.425}],
        "is_zone_known": False,
        "asks_only_for_time": True,
        "model": "answered",
        "query_fallback": True,
        "is_repeat": True,
    }
    fields = {"items": [], "dropped": [], "floor_items": [], "threshold": None, "calibration_id": "", "discovered": 3}
    counts = {"searched": 1, "skipped_out_of_interval": 2, "pairs_scored": 0, "pairs_cached": 0}
    times = {"total_ms": 1.0, "gate_ms": 0.0, "turn_ms": 0.4, "limited_by": ["time_limit"]}
    body = msgspec.json.encode({**fields, **counts, **times, "turn": turn}).decode()
    silent = {**_fields(EXPLANATION), "body": body}
    skipped = {**silent, "decision": "skip", "reason": "weak_evidence", "mode": "gated", "degraded_reason": ""}
    daemon.plan(requests.Explain, replies.Explanation(**silent), replies.Explanation(**skipped))
    out = run("explain", "rec_1").out
    assert "Turn gate: run, by the rule store_probe, because of error, as before in this turn." in out
    assert "1 of 4 terms known to the store" in out
    assert "the runtime's model: answered, without a usable query" in out
    assert "1970-01-01 00:00 UTC to … (since, confidence 0.42, read in UTC for want of a zone)" in " ".join(out.split())
    assert "It asks for nothing but that time" in out
    assert "Searched 1 of 3 memories (2 of other times)." in out
    assert "Limited: more are of that time." in out
    assert "Turn gate: run" in run("explain", "rec_1").out


def test_details_that_are_no_json_are_shown_as_they_came(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Explain, replies.Explanation(**{**_fields(EXPLANATION), "body": "not json"}))
    assert "not json" in run("explain", "rec_1").out


def test_a_turn_that_was_not_searched_for_shows_no_mode(daemon: StandIn, run: Run) -> None:
    skipped = msgspec.structs.replace(
        EXPLANATION, decision="skip", reason="acknowledgement", mode="gated", degraded_reason=""
    )
    daemon.plan(requests.Explain, skipped)
    out = run("explain", "rec_1").out
    assert "only acknowledges" in out
    assert "mode" not in out
    assert "judged" not in out


@pytest.mark.parametrize(
    ("op", "decision", "reason", "words"),
    [
        ("remember", "kept", "explicit_save", "asked for explicitly"),
        ("forget", "forgotten", "requested", "asked for, and gone"),
        ("forget", "nothing", "not_found", "nothing of what was to be forgotten was there"),
    ],
)
def test_a_save_and_a_forgetting_are_explained_with_what_the_row_holds(
    daemon: StandIn, run: Run, op: str, decision: str, reason: str, words: str
) -> None:
    row = replies.Explanation(
        decision_id="fgt_1",
        user="ines",
        session="",
        op=op,
        at_ms=0,
        decision=decision,
        reason=reason,
        body='{"memory_ids": ["mem_1"], "count": 1}',
    )
    daemon.plan(requests.Explain, row)
    out = run("explain", "fgt_1").out
    assert f"decision: {decision} ({reason})\n  {words}\n" in out
    assert '"mem_1"' in out


SAVED = {"kind": "fact", "outcome": "created", "given_asks": 1, "added_cues": 2, "sources": ["gazetteer"]}
CHANGED = {
    "memory_id": "mem_1",
    "changed": ["asks"],
    "cues": {"before": 0, "after": 0, "new": 0},
    "asks": {"before": 1, "after": 2, "new": 1},
    "note": "cues.v1",
}
SHOWN = {"memory_id": "mem_1", "usefulness": 0.5, "value": 1.0, "words": 3}
STANDING = {
    "scope": "",
    "items": [SHOWN],
    "others": [{**SHOWN, "memory_id": "mem_2", "verdict": "unproven", "choice": "pinned"}],
    "left_out": 1,
    "chars": 20,
    "chars_max": 400,
}


@pytest.mark.parametrize(
    ("op", "body", "lines"),
    [
        ("observe", SAVED, ("memory: created, a fact that holds everywhere", "questions: 1 given, 0 added")),
        ("remember", SAVED, ("headings: 0 given, 2 added automatically",)),
        ("update", CHANGED, ("changed: asks, by cues.v1", "questions: 1 before, 2 now, 1 of them new")),
        ("standing", STANDING, ("block: 1 shown for no scope, 20 of 400 characters; 1 did not fit", "shown mem_1")),
    ],
)
def test_saves_changes_and_blocks_are_told_in_a_few_lines(
    daemon: StandIn, run: Run, op: str, body: dict[str, object], lines: tuple[str, ...]
) -> None:
    row = {**_fields(EXPLANATION), "op": op, "mode": "", "degraded_reason": ""}
    daemon.plan(requests.Explain, replies.Explanation(**{**row, "body": msgspec.json.encode(body).decode()}))
    out = run("explain", "adm_1").out
    assert all(line in out for line in lines)
    assert "{" not in out


def test_a_row_of_a_version_that_is_not_known_is_shown_as_it_came(daemon: StandIn, run: Run) -> None:
    row = {**_fields(EXPLANATION), "op": "update", "body": '{"memory_id": 3}'}
    daemon.plan(requests.Explain, replies.Explanation(**row))
    assert '"memory_id": 3' in run("explain", "upd_1").out


def test_the_id_of_a_memory_is_refused_with_the_kind_that_is_wanted(daemon: StandIn, run: Run) -> None:
    ended = run("explain", "mem_1")
    assert ended.code == 64
    assert "adm_…" in ended.err
    assert "recalld get mem_1" in ended.err
    assert daemon.seen == []


def test_an_unknown_decision_ends_with_1(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Explain, replies.Error(code="not_found", message="no decision rec_9"))
    ended = run("explain", "rec_9")
    assert (ended.code, ended.err) == (1, "recalld: no decision rec_9\n")


def test_the_status_names_store_models_gate_and_degraded_recalls(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Health, HEALTH)
    daemon.plan(
        requests.Stats, replies.StatsReport(uptime_s=1, counters={"recalls": 20}, latencies_ms={"gate_p50": 31})
    )
    out = run("status").out
    assert "12 memories of 2 users" in out
    assert "ready, ms-marco-minilm-l-12-v2-int8" in out
    assert "unavailable, no model (no file)" in out
    assert "20 in the last 15 min, degraded: 4 because the embedding model is not loaded" in out
    assert "queue_full" not in out
    assert "gate_p50 31" in out
    assert "1 user ready" in out


def test_the_status_as_json_holds_both_reports(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Health, HEALTH)
    daemon.plan(requests.Stats, replies.StatsReport(uptime_s=1, counters={"recalls": 20}, latencies_ms={}))
    document = json.loads(run("status", "--json").out)
    assert document["health"]["store"]["live"] == 12
    assert document["stats"]["counters"] == {"recalls": 20}


def test_events_come_as_one_json_object_a_line_until_the_count_is_reached(daemon: StandIn, run: Run) -> None:
    daemon.plan_events(event(1), event(2), event(3))
    ended = run("events", "--count", "2", "--json", "--name", "memory_retrieval_final", "--user", "ines")
    assert ended.code == 0
    assert [json.loads(line)["fields"]["n"] for line in ended.out.splitlines()] == [1, 2]
    subscription = next(request for request in daemon.seen if isinstance(request, requests.Subscribe))
    assert (subscription.events, subscription.user) == (("memory_retrieval_final",), "ines")


def test_events_for_people_name_fields_and_say_what_was_dropped(daemon: StandIn, run: Run) -> None:
    daemon.plan_events(
        replies.Event(name="actor_restarted", at_ms=0, user="ines", fields={"actor": "a\x1b"}, dropped=7)
    )
    ended = run("events", "--count", "1")
    assert "actor_restarted user=ines actor=a" in ended.out
    assert "\x1b" not in ended.out
    assert "7 events were dropped" in ended.err


def test_a_timeout_before_the_count_is_reached_ends_with_1(daemon: StandIn, run: Run) -> None:
    daemon.plan_events(event(1))
    ended = run("events", "--count", "5", "--timeout", "0.2", "--json")
    assert ended.code == 1
    assert len(ended.out.splitlines()) == 1


def test_a_timeout_alone_is_how_watching_was_meant_to_end(daemon: StandIn, run: Run) -> None:
    daemon.plan_events(event(1))
    assert run("events", "--timeout", "0.2").code == 0


def test_following_goes_on_when_the_daemon_comes_back(
    daemon: StandIn, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "RECONNECT_PAUSE_S", 0)
    daemon.plan(requests.Subscribe, replies.Error(code="draining", message="stopping", retryable=True))
    daemon.plan_events(event(1))
    ended = run("events", "--follow", "--count", "1")
    assert ended.code == 0
    assert "n=1" in ended.out


def test_without_following_a_refusal_ends_the_watch(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Subscribe, replies.Error(code="draining", message="stopping"))
    assert run("events", "--count", "1").code == 75


def test_following_a_daemon_that_was_never_there_is_an_error(run: Run) -> None:
    assert run("events", "--follow", "--count", "1").code == 69


@pytest.mark.parametrize("is_following", [True, False])
def test_a_reader_that_leaves_ends_the_watch_quietly(
    daemon: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, is_following: bool
) -> None:
    def broken(_event: replies.Event) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    def show(event: replies.Event) -> None:
        try:
            broken(event)
        except OSError as error:
            raise OutputError(error) from error

    monkeypatch.setattr(events_module, "_show", show)
    daemon.plan_events(event(1))
    assert main(["events", *(["--follow"] if is_following else [])]) == 141
    assert capsys.readouterr() == ("", "")


def _fields(struct: replies.Explanation) -> dict[str, object]:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}
