"""Drift and shadow mode, as `recalld stats` and `recalld explain` tell people of them."""

import json

import msgspec
from stand_in_daemon import Run, StandIn
from wire_examples import REPLIES

from recalld.protocol import replies, requests
from recalld.protocol.drift_items import DriftSection, GateDriftItem, UserDrift

REPORT = REPLIES["stats_report_with_drift"]


def test_stats_tell_each_gates_rates_shifts_and_alarms(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Stats, REPORT)
    out = run("stats").out
    assert "\n  relevance gate: fired" in out
    lines = [line.strip() for line in out.splitlines()]
    assert "Drift of ines" in lines
    assert "relevance gate: fired 250/500 = 0.500, before 250/1000 = 0.250" in lines
    assert "scores against the decisions before: PSI 0.500 (large, alarm from 0.25; 500 and 1000)" in lines
    assert "ALARM score_shift: PSI 0.50; calibrate again" in lines
    assert "write gate: fired 3/37 = 0.081 (too few decisions: 37 of 200)" in lines


def test_stats_compare_shadow_mode_with_what_was_done(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Stats, REPORT)
    assert (
        "shadow mode shadow_silent: 8 of 20 recalls went otherwise than decided; 11 would have come through, 0 did"
        in run("stats").out
    )


def test_of_many_users_those_with_alarms_come_first_and_the_rest_is_counted(daemon: StandIn, run: Run) -> None:
    assert isinstance(REPORT, replies.StatsReport)
    assert REPORT.drift is not None
    calm = GateDriftItem(gate="turn", n=0, fired=0, earlier_n=0, earlier_fired=0)
    users = (*(UserDrift(user=f"u{number}", gates=(calm,)) for number in range(9)), *REPORT.drift.users)
    daemon.plan(requests.Stats, msgspec.structs.replace(REPORT, drift=DriftSection(users=users)))
    out = run("stats").out
    assert out.index("Drift of ines") < out.index("Drift of u0")
    assert "… and 2 more users" in out
    daemon.plan(requests.Stats, msgspec.structs.replace(REPORT, drift=DriftSection(users=users)))
    assert len(json.loads(run("stats", "--json").out)["drift"]["users"]) == 10


def test_an_explanation_shows_what_the_gates_decided_and_what_was_done(daemon: StandIn, run: Run) -> None:
    item = {"memory_id": "mem_1", "relevance": 0.9, "evidence": {}}
    body = {
        "items": [item],
        "dropped": [],
        "floor_items": ["mem_1"],
        "threshold": 0.5,
        "calibration_id": "own-1",
        "discovered": 1,
        "searched": 1,
        "pairs_scored": 1,
        "pairs_cached": 0,
        "total_ms": 1.0,
        "gate_ms": 1.0,
        "shadow_mode": "shadow_silent",
        "served": [],
    }
    explanation = REPLIES["explanation"]
    assert isinstance(explanation, replies.Explanation)
    shown = msgspec.structs.replace(explanation, op="recall", body=msgspec.json.encode(body).decode())
    daemon.plan(requests.Explain, shown)
    out = " ".join(run("explain", "rec_1").out.split())
    assert "Shadow mode (shadow_silent): the gates decided to inject mem_1; injected was nothing." in out
