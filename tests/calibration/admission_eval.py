"""What the write path makes of labelled turns: the judge alone, rules alone, and all of it behind the policy.

Without FILE: the turns written for this project, each style judged by a fit on the others. With FILEs: turns of other
people, judged by the shipped record. A FILE holds one JSON object a line, with `turns` ([{role, text}]) and `facts`
([{turn, quote}], the index of the turn and, where known, the words that state it).

Counted strictly. A turn is *written* when a record is made of it. It is *right* when every record made of it overlaps a
labelled quote by more than half of either (where a fact has no quote: when its turn states any); else it is *wrong*. It
is *served* when it states something and one of its records is right. Precision is right of written, recall is served of
those that state something. Observations and proposals are no records.
Rules and policy were made with half of the project's turns in sight, and so were the judge's word lists: only turns of
others tell what to expect. Disputed rows are left out and counted.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from recalld.daemon.config import ModelsSettings
from recalld.models.calibration.admission_calibrate import prepare_rows
from recalld.models.calibration.admission_data import parse_rows, shipped_content, shipped_rows, undisputed
from recalld.models.calibration.admission_fit import (
    Embed,
    held_out_scores,
    log_odds_of,
    states_any,
)
from recalld.models.calibration.admission_record import AdmissionRecord, rows_sha256, shipped_admission_record
from recalld.models.calibration.intervals import Proportion, wilson
from recalld.models.domain.facts import Disposition, FactCandidate, Generator, Ruling, Span
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.inference.loading import load_bi_encoder
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.judge.find import found_facts, judge_texts, score_segments
from recalld.models.policy.judge.model import Judge
from recalld.models.policy.judge.segments import Segment
from recalld.models.policy.turn_facts import TurnFacts, read_turn
from recalld.models.policy.turn_rulings import rule_turn

AT_MS = 1_780_000_000_000
"""When all turns were said; what they say of days counts from there."""
NEVER = 1e9
_REASONS = {
    Generator.RULE: AdmissionReason.STATED,
    Generator.JUDGE: AdmissionReason.JUDGED,
    Generator.EXPLICIT: AdmissionReason.EXPLICIT_SAVE,
}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled turn, read, with the judge's scores."""

    group: str
    id: str
    text: str
    facts: TurnFacts
    segments: tuple[Segment, ...]
    scores: tuple[float, ...]
    quotes: tuple[str, ...]
    states: bool
    reason: str = ""

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where the labelled quotes stand in the user's own words."""
        own = self.facts.turn.text
        places = ((own.find(quote), len(quote)) for quote in self.quotes)
        return tuple(Span(start=start, end=start + length) for start, length in places if start >= 0)


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was made, and whether a labelled fact stands behind it."""

    case: Case
    ruling: Ruling
    is_right: bool


Write = Callable[[Case], Sequence[Ruling]]


class ForeignTurn(msgspec.Struct, frozen=True, kw_only=True):
    role: str
    text: str


class ForeignFact(msgspec.Struct, frozen=True, kw_only=True):
    turn: int
    quote: str = ""


class ForeignRow(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    source: str
    turns: tuple[ForeignTurn, ...]
    facts: tuple[ForeignFact, ...] = ()


def own_cases(embed: Embed, record: AdmissionRecord) -> list[Case]:
    rows = undisputed(shipped_rows())
    turns = prepare_rows(rows, embed)
    scores = log_odds_of(record.model, held_out_scores(turns))
    by_id = {turn.row.id: (turn, each) for turn, each in zip(turns, scores, strict=True)}
    cases = []
    for row in rows:
        turn, each = by_id[row.id]
        facts = read_turn(row.text)
        # A secret that was taken out moves what stands behind it: such a turn is cut anew, and has the same segments.
        segments = judge_texts(facts.turn).segments
        is_same = len(segments) == len(turn.texts.segments)
        quotes = [fact.quote for fact in row.facts]
        if quotes and row.second is not None:
            quotes += row.second.quotes
        cases.append(
            Case(
                group=row.style,
                id=row.id,
                text=row.text,
                facts=facts,
                segments=segments if is_same else (),
                scores=each if is_same else (),
                quotes=tuple(quotes),
                states=bool(row.facts),
                reason=row.reason,
            )
        )
    return cases


def foreign_cases(path: Path, embed: Embed, judge: Judge) -> Iterator[Case]:
    rows = [msgspec.json.decode(line, type=ForeignRow) for line in path.read_bytes().splitlines() if line.strip()]
    for row in rows:
        for place, turn in enumerate(row.turns):
            if turn.role != "user" or not turn.text.strip():
                continue
            stated = [fact for fact in row.facts if fact.turn == place]
            facts = read_turn(turn.text)
            texts = judge_texts(facts.turn)
            vectors = [np.asarray(embed(text), dtype=np.float32) for text in texts.texts]
            yield Case(
                group=row.source,
                id=f"{row.id}/{place}",
                text=turn.text,
                facts=facts,
                segments=texts.segments,
                scores=score_segments(facts.turn, texts.segments, vectors, judge) if texts.segments else (),
                quotes=tuple(fact.quote for fact in stated if fact.quote),
                states=bool(stated),
            )


def judge_alone(threshold: float) -> Write:
    return lambda case: [
        _admitted(each) for each in found_facts(case.facts.turn, case.segments, case.scores, threshold)
    ]


def rules_alone(case: Case) -> Sequence[Ruling]:
    return [_admitted(each) for each in case.facts.candidates]


def stack(threshold: float, *, has_rules: bool = True) -> Write:
    """Rules, judge and policy as they run; the judge's finds become records from the threshold on."""

    def write(case: Case) -> Sequence[Ruling]:
        turn = case.facts.turn
        found: list[FactCandidate] = list(case.facts.candidates) if has_rules else []
        if not case.facts.is_refused:
            found += found_facts(turn, case.segments, case.scores, threshold)
        if not found:
            return ()
        context = AdmissionContext(
            turn=turn, said=case.facts.said, at_ms=AT_MS, zone="UTC", now_ms=AT_MS, judge_strict=threshold
        )
        ruled = [each.ruling for each in rule_turn(found, context).facts]
        return [each for each in ruled if each.disposition is Disposition.RECORD]

    return write


def run(cases: Sequence[Case], write: Write) -> list[Written]:
    return [
        Written(case=case, ruling=ruling, is_right=_is_right(case, ruling)) for case in cases for ruling in write(case)
    ]


def report(name: str, cases: Sequence[Case], written: Sequence[Written]) -> None:
    stating = sum(case.states for case in cases)
    turns = {each.case.id for each in written}
    wrong = {each.case.id for each in written if not each.is_right}
    served = {each.case.id for each in written if each.is_right}
    precision, recall = wilson(len(turns - wrong), len(turns)), wilson(len(served), stating)
    records_wrong = sum(not each.is_right for each in written)
    print(
        f"{name:<34} precision {_shown(precision)}, recall {_shown(recall)}, "
        f"wrong records per 1,000 turns {1000 * records_wrong / len(cases):6.1f} of {len(cases)}"
    )


def _shown(share: Proportion) -> str:
    return f"{share.value:.3f} ({share.low:.2f} to {share.high:.2f}) of {share.n:>4}"


def report_groups(cases: Sequence[Case], write: Write) -> None:
    written = run(cases, write)
    for group in sorted({case.group for case in cases}):
        own = [case for case in cases if case.group == group]
        report(f"  {group}", own, [each for each in written if each.case.group == group])


def report_wrong(written: Sequence[Written], *, has_texts: bool) -> None:
    wrong = [each for each in written if not each.is_right]
    print(f"\nwrong records: {len(wrong)}")
    print("  by generator:", dict(Counter(str(each.ruling.candidate.generator) for each in wrong)))
    print("  by what the turn is:", dict(Counter(each.case.reason or "states something else" for each in wrong)))
    for each in wrong if has_texts else ():
        candidate = each.ruling.candidate
        print(f"  {each.case.id} [{each.case.reason}] {candidate.generator} {candidate.rule}: {candidate.statement}")


def _admitted(candidate: FactCandidate) -> Ruling:
    reason = _REASONS[candidate.generator]
    return Ruling(candidate=candidate, disposition=Disposition.RECORD, reason=reason, rule="")


def _is_right(case: Case, ruling: Ruling) -> bool:
    if not case.states:
        return False
    span = ruling.candidate.span
    return not case.spans or span is None or states_any(span, case.spans)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--wrong", action="store_true", help="print the text of every wrong record")
    given = parser.parse_args()
    settings = ModelsSettings(dir=given.model_dir)
    embedder = load_bi_encoder(given.model_dir, settings.embedder)
    embed = cache(lambda text: embedder.embed(text, is_query=False))
    record = shipped_admission_record()
    if given.files:
        judge = Judge.of(record.model)
        cases = [case for path in given.files for case in foreign_cases(path, embed, judge)]
        print(f"{len(cases)} user turns of {len(given.files)} files, judged by {record.id}")
    else:
        contents = shipped_content()
        disputed = sum(row.disputed for name, each in contents.items() for row in parse_rows(each, name))
        is_current = rows_sha256(contents) == record.corpus_sha256
        cases = own_cases(embed, record)
        print(f"{len(cases)} turns, {disputed} disputed left out; the shipped record was fitted on them: {is_current}")
    strict, balanced = record.thresholds.strict, record.thresholds.balanced
    report("rules alone", cases, run(cases, rules_alone))
    report("rules and policy", cases, run(cases, stack(NEVER)))
    for name, threshold in (("strict", strict), ("balanced", balanced)):
        report(f"judge alone, {name}", cases, run(cases, judge_alone(threshold)))
        report(f"judge and policy, {name}", cases, run(cases, stack(threshold, has_rules=False)))
        report(f"rules, judge and policy, {name}", cases, run(cases, stack(threshold)))
    print("\nrules, judge and policy, by the log-odds from which the judge's finds are records:")
    for threshold in (1.5, 1.0, 0.5, 0.0, -0.5, -1.0, -1.5, -2.0):
        report(f"  from {threshold:.1f}", cases, run(cases, stack(threshold)))
    for name, threshold in (("strict", strict), ("balanced", balanced)):
        print(f"\nrules, judge and policy, {name}, by source:")
        report_groups(cases, stack(threshold))
    report_wrong(run(cases, stack(strict)), has_texts=given.wrong)


if __name__ == "__main__":
    main()
