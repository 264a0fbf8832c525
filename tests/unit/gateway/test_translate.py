from __future__ import annotations

import msgspec
import pytest
from gateway_harness import make_health, make_memory

from recalld.daemon.gateway import admission_requests, translate
from recalld.models.domain import admission, recall, records, store
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.reasons import (
    DegradedReason,
    DropReason,
    Op,
    RecallDecision,
    RecallMode,
    RecallReason,
)
from recalld.models.domain.shadow import GateMode
from recalld.protocol import items, requests

NOW_MS = 1_800_000_000_000
MEMORY = make_memory("mem_1", records.NewMemory(user="u", text="drinks tea", cues=("Drinks",), asks=("What?",)))


def outcome(**changes: object) -> recall.RecallOutcome:
    plain = recall.RecallOutcome(
        recall_id="rec_1",
        decision=RecallDecision.SILENT,
        mode=RecallMode.GATED,
        reason=RecallReason.GATED,
        coverage=recall.Coverage(discovered=3, searched=2, skipped_wrong_scope=1),
        gate=recall.GateReport(threshold=0.5, pairs_scored=2),
        timings=recall.RecallTimings(total_ms=1.5),
    )
    return msgspec.structs.replace(plain, **changes)


@pytest.mark.parametrize(
    ("expires_at", "time_zone", "expected_ms"),
    [
        (None, "", None),
        (NOW_MS + 5, "", NOW_MS + 5),
        ("2027-11-01T18:00:00+14:00", "", 1_825_041_600_000),
        ("2027-11-01T18:00:00", "Pacific/Kiritimati", 1_825_041_600_000),
    ],
)
def test_an_expiry_is_read_in_the_zone_of_the_request(  # A23
    expires_at: str | int | None, time_zone: str, expected_ms: int | None
) -> None:
    request = requests.Remember(user="u", text="x", expires_at=expires_at, time_zone=time_zone)
    save = translate.remember_request(request, now_ms=NOW_MS, deadline_s=1.0)
    assert save.memory.expires_at_ms == expected_ms


@pytest.mark.parametrize(
    ("expires_at", "time_zone"),
    [
        ("2027-11-01", ""),
        ("soon", "Europe/Berlin"),
        (NOW_MS - 1, ""),
        ("2027-11-01", "Mars/Olympus"),
        ("2027-11-01", "/etc"),
        (None, "X/Y"),
        (NOW_MS + 5, "X/Y"),
    ],
)
def test_an_expiry_that_is_ambiguous_past_or_no_time_is_refused(  # A23
    expires_at: str | int | None, time_zone: str
) -> None:
    request = requests.Remember(user="u", text="x", expires_at=expires_at, time_zone=time_zone)
    with pytest.raises(RecalldError) as caught:
        translate.remember_request(request, now_ms=NOW_MS, deadline_s=1.0)
    assert caught.value.code is ErrorCode.BAD_REQUEST


def test_a_memory_of_white_space_is_refused() -> None:
    with pytest.raises(RecalldError, match="text"):
        translate.remember_request(requests.Remember(user="u", text=" \n"), now_ms=NOW_MS, deadline_s=1.0)


def test_a_query_of_white_space_is_no_query() -> None:
    with pytest.raises(RecalldError, match="query"):
        translate.forget_request(requests.Forget(user="u", query="  "), deadline_s=1.0)


def test_a_recall_is_translated_field_by_field() -> None:
    request = requests.Recall(
        user="u",
        session="s",
        turn_id="t",
        text="x",
        scope="p",
        exclude=("mem_2",),
        max_items=3,
        max_chars=99,
        mode="search",
        explain=True,
    )
    assert translate.recall_query(request, now_ms=NOW_MS, deadline_s=7.5) == recall.RecallQuery(
        user="u",
        session="s",
        turn_id="t",
        text="x",
        scope="p",
        exclude=("mem_2",),
        max_items=3,
        max_chars=99,
        is_search=True,
        explain=True,
        deadline_s=7.5,
    )


def test_what_a_turn_leans_on_is_translated_and_turns_that_are_not_supplied_stay_so() -> None:
    request = requests.Recall(
        user="u",
        session="s",
        parts=(items.TextPart(role="user", text="a"), items.TextPart(role="host", text="b")),
        turns=(items.PastTurn(speaker="assistant", text="before"),),
        now="2026-07-01T12:00:00",
        time_zone="Europe/Berlin",
        time="filter",
    )
    query = translate.recall_query(request, now_ms=NOW_MS, deadline_s=7.5)
    assert query.text == "a"
    assert [(part.kind.value, part.text) for part in query.parts] == [("user", "a"), ("host", "b")]
    assert query.turns == ("before",)
    assert (query.now_ms, query.time_zone, query.time) == (1_782_900_000_000, "Europe/Berlin", recall.TimeUse.FILTER)
    supplied = translate.recall_query(requests.Recall(user="u", session="", turns=()), now_ms=0, deadline_s=1.0)
    not_supplied = translate.recall_query(requests.Recall(user="u", session=""), now_ms=0, deadline_s=1.0)
    assert (supplied.turns, not_supplied.turns) == ((), None)


def test_a_filter_by_time_without_a_zone_is_refused_with_the_remedy() -> None:
    request = requests.Recall(user="u", session="", text="x", time="filter")
    with pytest.raises(RecalldError, match="time_zone: is needed to filter by time; give one such as Europe/Berlin"):
        translate.recall_query(request, now_ms=NOW_MS, deadline_s=1.0)


@pytest.mark.parametrize(
    ("now", "time_zone", "message"),
    [
        ("yesterday", "", "now: 'yesterday' is not understood; use RFC 3339"),
        ("2026-07-01T12:00:00", "", "now: '2026-07-01T12:00:00' has no offset; add one such as +02:00"),
        ("2026-02-30T12:00:00Z", "", "now: '2026-02-30T12:00:00Z' is not a possible date and time"),
        (1_782_900_000, "", "now: 1782900000 looks like seconds; integers are epoch milliseconds"),
        (None, "X/Y", "time_zone: 'X/Y' is no IANA time zone; give one such as Europe/Berlin"),
        (NOW_MS, "../etc", "time_zone: '../etc' is no IANA time zone"),
        (NOW_MS, "localtime", "time_zone: 'localtime' is no IANA time zone; give one such as Europe/Berlin"),
        (NOW_MS, "posixrules", "time_zone: 'posixrules' is no IANA time zone"),
        (NOW_MS, "Factory", "time_zone: 'Factory' is no IANA time zone"),
        (NOW_MS, "right/Europe/Berlin", "time_zone: 'right/Europe/Berlin' is no IANA time zone"),
        (NOW_MS, "posix/UTC", "time_zone: 'posix/UTC' is no IANA time zone"),
        (NOW_MS, "UTC", None),
        ("2026-07-01T12:00:00", "Europe/Berlin", None),
        ("2026-07-01 12:00:00.5z", "", None),
        (NOW_MS, "", None),
        (None, "", None),
    ],
)
def test_moments_and_zones_of_a_recall_and_a_turn_follow_one_rule(
    now: str | int | None, time_zone: str, message: str | None
) -> None:
    asked = requests.Recall(user="u", session="s", now=now, time_zone=time_zone)
    said = requests.Observe(user="u", session="s", turn_id="t", speaker="user", at=now, time_zone=time_zone)
    if message is None:
        translate.recall_query(asked, now_ms=NOW_MS, deadline_s=1.0)
        admission_requests.observed_turn(said, client="c", now_ms=NOW_MS, deadline_s=1.0)
        return
    with pytest.raises(RecalldError) as of_recall:
        translate.recall_query(asked, now_ms=NOW_MS, deadline_s=1.0)
    with pytest.raises(RecalldError) as of_turn:
        admission_requests.observed_turn(said, client="c", now_ms=NOW_MS, deadline_s=1.0)
    assert of_recall.value.code is of_turn.value.code is ErrorCode.BAD_REQUEST
    assert of_recall.value.message.startswith(message)
    assert of_turn.value.message.startswith(message.replace("now: ", "at: "))


@pytest.mark.parametrize("scope", [" ", "a\0b"])
def test_a_scope_is_refused_alike_in_every_request(scope: str) -> None:
    with pytest.raises(RecalldError, match="scope: "):
        translate.recall_query(requests.Recall(user="u", session="s", scope=scope), now_ms=NOW_MS, deadline_s=1.0)
    with pytest.raises(RecalldError, match="scope: "):
        translate.remember_request(requests.Remember(user="u", text="x", scope=scope), now_ms=NOW_MS, deadline_s=1.0)
    with pytest.raises(RecalldError, match="scope: "):
        translate.list_filter(requests.ListMemories(user="u", scope=scope))
    turn = requests.Observe(user="u", session="s", turn_id="t", speaker="user", scope=scope)
    with pytest.raises(RecalldError, match="scope: "):
        admission_requests.observed_turn(turn, client="c", now_ms=NOW_MS, deadline_s=1.0)


@pytest.mark.parametrize("user", [" ", "a\0b", "é" * 129])
def test_a_user_that_could_never_store_anything_is_refused_everywhere(user: str) -> None:
    with pytest.raises(RecalldError, match="user: ") as caught:
        translate.checked_user(user)
    assert caught.value.code is ErrorCode.BAD_REQUEST


def test_an_unknown_event_is_named_with_its_place() -> None:
    with pytest.raises(RecalldError, match=r"events\[1\]: no event is named 'nonsense'; give some of "):
        translate.event_names(("model_ready", "nonsense"))


@pytest.mark.parametrize(
    ("relevance", "cosine", "why"),
    [
        (0.5, 0.4, "passed_gate"),
        (0.49, 0.4, "below_threshold"),
        (None, 0.4, "passed_floor"),
        (None, None, "matched_words"),
    ],
)
def test_why_an_item_is_shown_follows_from_what_judged_it(
    relevance: float | None, cosine: float | None, why: str
) -> None:
    item = recall.RecalledItem(memory=MEMORY, evidence=recall.Evidence(cosine=cosine), relevance=relevance)
    (shown,) = translate.recalled(1, outcome(items=(item,)), now_ms=NOW_MS, explain=False).items
    assert (shown.why, shown.relevance, shown.cosine) == (why, relevance, cosine)


def test_an_item_that_was_never_scored_says_that_its_evidence_let_it_in() -> None:
    evidence = recall.Evidence(cosine=0.9)
    items = tuple(
        recall.RecalledItem(memory=MEMORY, evidence=evidence, relevance=relevance, is_unscored=True)
        for relevance in (0.6, 0.1)
    )
    shown = translate.recalled(1, outcome(items=items), now_ms=NOW_MS, explain=False).items
    assert [(item.why, item.logit) for item in shown] == [("by_evidence", None), ("below_threshold", None)]


def test_dropped_candidates_are_sent_only_when_asked_for_and_degradation_always() -> None:
    dropped = recall.DroppedItem(memory_id="mem_2", reason=DropReason.BUDGET, evidence=recall.Evidence(logit=-3.0))
    degraded = outcome(dropped=(dropped,), mode=RecallMode.FLOOR_ONLY, degraded_reason=DegradedReason.BREAKER_OPEN)
    plain = translate.recalled(1, degraded, now_ms=NOW_MS, explain=False)
    asked = translate.recalled(1, degraded, now_ms=NOW_MS, explain=True)
    assert (plain.dropped, plain.mode, plain.degraded_reason) == ((), "floor_only", "breaker_open")
    assert [(item.id, item.reason, item.logit) for item in asked.dropped] == [("mem_2", "budget", -3.0)]
    assert plain.coverage.discovered == plain.coverage.searched + plain.coverage.skipped_wrong_scope


def test_in_shadow_mode_a_reply_says_what_was_done_and_beside_it_what_the_gates_decided() -> None:
    item = recall.RecalledItem(memory=MEMORY, evidence=recall.Evidence(), relevance=0.9)
    decided = outcome(items=(item,))
    silent = msgspec.structs.replace(decided, shadow=recall.ShadowServing(mode=GateMode.SHADOW_SILENT))
    shown = translate.recalled(1, silent, now_ms=NOW_MS, explain=False)
    assert (shown.decision, shown.reason, shown.items) == ("silent", "shadow", ())
    assert shown.shadow is not None
    assert (shown.shadow.mode, shown.shadow.decision, shown.shadow.reason, shown.shadow.item_ids) == (
        "shadow_silent",
        decided.decision,
        decided.reason,
        (MEMORY.id,),
    )
    injecting = recall.ShadowServing(mode=GateMode.SHADOW_INJECT, items=(item,))
    skipped = outcome(decision=RecallDecision.SKIP, reason=RecallReason.ACKNOWLEDGEMENT, shadow=injecting)
    shown = translate.recalled(1, skipped, now_ms=NOW_MS, explain=False)
    assert (shown.decision, shown.reason, len(shown.items)) == ("inject", "shadow", 1)
    assert translate.recalled(1, decided, now_ms=NOW_MS, explain=False).shadow is None


def test_in_shadow_mode_silence_because_something_broke_stays_an_error() -> None:
    broken = outcome(
        decision=RecallDecision.ERROR,
        reason=RecallReason.DEGRADED,
        shadow=recall.ShadowServing(mode=GateMode.SHADOW_SILENT),
    )
    shown = translate.recalled(1, broken, now_ms=NOW_MS, explain=False)
    assert (shown.decision, shown.reason) == ("error", "degraded")


def test_an_age_is_never_negative_when_the_clock_was_set_back() -> None:
    item = recall.RecalledItem(memory=MEMORY, evidence=recall.Evidence(), relevance=None)
    (shown,) = translate.recalled(1, outcome(items=(item,)), now_ms=0, explain=False).items
    assert shown.age_s == 0


def test_a_long_list_of_forgotten_memories_is_cut_but_counted_in_full() -> None:
    reply = admission.ForgetReply(memories=(MEMORY,) * 10_001)
    shown = translate.forgotten(1, reply)
    assert (shown.count, len(shown.ids), len(shown.items)) == (10_001, 10_000, 100)


def test_a_ledger_row_with_bytes_that_are_no_text_is_still_shown() -> None:
    row = store.DecisionRow(
        id="d", user="u", session="s", op=Op.FORGET, at_ms=1, decision="x", reason="y", body=b'{"a":"\xff"}'
    )
    assert translate.explanation(1, row).body == '{"a":"\ufffd"}'


@pytest.mark.parametrize("is_deep", [False, True])
def test_no_field_of_the_health_report_is_lost(is_deep: bool) -> None:  # noqa: FBT001 - a parameter of the test
    report = make_health(is_deep=is_deep)
    shown = msgspec.to_builtins(translate.health_report(1, report))
    expected = msgspec.to_builtins(report)
    for inner in ("damaged_ids", "missing"):  # named in the store's `detail`, for people
        del expected["store"][inner]
    assert {name: value for name, value in shown.items() if name not in ("id", "type")} == expected


def test_no_field_of_a_memory_is_lost() -> None:
    shown = msgspec.to_builtins(translate.memory_item(MEMORY))
    assert shown.pop("untrusted") is True
    assert shown == msgspec.to_builtins(MEMORY)
