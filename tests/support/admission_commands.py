"""Turns and answers for a driven store, with few words."""

from __future__ import annotations

from typing import TypedDict, Unpack

from store_commands import EMBEDDER, DrivenStore, vectors_of

from recalld.models.domain.admission_store import (
    AdmissionLimits,
    AdmitTurn,
    Confirm,
    Confirmed,
    DroppedFact,
    Evidence,
    FactResult,
    FactWrite,
    Observation,
    ObservationSettled,
    Proposal,
    ProposalState,
    SettleObservation,
    TurnAdmitted,
)
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason, Op
from recalld.models.domain.records import MemoryKind, MemorySource, NewMemory
from recalld.models.domain.store import DecisionRow


class FactOptions(TypedDict, total=False):
    """What a test may say of a fact."""

    scope: str
    kind: MemoryKind
    disposition: Disposition
    generator: Generator
    reason: AdmissionReason
    slot: str
    subject: str
    value: str
    is_single_valued: bool
    is_ending: bool
    neighbours: tuple[str, ...]
    quote: str
    cues: tuple[str, ...]
    asks: tuple[str, ...]
    expires_at_ms: int | None
    is_embedded: bool
    at_ms: int
    turn_id: str


def fact(
    store: DrivenStore, text: str, *, user: str = "", session: str = "s", **options: Unpack[FactOptions]
) -> FactWrite:
    """A fact to write, as a rule of the first session's turn found it."""
    store.memories += 1
    number = store.memories
    memory = NewMemory(
        user=user or store.user,
        text=text,
        kind=options.get("kind", MemoryKind.FACT),
        scope=options.get("scope", ""),
        cues=options.get("cues", ()),
        asks=options.get("asks", ()),
        source=MemorySource.HEURISTIC,
        expires_at_ms=options.get("expires_at_ms"),
    )
    is_embedded = options.get("is_embedded", False)
    return FactWrite(
        memory=memory,
        memory_id=f"mem-{number:04}",
        note_id=f"note-{number:04}",
        disposition=options.get("disposition", Disposition.RECORD),
        slot=options.get("slot", ""),
        subject=options.get("subject", ""),
        value=options.get("value", ""),
        is_single_valued=options.get("is_single_valued", True),
        is_ending=options.get("is_ending", False),
        neighbours=options.get("neighbours", ()),
        evidence=Evidence(
            session=session,
            turn_id=options.get("turn_id", f"t{number}"),
            at_ms=options.get("at_ms", store.now_ms),
            generator=options.get("generator", Generator.RULE),
            rule="rule",
            reason=options.get("reason", AdmissionReason.STATED),
            quote=options.get("quote", ""),
        ),
        embedder_key=EMBEDDER if is_embedded else "",
        vectors=vectors_of(memory) if is_embedded else (),
    )


def open_decision(store: DrivenStore, user: str, session: str, op: Op = Op.OBSERVE) -> DecisionRow:
    """A ledger row that leaves everything to the store."""
    store.decisions += 1
    return DecisionRow(
        id=f"dec-{store.decisions}", user=user, session=session, op=op, at_ms=store.now_ms, decision="", reason=""
    )


async def admit(
    store: DrivenStore,
    *writes: FactWrite,
    session: str = "s",
    turn_id: str = "",
    dropped: tuple[DroppedFact, ...] = (),
    limits: AdmissionLimits | None = None,
    proposer: str = "",
    ration_since_ms: int = 0,
    user: str = "",
) -> TurnAdmitted:
    """Admit a turn; without an id it is no turn."""
    store.now_ms += 1_000
    user = user or store.user
    command = AdmitTurn(
        user=user,
        session=session,
        turn_key=f"{session}\x1f{turn_id}" if turn_id else "",
        now_ms=store.now_ms,
        writes=writes,
        dropped=dropped,
        limits=limits or AdmissionLimits(),
        proposer=proposer,
        ration_since_ms=ration_since_ms,
        decision=open_decision(store, user, session),
    )
    return await store.writer.admit_turn(command)


async def admit_one(
    store: DrivenStore,
    text: str,
    *,
    session: str = "s",
    limits: AdmissionLimits | None = None,
    user: str = "",
    proposer: str = "",
    **options: Unpack[FactOptions],
) -> FactResult:
    """Admit a turn of one fact; what became of it."""
    write = fact(store, text, session=session, user=user, **options)
    admitted = await admit(
        store, write, session=session, turn_id=write.evidence.turn_id, limits=limits, user=user, proposer=proposer
    )
    return admitted.results[0]


async def observe_one(
    store: DrivenStore,
    text: str,
    *,
    session: str = "s",
    limits: AdmissionLimits | None = None,
    **options: Unpack[FactOptions],
) -> FactResult:
    """Admit a turn of one weak fact; what became of it."""
    options["disposition"] = Disposition.OBSERVE
    options.setdefault("generator", Generator.JUDGE)
    return await admit_one(store, text, session=session, limits=limits, **options)


async def propose_one(
    store: DrivenStore,
    text: str,
    *,
    session: str = "s",
    limits: AdmissionLimits | None = None,
    proposer: str = "",
    **options: Unpack[FactOptions],
) -> FactResult:
    """Admit a turn of one fact that needs a yes; what became of it."""
    options["disposition"] = Disposition.PROPOSE
    options.setdefault("generator", Generator.MODEL)
    options.setdefault("reason", AdmissionReason.NEEDS_CONFIRMATION)
    return await admit_one(store, text, session=session, limits=limits, proposer=proposer, **options)


async def settle(
    store: DrivenStore,
    observation_id: str,
    *,
    is_accepted: bool = True,
    edited_text: str = "",
    approver: str = "cli",
    limits: AdmissionLimits | None = None,
    user: str = "",
) -> ObservationSettled:
    """Take a person's word on an observation."""
    store.now_ms += 1_000
    store.memories += 1
    user = user or store.user
    command = SettleObservation(
        user=user,
        observation_id=observation_id,
        is_accepted=is_accepted,
        edited_text=edited_text,
        approver=approver,
        now_ms=store.now_ms,
        memory_id=f"mem-{store.memories:04}",
        limits=limits or AdmissionLimits(),
        decision=open_decision(store, user, "", Op.CONFIRM),
    )
    return await store.writer.settle_observation(command)


async def answer(
    store: DrivenStore,
    proposal_id: str = "",
    *,
    is_accepted: bool = True,
    session: str = "s",
    edited_text: str = "",
    approver: str = "cli",
    limits: AdmissionLimits | None = None,
    user: str = "",
) -> Confirmed:
    """Answer a proposal."""
    store.now_ms += 1_000
    store.memories += 1
    user = user or store.user
    command = Confirm(
        user=user,
        session=session,
        proposal_id=proposal_id,
        is_accepted=is_accepted,
        edited_text=edited_text,
        approver=approver,
        now_ms=store.now_ms,
        memory_id=f"mem-{store.memories:04}",
        limits=limits or AdmissionLimits(),
        decision=open_decision(store, user, session),
    )
    return await store.writer.confirm(command)


async def observations_of(store: DrivenStore, user: str = "") -> tuple[Observation, ...]:
    """Every observation of a user."""
    page = await store.reader.observations(user or store.user, since_ms=0, limit=1_000, cursor=None)
    return page.observations


async def proposals_of(store: DrivenStore, *states: ProposalState, user: str = "") -> tuple[Proposal, ...]:
    """Every proposal of a user in one of the states."""
    page = await store.reader.proposals(user or store.user, states, now_ms=store.now_ms, limit=1_000, cursor=None)
    return page.proposals
