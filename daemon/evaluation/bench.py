"""The product's own recall on a bench: the actors' pipeline over a row's store, with all the time it wants."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from recalld.actors.events import EventBus
from recalld.actors.recall import (
    GateCalibration,
    HostTextWatch,
    RecallDependencies,
    RecallLimits,
    RecallState,
    RecallTurns,
    TurnGateOptions,
)
from recalld.actors.recall.candidates import CandidateFinder
from recalld.actors.recall.pipeline import RecallPipeline
from recalld.actors.recall.state import Spawn
from recalld.actors.recall.turn_step import TurnStep
from recalld.actors.supervisor import GateGuard
from recalld.actors.text_work import ImmediateTextWork
from recalld.daemon.calibrating import calibration_in_force, running_keys
from recalld.daemon.composition import recall_limits, turn_gate_options
from recalld.daemon.config import Settings
from recalld.daemon.evaluation.direct import DirectAddress, RowIds, StillClock, embedder_of, scorer_of
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.shelf import shelve
from recalld.models.domain.reasons import DropReason, RecallDecision
from recalld.models.domain.recall import RecallOutcome, RecallQuery
from recalld.models.domain.records import Memory
from recalld.models.domain.shadow import GateMode
from recalld.models.lab.compound import RelevantPassed, passed_of_row
from recalld.models.lab.results import Judged, Question
from recalld.models.policy.breaker import BreakerPolicy
from recalld.models.policy.cost_model import CostModel
from recalld.models.policy.floor import FloorValues

USER: Final = "calibration"
"""Whose the memories of labelled rows are; see `own_calibration.labelling.memory_of`."""
UNHURRIED_S: Final = 1e6
"""Time for a recall whose clock stands still: enough for any plan."""
LIFTED_FLOOR: Final = -0.999
"""A cosine that every memory reaches."""
UNLIMITED: Final = 1_000_000
_JUDGED: Final = frozenset(
    {DropReason.BELOW_THRESHOLD, DropReason.BEHIND_BEST, DropReason.OVER_MAX_ITEMS, DropReason.OVER_MAX_CHARS}
)
"""Why a memory is held back by the gate, or behind it; all other reasons come before."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What the product made of a row.

    Attributes:
        question: For the other arms.
        judged: What became of the candidates of the gate.
        gate_pairs: Pairs that it had read.
        gate_ms: Milliseconds of the whole recall.
        search_ms: Of these, until the candidates were there.
    """

    question: Question
    judged: tuple[Judged, ...]
    gate_pairs: int
    gate_ms: float
    search_ms: float


class HandedOver(msgspec.Struct, frozen=True, kw_only=True):
    """What the product hands over on a row, in the mode that it is configured for.

    Attributes:
        ids: Of the memories, best first.
        skip_reason: Why the turn gate spared the search; empty: it let the turn through.
        pairs: Pairs that the gates had read.
        elapsed_ms: Milliseconds of the whole recall.
    """

    ids: tuple[str, ...]
    skip_reason: str
    pairs: int
    elapsed_ms: float


class BenchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the recall on the bench is configured.

    Attributes:
        calibration: Of the gate.
        limits: As configured; the times in them are lifted.
        turn_gate: As configured; whether it is on is each call's.
        embedder_key: Whose vectors the models give.
    """

    calibration: GateCalibration
    limits: RecallLimits
    turn_gate: TurnGateOptions
    embedder_key: str


def bench_settings(settings: Settings) -> BenchSettings:
    """The recall as the daemon would run it with these settings.

    Raises:
        RecalldError: `BAD_REQUEST` for a configured calibration record that cannot be read.
    """
    calibration = calibration_in_force(settings)
    return BenchSettings(
        calibration=calibration,
        limits=recall_limits(settings, 1, calibration),
        turn_gate=turn_gate_options(settings.recall.turn_gate),
        embedder_key=running_keys(settings).embedder_key,
    )


class RecallBench:
    """Runs recalls over one store.

    Args:
        memories: All that is in it, each id once.
        meter: The models.
        settings: How recalls are configured.
        spawn: Starts what a recall lets go on beside it, such as the load of the index.
    """

    def __init__(self, memories: Sequence[Memory], meter: Meter, settings: BenchSettings, *, spawn: Spawn) -> None:
        self._kinds = {memory.id: memory.kind for memory in memories}
        self._reader = shelve(memories, meter, user=USER, embedder_key=settings.embedder_key)
        self._meter = meter
        self._settings = settings
        self._spawn = spawn
        self._clock = StillClock()
        self._limits = msgspec.structs.replace(settings.limits, gate_ms=UNHURRIED_S * 100.0, lanes=1)
        self._deps = self._dependencies(msgspec.structs.replace(settings.turn_gate, is_enabled=False))
        self._gated_deps = self._dependencies(msgspec.structs.replace(settings.turn_gate, is_enabled=True))
        self._ungated_deps = self._without_floor()
        self._state = RecallState()
        self._finder = CandidateFinder(USER, self._state, self._deps)
        self._turn = TurnStep(USER, self._state.turns, self._deps)

    async def look(self, text: str, now_ms: int) -> Found:
        """Search and judge without the turn gate, as the daemon does where it lets a turn through.

        Args:
            text: The user's message.
            now_ms: When it was said, Unix epoch milliseconds.
        """
        query = self._query(text, now_ms)
        outcome, gate_pairs, gate_ms = await self._recall(query, self._deps)
        self._meter.begin()
        turn = await self._turn.read(query, now_ms=now_ms)
        found = await self._finder.find(query, turn.reading, now_ms=now_ms, spawn=self._spawn)
        search_ms = self._meter.elapsed_ms
        before = {each.memory_id for each in outcome.dropped if each.reason not in {*_JUDGED, DropReason.BUDGET}}
        return Found(
            question=Question(
                query=turn.reading.text,
                above_floor=tuple(each for each in found.candidates if each.memory.id not in before),
                nominated=found.candidates,
                floor_items=outcome.floor_items,
            ),
            judged=self._judged(outcome),
            gate_pairs=gate_pairs,
            gate_ms=gate_ms,
            search_ms=search_ms,
        )

    async def look_with_turn_gate(self, text: str, now_ms: int) -> tuple[tuple[Judged, ...], int, float]:
        """The whole product: what became of the candidates, pairs read, and milliseconds.

        Args:
            text: The user's message.
            now_ms: When it was said, Unix epoch milliseconds.
        """
        outcome, pairs, elapsed_ms = await self._recall(self._query(text, now_ms), self._gated_deps)
        return self._judged(outcome), pairs, elapsed_ms

    async def hand_over(self, text: str, now_ms: int, mode: GateMode) -> HandedOver:
        """The whole product, with the turn gate as configured.

        Args:
            text: The user's message.
            now_ms: When it was said, Unix epoch milliseconds.
            mode: What is done with what the gates decide.
        """
        deps = self._dependencies(self._settings.turn_gate)
        deps = dataclasses.replace(deps, limits=msgspec.structs.replace(deps.limits, mode=mode))
        outcome, pairs, elapsed_ms = await self._recall(self._query(text, now_ms), deps)
        return HandedOver(
            ids=tuple(item.memory.id for item in outcome.served),
            skip_reason=outcome.reason.value if outcome.decision is RecallDecision.SKIP else "",
            pairs=pairs,
            elapsed_ms=elapsed_ms,
        )

    async def look_apart(
        self, question: Question, relevant: Collection[str], now_ms: int, text: str
    ) -> tuple[RelevantPassed, ...]:
        """What became of the relevant memories of a row, by each gate alone and by all of them.

        Args:
            question: What `look` found.
            relevant: Ids of what helps.
            now_ms: When it was said, Unix epoch milliseconds.
            text: The user's message.
        """
        query = self._query(text, now_ms)
        whole, _, _ = await self._recall(query, self._gated_deps)
        open_, _, _ = await self._recall(query, self._ungated_deps)
        return passed_of_row(
            question,
            relevant,
            is_turn_run=whole.decision is not RecallDecision.SKIP,
            unfloored={item.memory.id for item in open_.items},
            injected={item.memory.id for item in whole.items},
            max_items=self._limits.max_items,
            max_chars=self._limits.max_chars,
        )

    async def _recall(self, query: RecallQuery, deps: RecallDependencies) -> tuple[RecallOutcome, int, float]:
        self._clock.present_ms = query.now_ms or 0
        self._meter.begin()
        outcome = await RecallPipeline(USER, self._state, deps).run(query, spawn=self._spawn)
        return outcome, self._meter.pairs, self._meter.elapsed_ms

    def _judged(self, outcome: RecallOutcome) -> tuple[Judged, ...]:
        injected = tuple(
            Judged(memory_id=item.memory.id, kind=item.memory.kind, score=item.relevance, is_injected=True)
            for item in outcome.items
        )
        held = tuple(
            Judged(memory_id=item.memory_id, kind=self._kinds[item.memory_id], score=item.relevance, is_injected=False)
            for item in outcome.dropped
            if item.reason in _JUDGED
        )
        return (*injected, *held)

    def _query(self, text: str, now_ms: int) -> RecallQuery:
        return RecallQuery(user=USER, session="", text=text, now_ms=now_ms, deadline_s=UNHURRIED_S)

    def _without_floor(self) -> RecallDependencies:
        """A recall in which nothing but the relevance gate holds anything back."""
        lifted = FloorValues(record=LIFTED_FLOOR, cue=LIFTED_FLOOR, ask=LIFTED_FLOOR)
        everything = msgspec.structs.replace(
            self._limits, max_items=UNLIMITED, max_chars=UNLIMITED, degraded_max_items=UNLIMITED
        )
        return dataclasses.replace(
            self._deps,
            calibration=msgspec.structs.replace(self._settings.calibration, floors=lifted),
            limits=everything,
        )

    def _dependencies(self, turn_gate: TurnGateOptions) -> RecallDependencies:
        clock, events = self._clock, EventBus()
        return RecallDependencies(
            clock=clock,
            ids=RowIds(),
            reader=self._reader,
            embedder=DirectAddress("embedder", embedder_of(self._meter, self._settings.embedder_key), clock),
            scorer=DirectAddress("scorer", scorer_of(self._meter), clock),
            cost=CostModel(),
            guard=GateGuard(BreakerPolicy(), clock),
            text_work=ImmediateTextWork(),
            turns=RecallTurns(clock),
            supervisor=DirectAddress("supervisor", _ignored, clock),
            events=events,
            ledger=_ignored,
            calibration=self._settings.calibration,
            limits=self._limits,
            host_text=HostTextWatch(events=events, clock=clock, cooldown_s=UNHURRIED_S, counters=Counter()),
            turn_gate=turn_gate,
        )


def _ignored(_message: object) -> None:
    """Nobody keeps what a recall reports on a bench."""
