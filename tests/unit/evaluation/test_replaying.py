"""Conversations through the daemon's own write path, with vectors that mean nothing and the shipped judge."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec
import numpy as np
import pytest
from judged_rows import STYLES as STYLE_NAMES
from judged_rows import embed, make_rows
from numpy.typing import NDArray

from recalld.actors.store import SettleLedger
from recalld.daemon.admission_judge import JudgeInForce, judge_in_force
from recalld.daemon.config import ModelsSettings, ServerSettings, Settings, StorageSettings
from recalld.daemon.evaluation.direct import StillClock
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.replay_gates import GateName, GateSettings
from recalld.daemon.evaluation.replay_held_out import EMBEDDING, FITTING, held_out_judges
from recalld.daemon.evaluation.replay_plot import draw_replay
from recalld.daemon.evaluation.replay_run import replay
from recalld.daemon.evaluation.replay_sources import (
    DRAWN_PER_STYLE,
    FITTED_TURNS,
    builtin_sources,
    fitted_turns,
    sources_of,
)
from recalld.daemon.evaluation.replay_store import DirectStore
from recalld.daemon.own_calibration.labelling import PairModels
from recalld.models.calibration.admission_calibrate import prepare_rows
from recalld.models.calibration.admission_data import STYLES, AdmissionRow, SecondReading, StatedFact
from recalld.models.calibration.admission_fit import JudgeFit, score
from recalld.models.domain.admission import Speaker
from recalld.models.domain.errors import InvariantError
from recalld.models.domain.position import Position
from recalld.models.domain.records import MemoryKind
from recalld.models.lab.replay_report import JudgeUsed, ReplayReport
from recalld.models.lab.replay_rows import ReplayRow, RowFact, RowTurn
from recalld.models.lab.replay_summary import SetResults, summarise

SETTINGS = Settings(
    server=ServerSettings(socket_path=Path("/nonexistent/recalld.sock")),
    storage=StorageSettings(data_dir=Path("/nonexistent")),
    models=ModelsSettings(dir=Path("/nonexistent")),
)
DIMS = 384


def vector(text: str) -> NDArray[np.float32]:
    """A unit vector that is the same for the same text and means nothing."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    values = np.random.default_rng(seed).standard_normal(DIMS)
    unit: NDArray[np.float32] = (values / np.linalg.norm(values)).astype(np.float32)
    return unit


def meter() -> Meter:
    return Meter(PairModels(vector, vector, lambda _query, _text: 0.0))


def said(
    row_id: str, *turns: str, facts: tuple[RowFact, ...] = (), ts: str | None = None, reason: str | None = None
) -> ReplayRow:
    """A conversation; what begins with `>` the assistant says."""
    spoken = tuple(
        RowTurn(role=Speaker.ASSISTANT if text.startswith(">") else Speaker.USER, text=text.removeprefix(">").strip())
        for text in turns
    )
    return ReplayRow(id=row_id, turns=spoken, facts=facts, ts=ts, reason=reason)


def run(
    *rows: ReplayRow, position: Position = Position.STRICT, judging: JudgeInForce | None = None
) -> tuple[list[SetResults], ReplayReport]:
    given = GateSettings(settings=SETTINGS, judging=judging or JudgeInForce(), position=position)
    told: list[tuple[str, int, int]] = []
    results = replay(given, sources_of(rows, "talks"), meter(), lambda *each: told.append(each))
    assert told[-1][1:] == (len(rows), len(rows))
    return results, summarise(results, position=position.value, judge=JudgeUsed())


ACME = said(
    "acme",
    "I work at Acme. Which train goes to Graz?",
    "> You work at Initech, don't you?",
    "I work at Acme.",
    facts=(RowFact(turn=0, statement="The user works at Acme.", quote="I work at Acme"),),
)


def test_a_fact_is_written_once_in_its_conversation_and_again_in_the_next() -> None:
    (found,), report = run(ACME, msgspec.structs.replace(ACME, id="other"))
    stack = found.results["stack"]
    assert [len(each.records) for each in stack] == [1, 0, 1, 0]
    assert [len(each.restated) for each in stack] == [0, 1, 0, 1]
    assert stack[0].records[0].rule.startswith("rule:employer")
    gate = report.gates["stack"]
    assert (gate.turns, gate.writes, gate.recall.k, gate.wrong_per_1000) == (4, 2, 2, 0.0)
    assert report.identity.differences == 0


def test_rules_alone_write_what_the_policy_stops() -> None:
    row = said("drill", "Suppose that I work at Acme. Write a letter for me.", 'He said: "I work at Initech."')
    _, report = run(row)
    assert report.gates["rules"].writes >= report.gates["rules+policy"].writes == 0
    assert report.gates["first_person"].writes > 0
    assert report.wrong == ()


def test_a_command_is_obeyed_by_every_gate_with_a_policy() -> None:
    row = said(
        "save",
        "Remember that the deploy key lives in the vault.",
        facts=(RowFact(turn=0, statement="The deploy key lives in the vault."),),
    )
    _, report = run(row)
    assert {name for name, gate in report.gates.items() if gate.recall.k} == {
        "explicit",
        "rules+policy",
        "stack_strict",
        "stack_balanced",
        "stack_open",
        "stack",
    }


def test_what_an_assistant_says_is_written_by_no_gate() -> None:
    row = said("assistant", "Hello.", "> I work at Acme. Remember that the office is in Bern.")
    results, report = run(row)
    assert {gate.writes for gate in report.gates.values()} == {0}
    assert all(len(each) == 1 for each in results[0].results.values())


def test_several_users_of_a_conversation_have_memories_of_their_own() -> None:
    turns = tuple(RowTurn(role=Speaker.USER, speaker=name, text="I work at Acme.") for name in ("Ines", "Otto"))
    (found,), _ = run(ReplayRow(id="two", turns=turns))
    assert [len(each.records) for each in found.results["stack"]] == [1, 1]


def test_an_end_closes_what_the_conversation_stored_and_is_left_out_where_it_stored_nothing() -> None:
    fact = RowFact(turn=1, statement="No longer works at Acme", quote="I no longer work at Acme")
    both = said("both", "I work at Acme.", "I no longer work at Acme.", facts=(fact,))
    alone = said("alone", "Hello there.", "I no longer work at Acme.", facts=(fact,))
    (found,), report = run(both, alone)
    assert [len(each.records) for each in found.results["stack"]] == [1, 1, 0, 0]
    assert len(found.results["stack"][3].unmet) == 1
    assert report.excluded.facts_ending == 1
    assert (report.gates["stack"].recall.k, report.gates["stack"].recall.n) == (1, 1)


def test_a_wrong_record_is_listed_with_what_let_it_in() -> None:
    _, report = run(said("slip", "I work at Acme.", reason="a joke"))
    (wrong,) = report.wrong
    assert (wrong.row, wrong.turn, wrong.set, wrong.reason) == ("slip", 0, "talks", "a joke")
    assert wrong.rule.startswith("rule:employer")
    assert "Acme" in wrong.statement


def test_days_count_from_when_the_conversation_was() -> None:
    row = said("trip", "Remember that the office is closed until 2026-05-01.", ts="2026-04-20T09:00:00Z")
    late = msgspec.structs.replace(row, id="late", ts="2027-04-20T09:00:00Z")
    (found,), _ = run(row, late)
    assert [len(each.records) for each in found.results["stack"]] == [1, 0]


def test_with_a_judge_its_gates_are_there_and_the_position_decides_what_it_may_write() -> None:
    judging = judge_in_force(SETTINGS)
    assert judging.record is not None
    sure = msgspec.structs.replace(
        judging.record, thresholds=msgspec.structs.replace(judging.record.thresholds, balanced=-99.0, strict=99.0)
    )
    row = said("oblique", "Our warehouse in Graz still sends its pallets on Tuesdays.")
    everything = JudgeInForce(record=sure, judge=judging.judge)
    _, report = run(row, position=Position.BALANCED, judging=everything)
    assert set(report.gates) == {name.value for name in GateName}
    assert (report.gates["stack_strict"].writes, report.gates["stack_strict"].observed) == (0, 1)
    assert report.gates["judge_strict"].writes == report.gates["judge_strict+policy"].writes == 0
    assert report.gates["judge"].writes == report.gates["stack"].writes == report.gates["stack_balanced"].writes == 1
    assert report.wrong[0].rule == f"judge:{sure.id}"
    assert report.identity.differences == 0


def test_a_judge_that_is_asked_once_is_charged_to_every_gate() -> None:
    judging = judge_in_force(SETTINGS)
    ticks = itertools.count()
    ticking = Meter(PairModels(vector, vector, lambda _query, _text: 0.0), now_s=lambda: float(next(ticks)))
    given = GateSettings(settings=SETTINGS, judging=judging, position=Position.STRICT)
    row = said("talk", "Our warehouse in Graz still sends its pallets on Tuesdays.")
    (found,) = replay(given, sources_of((row,), "talks"), ticking, lambda *_each: None)
    alone = {name: results[0].elapsed_ms for name, results in found.results.items()}
    assert alone["judge_strict"] >= 3_000.0
    assert alone["judge"] >= alone["judge_strict"] - 2_000.0
    assert min(alone["stack_strict"], alone["stack_open"]) > alone["rules+policy"]


def test_without_a_judge_its_gates_are_left_out() -> None:
    _, report = run(ACME)
    assert not [name for name in report.gates if name.startswith("judge")]


def test_disputed_rows_and_rows_without_a_user_are_left_out_and_counted() -> None:
    rows = (
        ACME,
        ReplayRow(id="mute", turns=(RowTurn(role=Speaker.ASSISTANT, text="Hello."),)),
        ReplayRow(id="doubt", turns=ACME.turns, disputed=True),
    )
    (source,) = sources_of(rows, "talks")
    assert (len(source.cases), source.excluded.rows_disputed, source.excluded.rows_without_user) == (1, 1, 1)


def test_sources_are_sets_and_weak_labels_are_kept_apart() -> None:
    rows = (
        msgspec.structs.replace(ACME, id="a", source="x"),
        msgspec.structs.replace(ACME, id="b", source="x", label_strength="weak"),
        msgspec.structs.replace(ACME, id="c", label_strength="authored"),
    )
    sources = sources_of(rows, "talks", {"talks"})
    assert [(each.name, each.is_weak) for each in sources] == [("x", False), ("x/weak", True), ("talks-2", False)]


def test_what_the_second_reader_marked_beside_a_fact_is_no_mistake() -> None:
    row = AdmissionRow(
        id="t",
        style="dry",
        text="I work at Acme, and my cat is Tofu.",
        facts=(StatedFact(quote="I work at Acme", kind=MemoryKind.FACT, statement="The user works at Acme."),),
        second=SecondReading(stores=True, quotes=("my cat is Tofu",)),
    )
    (case,) = fitted_turns((row, msgspec.structs.replace(row, id="u", disputed=True))).cases
    (turn,) = case.labels
    assert [fact.statement for fact in turn.also_right] == ["my cat is Tofu"]
    assert (turn.source, len(turn.facts)) == ("dry", 1)


def test_the_package_brings_conversations_and_the_turns_of_the_fit() -> None:
    conversations, turns = builtin_sources({FITTED_TURNS})
    assert (conversations.name, turns.name) == ("conversations", f"{FITTED_TURNS}-2")
    drawn = Counter(case.labels[0].source for case in turns.cases)
    assert set(drawn) == set(STYLES)
    assert set(drawn.values()) == {DRAWN_PER_STYLE}


@pytest.mark.parametrize(
    ("drawn_max", "expected"), [(1, [0]), (3, [0, 3, 6]), (10, list(range(10))), (None, range(10))]
)
def test_turns_are_drawn_evenly_and_the_others_counted(drawn_max: int | None, expected: Sequence[int]) -> None:
    rows = [AdmissionRow(id=f"t{place}", style="dry", text="Which train goes to Graz?") for place in range(10)]
    source = fitted_turns(rows, drawn_max=drawn_max)
    assert [case.talk.row_id for case in source.cases] == [f"t{place}" for place in expected]
    assert source.excluded.rows_not_drawn == 10 - len(expected)


def test_a_judge_of_a_style_has_not_seen_it_and_its_log_odds_are_on_the_shipped_scale() -> None:
    rows = make_rows()
    shipped = msgspec.structs.replace(JudgeFit(prepare_rows(rows, embed)).model(), slope=3.0, intercept=-2.0)
    told: list[tuple[str, int, int]] = []
    read = Meter(PairModels(embed, embed, lambda _query, _text: 0.0))
    judges = held_out_judges(shipped, rows, read, lambda *each: told.append(each))
    spoilt = [msgspec.structs.replace(row, facts=()) if row.style == STYLE_NAMES[0] else row for row in rows]
    again = held_out_judges(shipped, spoilt, read, lambda *_each: None)
    for turn in prepare_rows(rows, embed):
        one, other = score(turn, judges[turn.row.id]), score(turn, again[turn.row.id])
        assert (one == pytest.approx(other, abs=1e-3)) == (turn.row.style == STYLE_NAMES[0])
    assert {(judge.slope, judge.intercept) for judge in judges.values()} == {(3.0, -2.0)}
    assert told[-1] == (FITTING, len(STYLE_NAMES), len(STYLE_NAMES))
    assert told.count((EMBEDDING, len(rows), len(rows))) == 1


@pytest.mark.parametrize("weak", ["", "weak"])
def test_the_plot_is_the_same_each_time_and_says_where_nothing_can_be_drawn(tmp_path: Path, weak: str) -> None:
    _, report = run(msgspec.structs.replace(ACME, label_strength=weak))
    path = tmp_path / "replay.svg"
    draw_replay(report, path)
    first = path.read_bytes()
    draw_replay(report, path)
    assert path.read_bytes() == first
    assert (b"no set whose labels allow" in first) is bool(weak)
    assert (b"stack (operating point)" in first) is not bool(weak)


def test_a_replayed_turn_asks_its_store_for_nothing_else() -> None:
    async def ask() -> None:
        await DirectStore(StillClock()).ask(lambda reply: SettleLedger(reply=reply), deadline_s=1.0)

    with pytest.raises(InvariantError, match="SettleLedger"):
        anyio.run(ask)
