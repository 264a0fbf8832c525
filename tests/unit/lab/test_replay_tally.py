"""From records and labels to figures, checked against counts made by hand."""

from __future__ import annotations

import pytest

from recalld.models.domain.admission import Speaker
from recalld.models.lab.replay_cases import Case, LeftOut, Talk, case_of
from recalld.models.lab.replay_labels import LabelledTurn, StatedFact, TurnResult, WrittenRecord
from recalld.models.lab.replay_match import places_of
from recalld.models.lab.replay_report import JudgeUsed
from recalld.models.lab.replay_rows import ReplayRow, RowFact, RowTurn
from recalld.models.lab.replay_summary import SetResults, summarise
from recalld.models.lab.replay_tally import gate_report, identity, without_unmet_ends


def labelled(place: int, own: str, *quotes: str, is_weak: bool = False) -> LabelledTurn:
    facts = tuple(StatedFact(statement=quote, places=places_of(quote, own)) for quote in quotes)
    return LabelledTurn(row_id="r", place=place, source="s", own=own, facts=facts, is_weak=is_weak)


def made(*quotes: str, elapsed_ms: float = 1.0) -> TurnResult:
    records = tuple(WrittenRecord(statement=quote, quote=quote, rule="rule:x") for quote in quotes)
    return TurnResult(records=records, elapsed_ms=elapsed_ms)


TURNS = (
    labelled(0, "I work at Acme and live in Graz.", "I work at Acme", "live in Graz"),
    labelled(1, "My cat is called Tofu.", "My cat is called Tofu"),
    labelled(2, "What a lovely day in Bern."),
    labelled(3, "Which train goes to Linz?"),
)
RESULTS = (
    made("I work at Acme"),
    made("My cat is called Tofu", "cat is", elapsed_ms=3.0),
    made("What a lovely day in Bern", elapsed_ms=2.0),
    made(),
)


def test_records_facts_and_turns_are_counted_apart() -> None:
    report = gate_report(TURNS, RESULTS)
    assert (report.turns, report.writes, report.write_rate) == (4, 4, 1.0)
    assert report.precision is not None
    assert (report.precision.k, report.precision.n) == (3, 4)
    assert (report.recall.k, report.recall.n) == (2, 3)
    assert report.turn_precision is not None
    assert (report.turn_precision.k, report.turn_precision.n) == (2, 3)
    assert (report.turn_recall.k, report.turn_recall.n) == (2, 2)
    assert (report.ms_p50, report.ms_p95) == (1.0, 3.0)


def test_wrong_records_per_thousand_turns_follow_from_write_rate_and_precision() -> None:
    report = gate_report(TURNS, RESULTS)
    assert report.precision is not None
    assert report.wrong_per_1000 == pytest.approx(report.write_rate * 1_000 * (1 - report.precision.rate))
    assert report.wrong_per_1000 == pytest.approx(250.0)


def test_one_wrong_record_spoils_its_turn() -> None:
    report = gate_report(TURNS[1:2], (made("My cat is called Tofu", "What"),))
    assert report.turn_precision is not None
    assert (report.turn_precision.k, report.turn_recall.k) == (0, 1)


def test_weak_labels_give_recall_alone() -> None:
    report = gate_report((labelled(0, "I work at Acme.", "I work at Acme", is_weak=True),), (made("I work at Acme"),))
    assert (report.precision, report.turn_precision, report.wrong_per_1000) == (None, None, None)
    assert report.recall.rate == 1.0


def test_nothing_at_all_has_figures_too() -> None:
    report = gate_report((), ())
    assert (report.turns, report.write_rate, report.wrong_per_1000) == (0, 0.0, 0.0)


def test_a_fact_that_is_known_already_is_no_record_and_not_missed() -> None:
    known = TurnResult(restated=made("I work at Acme").records)
    report = gate_report(TURNS[:1], (known,))
    assert (report.writes, report.recall.k) == (0, 1)


def test_an_end_of_what_was_never_stored_is_left_out_unless_a_stack_stored_it() -> None:
    turn = labelled(0, "I no longer work at Acme.", "I no longer work at Acme")
    unmet = TurnResult(unmet=made("I no longer work at Acme").records)
    trimmed = without_unmet_ends(turn, (unmet, made()))
    assert (trimmed.facts, trimmed.also_right) == ((), turn.facts)
    assert without_unmet_ends(turn, (unmet, made("I no longer work at Acme"))) is turn
    assert gate_report((trimmed,), (made("no longer work at Acme"),)).wrong_per_1000 == 0.0


def test_identity_counts_everything_but_time() -> None:
    again = (made("I work at Acme", elapsed_ms=9.0), *RESULTS[1:])
    assert identity("stack", RESULTS, again).differences == 0
    assert identity("stack", RESULTS, (made(), *RESULTS[1:])).differences == 1


def test_a_summary_pools_what_has_full_labels_and_lists_each_wrong_record() -> None:
    full = _set("full", TURNS, RESULTS)
    weak_turn = labelled(0, "I work at Acme.", "I work at Acme", is_weak=True)
    report = summarise((full, _set("thin", (weak_turn,), (made("nothing"),))), position="strict", judge=JudgeUsed())
    assert report.pooled == ("full",)
    assert report.gates["stack"].turns == 4
    assert report.identity.rows == 5
    assert [(each.row, each.turn, each.rule, each.set) for each in report.wrong] == [("r", 2, "rule:x", "full")]
    assert report.sets["thin"].is_weak
    alone = summarise((_set("thin", (weak_turn,), (made("nothing"),)),), position="strict", judge=JudgeUsed())
    assert (alone.pooled, alone.wrong, alone.gates["stack"].precision) == (("thin",), (), None)


def _set(name: str, turns: tuple[LabelledTurn, ...], results: tuple[TurnResult, ...]) -> SetResults:
    case = Case(talk=Talk(row_id="r", time_zone="", turns=()), labels=turns)
    is_weak = any(turn.is_weak for turn in turns)
    return SetResults(
        name=name,
        is_weak=is_weak,
        cases=(case,),
        excluded=LeftOut(),
        results={"stack_strict": results, "stack": results},
        again=results,
    )


@pytest.mark.parametrize(("quote", "count"), [("I live in Rome", 1), ("i  live in graz", 0), ("", 0)])
def test_a_quote_that_is_not_in_its_turn_is_counted_and_its_statement_still_counts(quote: str, count: int) -> None:
    turn = RowTurn(role=Speaker.USER, text="I live in Graz.")
    row = ReplayRow(id="c", turns=(turn,), facts=(RowFact(turn=0, statement="Lives in Graz", quote=quote),))
    case = case_of(row, "file")
    assert case.left_out.quotes_elsewhere == count
    assert [fact.statement for fact in case.labels[0].facts] == ["Lives in Graz"]


def test_the_gates_see_every_turn_and_no_label() -> None:
    row = ReplayRow(
        id="c",
        ts="2026-03-02T09:00:00Z",
        turns=(
            RowTurn(role=Speaker.ASSISTANT, text="Hello, shall I note that you live in Rome?"),
            RowTurn(role=Speaker.USER, speaker="Ines", text="I live in Graz."),
            RowTurn(role=Speaker.USER, speaker="Otto", text="Perfect."),
        ),
        facts=(
            RowFact(turn=0, statement="Lives in Rome"),
            RowFact(turn=1, statement="Lives in Graz"),
            RowFact(turn=2, statement="Otto agrees with Rome"),
        ),
    )
    case = case_of(row, "file")
    assert [(turn.user, turn.speaker) for turn in case.talk.turns] == [
        ("Ines", Speaker.ASSISTANT),
        ("Ines", Speaker.USER),
        ("Otto", Speaker.USER),
    ]
    assert [turn.at_ms - case.talk.turns[0].at_ms for turn in case.talk.turns] == [0, 1_000, 2_000]
    assert [[fact.statement for fact in turn.facts] for turn in case.labels] == [["Lives in Graz"], []]
    assert (case.left_out.facts_of_others, case.left_out.facts_elsewhere) == (1, 1)
