"""One conversation through the daemon's own write path, turn by turn, over a store of its own that begins empty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from recalld.actors.admission.confirming import Confirmer
from recalld.actors.admission.dependencies import AdmissionDependencies, AdmissionOptions
from recalld.actors.admission.embedding_judge import EmbeddingJudge
from recalld.actors.admission.judging import NoJudge, SentenceJudge
from recalld.actors.admission.observing import Observer
from recalld.actors.admission.recall_view import RecallView
from recalld.actors.admission.session_notes import SessionNotes
from recalld.actors.embedder import EmbedderMessage
from recalld.actors.events import EventBus
from recalld.actors.kernel import Address
from recalld.actors.recall.state import Spawn
from recalld.actors.text_work import ImmediateTextWork
from recalld.daemon.evaluation.direct import DirectAddress, RowIds, StillClock, embedder_of
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.replay_memo import JudgeMemo, RememberedJudge
from recalld.daemon.evaluation.replay_store import DirectRecall, DirectStore
from recalld.models.domain.admission import ObservedTurn, Speaker
from recalld.models.domain.admission_store import FactOutcome, FactResult, FactWrite
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.lab.replay_cases import SpokenTurn, Talk
from recalld.models.lab.replay_labels import TurnResult, WrittenRecord
from recalld.models.policy.judge.find import JudgeThresholds
from recalld.models.policy.judge.model import Judge

UNHURRIED_S: Final = 1e6
"""The deadline of every turn: the clock stands still, so that nothing is late."""
SESSION: Final = "replay"
_MADE: Final = frozenset({FactOutcome.CREATED, FactOutcome.SUPERSEDED, FactOutcome.CLOSED})
"""What changes what is stored; promotion is not counted, because it is no single turn's doing."""
_KNOWN: Final = frozenset({FactOutcome.DUPLICATE, FactOutcome.UPDATED, FactOutcome.PROMOTED})


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeParts:
    """The local judge, as a replay has it.

    Attributes:
        judge: Its model.
        thresholds: What counts as a find.
        embedder_key: What it was fitted with.
        record_id: Names its calibration record.
    """

    judge: Judge
    thresholds: JudgeThresholds
    embedder_key: str
    record_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DeskSettings:
    """How the write path is set up.

    Attributes:
        options: As for the daemon.
        judge: The local judge; None: it finds nothing.
        embedder_key: Whose vectors the models give.
        is_enriching: Whether slots add cues and asks.
        memo: What the judge said before in this conversation; None: it is asked anew.
    """

    options: AdmissionOptions
    judge: JudgeParts | None
    embedder_key: str
    is_enriching: bool
    memo: JudgeMemo | None = None


class ReplayDesk:
    """Observes the turns of one conversation.

    Args:
        talk: The conversation.
        meter: The embedder.
        settings: How the write path is set up.
        spawn: Starts what a search lets go on beside it.
    """

    def __init__(self, talk: Talk, meter: Meter, settings: DeskSettings, *, spawn: Spawn) -> None:
        self._talk = talk
        self._meter = meter
        self._spawn = spawn
        self._clock = StillClock()
        self._store = DirectStore(self._clock)
        self._deps = _dependencies(self._clock, self._store, meter, settings)
        self._observers: dict[str, Observer] = {}

    async def replay(self) -> tuple[TurnResult, ...]:
        """What became of each turn of a user, in order."""
        results: list[TurnResult] = []
        asked: dict[str, int] = {}
        for turn in self._talk.turns:
            self._clock.present_ms = turn.at_ms
            turns_before, answers_before = len(self._store.turns), len(self._store.answers)
            self._meter.begin()
            await self._observer(turn.user).observe(self._observed(turn))
            elapsed_ms = self._meter.elapsed_ms
            if turn.speaker is not Speaker.USER:
                continue
            results.append(TurnResult(elapsed_ms=elapsed_ms))
            for command, admitted in self._store.turns[turns_before:]:
                results[-1] = _with_results(results[-1], command.writes, admitted.results)
                asked |= {each.proposal.id: len(results) - 1 for each in admitted.results if each.proposal is not None}
            for _, confirmed in self._store.answers[answers_before:]:
                # The turn that said it is the one that is judged, not the yes.
                place = asked.get(confirmed.proposal.id)
                if place is not None and confirmed.result is not None and not confirmed.is_repeat:
                    results[place] = _with_confirmed(results[place], confirmed.result)
        return tuple(results)

    def _observer(self, user: str) -> Observer:
        found = self._observers.get(user)
        if found is None:
            recall = DirectRecall(user, self._store.reader, self._clock, spawn=self._spawn)
            view = RecallView(recall, self._clock)
            found = Observer(self._deps, view, Confirmer(self._deps), SessionNotes())
            self._observers[user] = found
        return found

    def _observed(self, turn: SpokenTurn) -> ObservedTurn:
        return ObservedTurn(
            user=turn.user,
            session=SESSION,
            turn_id=f"t{turn.place}",
            speaker=turn.speaker,
            text=turn.text,
            at_ms=turn.at_ms,
            time_zone=self._talk.time_zone,
            deadline_s=UNHURRIED_S,
        )


def _dependencies(clock: StillClock, store: DirectStore, meter: Meter, settings: DeskSettings) -> AdmissionDependencies:
    embedder: Address[EmbedderMessage] = DirectAddress("embedder", embedder_of(meter, settings.embedder_key), clock)
    return AdmissionDependencies(
        clock=clock,
        ids=RowIds(),
        reader=store.reader,
        store=store,
        embedder=embedder,
        events=EventBus(),
        text_work=ImmediateTextWork(),
        is_enriching=settings.is_enriching,
        options=settings.options,
        judge=_judge(settings, embedder, meter),
    )


def _judge(settings: DeskSettings, embedder: Address[EmbedderMessage], meter: Meter) -> SentenceJudge:
    parts = settings.judge
    if parts is None:
        return NoJudge()
    judge = EmbeddingJudge(
        embedder=embedder,
        text_work=ImmediateTextWork(),
        judge=parts.judge,
        thresholds=parts.thresholds,
        embedder_key=parts.embedder_key,
        record_id=parts.record_id,
    )
    return judge if settings.memo is None else RememberedJudge(judge, settings.memo, meter)


def _with_results(before: TurnResult, writes: Sequence[FactWrite], results: Sequence[FactResult]) -> TurnResult:
    """The turn with what the store made of its facts."""
    pairs = list(zip(writes, results, strict=True))

    def those(is_meant: Callable[[FactResult], bool]) -> tuple[WrittenRecord, ...]:
        return tuple(_record(write) for write, result in pairs if is_meant(result))

    return msgspec.structs.replace(
        before,
        records=those(lambda each: each.disposition is Disposition.RECORD and each.outcome in _MADE),
        restated=those(lambda each: each.disposition is Disposition.RECORD and each.outcome in _KNOWN),
        unmet=those(lambda each: each.outcome is FactOutcome.CLOSED and each.disposition is Disposition.DROP),
        observed=sum(each.disposition is Disposition.OBSERVE for each in results),
        proposed=sum(each.disposition is Disposition.PROPOSE for each in results),
    )


def _with_confirmed(before: TurnResult, result: FactResult) -> TurnResult:
    """The turn with a record that the user has said yes to since."""
    if result.memory is None or result.outcome not in _MADE:
        return before
    text = result.memory.text
    record = WrittenRecord(statement=text, quote="", rule=f"{Generator.CONFIRMED}:answer")
    return msgspec.structs.replace(before, records=(*before.records, record))


def _record(write: FactWrite) -> WrittenRecord:
    found = write.found
    return WrittenRecord(
        statement=write.memory.text,
        quote=write.evidence.quote,
        rule=write.evidence.rule if found is None else f"{found.generator}:{found.rule}",
        also=() if found is None else found.also,
    )
