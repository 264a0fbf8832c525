"""What is told of an observed turn's ledger row."""

from __future__ import annotations

import json

from recalld.daemon.cli.commands.explain_bodies import body_lines
from recalld.daemon.cli.commands.explain_turn import turn_lines


def body(**parts: object) -> str:
    return json.dumps(parts)


FACT = {
    "outcome": "superseded",
    "disposition": "record",
    "reason": "stated",
    "generator": "rule",
    "source_rule": "employer/works-at + model:netclaw",
    "decided_by": "admitted",
    "memory_id": "mem_1",
    "superseded": [f"mem_{number}" for number in range(10, 17)],
}
DROPPED = {"reason": "negated", "rule": "modality", "generator": "model", "source_rule": "netclaw"}


def test_each_fact_is_told_with_what_became_of_it_why_and_what_found_it() -> None:
    noted = {"outcome": "observed", "reason": "weak_evidence", "generator": "judge", "note_id": "obs_1"}
    lines = turn_lines(body(facts=[FACT, noted], dropped=[DROPPED]))
    assert lines == [
        "3 facts found: 1 by a rule, 1 by the local judge, 1 by a model",
        (
            "kept, in place of what no longer holds: said plainly by the user (stated), by the rule admitted, "
            "found by a rule (employer/works-at + model:netclaw)  mem_1"
        ),
        "  in place of mem_10, mem_11, mem_12, mem_13, mem_14 and 2 more",
        "noted: noted until more turns say the same (weak_evidence), found by the local judge  obs_1",
        "dropped: says only what is not so (negated), by the rule modality, found by a model (netclaw)",
    ]


def test_a_turn_in_which_nothing_was_found_has_its_reason_alone() -> None:
    lines = turn_lines(body(dropped=[{"reason": "nothing_stated"}]))
    assert lines == ["dropped: nothing worth keeping was stated (nothing_stated)"]


def test_what_is_no_body_of_a_turn_is_left_to_others() -> None:
    assert turn_lines("{}") is None
    assert turn_lines("[]") is None
    assert turn_lines("no JSON") is None


def test_the_rows_of_turns_and_answers_are_told_like_that_and_an_older_rows_as_before() -> None:
    for op in ("observe", "confirm"):
        told = body_lines(op, body(facts=[FACT]), {})
        assert told is not None
        assert told[0] == "1 fact found: 1 by a rule"
    saved = body_lines("observe", body(kind="fact", outcome="created"), {})
    assert saved is not None
    assert saved[0] == "memory: created, a fact that holds everywhere"
