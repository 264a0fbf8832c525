"""Handing over a turn from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from stand_in_daemon import Run, StandIn

from recalld.daemon.cli.usage_line import usage_line
from recalld.protocol import items, replies, requests

MEMORY = items.MemoryItem(
    id="mem_1",
    user="ines",
    text="The user works at Initech.\x1b[2J",
    kind="fact",
    scope="",
    source="heuristic",
    status="active",
    created_at_ms=1,
    updated_at_ms=1,
    revision=1,
)
ADMITTED = replies.Admitted(
    decision_id="adm_1",
    kept=(
        items.Verdict(
            reason="stated",
            memory=MEMORY,
            outcome="superseded",
            superseded=("mem_0",),
            generator="rule",
            rule="employer/works-at",
            decided_by="admitted",
            evidence=("model:netclaw",),
        ),
        items.Verdict(
            reason="correction", outcome="closed", superseded=("mem_7",), generator="rule", rule="tool/no-longer"
        ),
    ),
    observed=(
        items.Verdict(
            reason="weak_evidence",
            outcome="observed",
            generator="judge",
            rule="judge.v1",
            observation=items.ObservationItem(
                id="obs_1", text="Cycles to work.", kind="fact", scope="", turns=2, first_at_ms=1, last_at_ms=2
            ),
        ),
    ),
    proposals=(
        items.Verdict(
            reason="needs_confirmation",
            outcome="proposed",
            generator="model",
            rule="netclaw",
            proposal=items.ProposalItem(
                id="obs_2",
                session="s",
                text="Call the user Zed.",
                kind="preference",
                scope="",
                reason="needs_confirmation",
                state="pending",
                created_at_ms=1,
                expires_at_ms=2,
            ),
        ),
    ),
    dropped=(
        items.Verdict(reason="negated", generator="model", rule="netclaw", decided_by="modality"),
        items.Verdict(
            reason="over_capacity",
            outcome="refused",
            generator="explicit",
            rule="explicit_save",
            usage=items.UsageItem(records=9, chars=80, records_max=10, chars_max=90, evictions=("mem_3", "mem_4")),
        ),
    ),
)


def test_a_turn_is_sent_with_everything_the_options_say(daemon: StandIn, run: Run, tmp_path: Path) -> None:
    daemon.plan(requests.Observe, ADMITTED)
    offered = tmp_path / "candidates.json"
    offered.write_text(
        json.dumps([{"statement": "Rides a Brompton.", "quote": "my Brompton", "asks": ["Which bike?"]}])
    )
    ended = run(
        *("observe", "I ride my Brompton.", "--speaker", "assistant", "--turn", "t1", "--session", "s1"),
        *("--scope", "work", "--candidates", str(offered)),
    )
    assert ended.code == 0
    request = daemon.seen[0]
    assert isinstance(request, requests.Observe)
    assert (request.user, request.session, request.turn_id, request.speaker, request.scope, request.text) == (
        *("ines", "s1", "t1", "assistant", "work"),
        "I ride my Brompton.",
    )
    assert request.candidates == (
        items.OfferedFact(statement="Rides a Brompton.", quote="my Brompton", asks=("Which bike?",)),
    )


def test_turns_without_a_name_are_different_turns(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Observe, ADMITTED)
    for _ in range(2):
        run("observe", "x")
    names = {request.turn_id for request in daemon.seen if isinstance(request, requests.Observe)}
    assert len(names) == 2


def test_what_was_kept_noted_proposed_and_dropped_is_told_with_its_reasons(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Observe, ADMITTED)
    ended = run("observe", "x")
    for line in (
        "Kept:",
        "kept, in place of what no longer holds: said plainly by the user (stated), by the rule admitted",
        "found by a rule (employer/works-at), and by model:netclaw",
        "in place of mem_0",
        "ended mem_7",
        "Noted until more turns say the same:",
        "Cycles to work.  obs_1, 2 turns",
        "found by the local judge (judge.v1)",
        "Waiting for your yes:",
        "Call the user Zed.  obs_2",
        "Dropped:",
        "found by a model (netclaw)",
        "says only what is not so (negated), by the rule modality",
        "refused: the user's memory is full (over_capacity)",
        "holds 9 of 10 memories and 80 of 90 characters",
        "could be forgotten:\n      mem_3\n      mem_4\n",
        "`recalld explain adm_1` shows the decision.",
    ):
        assert line in ended.out
    assert "\x1b" not in ended.out


def test_an_end_of_what_was_never_stored_does_not_say_that_something_ended(daemon: StandIn, run: Run) -> None:
    unmet = items.Verdict(reason="correction", outcome="closed", generator="rule", rule="tool/no-longer")
    daemon.plan(requests.Observe, replies.Admitted(decision_id="adm_1", dropped=(unmet,)))
    out = run("observe", "I no longer use Vim").out
    assert "there was nothing stored to end" in out
    assert "ended what was stored" not in out


def test_what_is_named_by_its_id_is_named_by_its_words_too(daemon: StandIn, run: Run) -> None:
    full = items.UsageItem(records=2, chars=10, records_max=2, evictions=("mem_3",))
    closed = items.Verdict(reason="correction", outcome="closed", superseded=("mem_7",), generator="rule")
    refused = items.Verdict(reason="over_capacity", outcome="refused", generator="rule", usage=full)
    daemon.plan(requests.Observe, replies.Admitted(decision_id="adm_1", kept=(closed,), dropped=(refused,)))
    daemon.plan(
        requests.Get,
        replies.Memory(memory=msgspec.structs.replace(MEMORY, text="Works at Globex.\x1b[2J")),
        replies.Memory(memory=msgspec.structs.replace(MEMORY, text="Owns a kettle.")),
    )
    out = run("observe", "x").out
    assert "ended mem_7 “Works at Globex.\N{REPLACEMENT CHARACTER}[2J”" in out
    assert "The scope is full: it holds 2 of 2 memories." in out
    assert "could be forgotten:\n      mem_3 “Owns a kettle.”" in out


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (items.UsageItem(records=9, chars=0, records_max=10), "nearly full"),
        (items.UsageItem(records=10, chars=0, records_max=10), "is full"),
        (items.UsageItem(records=11, chars=0, records_max=10), "is full"),
        (items.UsageItem(records=9, chars=90, records_max=10, chars_max=90), "is full"),
        (items.UsageItem(records=9, chars=89, chars_max=90), "nearly full"),
    ],
)
def test_a_scope_without_room_is_full_and_not_nearly_full(usage: items.UsageItem, words: str) -> None:
    assert words in usage_line(usage)


def test_a_turn_that_led_to_nothing_says_why(daemon: StandIn, run: Run) -> None:
    daemon.plan(
        requests.Observe, replies.Admitted(decision_id="adm_1", dropped=(items.Verdict(reason="nothing_stated"),))
    )
    ended = run("observe", "Nice weather.")
    assert "the turn as a whole\n    nothing worth keeping was stated (nothing_stated)" in ended.out


def test_with_json_the_reply_is_printed_as_it_came(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Observe, ADMITTED)
    shown = json.loads(run("observe", "x", "--json").out)
    assert (shown["decision_id"], shown["kept"][0]["generator"]) == ("adm_1", "rule")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"statement": "x"}', "is no list of facts"),
        ('[{"quote": "x"}]', "is no list of facts"),
        ("nonsense", "is no list of facts"),
        (json.dumps([{"statement": "x"}] * 33), "has 33 facts; leave all but 32 out"),
        (" " * 1_000_001, "is larger than 1000000 bytes"),
    ],
)
def test_a_file_that_is_no_list_of_facts_is_refused_by_its_option(
    daemon: StandIn, run: Run, tmp_path: Path, content: str, message: str
) -> None:
    offered = tmp_path / "candidates.json"
    offered.write_text(content)
    ended = run("observe", "x", "--candidates", str(offered))
    assert ended.code == 64
    assert "--candidates: " in ended.err
    assert message in ended.err
    assert daemon.seen == []


def test_a_save_that_took_the_place_of_another_says_so(daemon: StandIn, run: Run) -> None:
    daemon.plan(
        requests.Remember,
        replies.Remembered(
            memory=MEMORY,
            outcome="superseded",
            decision_id="adm_1",
            is_embedded=True,
            superseded=("mem_0",),
            usage=items.UsageItem(records=9, chars=80, records_max=10),
        ),
    )
    ended = run("remember", "Works at Initech")
    assert "Remembered, in place of what no longer holds" in ended.out
    assert "In place of mem_0, which no recall finds any more." in ended.out
    assert "The scope is nearly full: it holds 9 of 10 memories." in ended.out
