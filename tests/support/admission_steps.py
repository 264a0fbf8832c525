"""Steps of the write path, for driving two stores through the same life."""

from __future__ import annotations

import msgspec
from admission_commands import admit, answer, fact, open_decision, settle
from hypothesis import strategies as st
from store_commands import DrivenStore

from recalld.actors.ports import MemoryReader
from recalld.models.domain.admission_store import AdmissionLimits, ProposalState
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason, Op
from recalld.models.domain.user_data import ImportMemories, PurgeUser

STATEMENTS = (
    ("The user works at Acme.", "employer", "Acme"),
    ("The user is employed at Acme.", "employer", "Acme"),
    ("the user works at Initech", "employer", "Initech"),
    ("Works at Acme", "", ""),
    ("Lives in Porto", "", ""),
    ("The user speaks Polish.", "spoken_language", "Polish"),
    ("The user speaks German.", "spoken_language", "German"),
    ("The user likes tea.", "", ""),
    ("tea", "", ""),
)
SESSIONS = ("s", "other")
EXPORT_PARTS = (None, "o.", "p.")
"""Where the parts of an export begin."""
DRY_RUN = 9
LIMITS = (
    AdmissionLimits(),
    AdmissionLimits(promote_after=2, promote_sessions=1, proposals_per_session=2),
    AdmissionLimits(records_max=2, promote_after=2, promote_sessions=1),
    AdmissionLimits(chars_max=45, promote_window_ms=4_000, proposal_ttl_ms=3_000, proposals_max=1),
)


class FactStep(msgspec.Struct, frozen=True, kw_only=True):
    """One fact of a turn."""

    statement: int
    disposition: Disposition
    generator: Generator
    reason: AdmissionReason
    scope: str
    is_ending: bool
    is_embedded: bool
    neighbour: int
    lifetime_ms: int | None
    has_taken_id: bool


class AdmissionStep(msgspec.Struct, frozen=True, kw_only=True):
    """One thing done on the write path; what a field means depends on `verb`."""

    verb: str
    user: str
    facts: tuple[FactStep, ...]
    session: str
    turn: int
    limits: int
    number: int
    is_so: bool
    pause_ms: int


FACT_STEPS = st.builds(
    FactStep,
    statement=st.integers(0, len(STATEMENTS) - 1),
    disposition=st.sampled_from(
        (Disposition.RECORD, Disposition.RECORD, Disposition.OBSERVE, Disposition.OBSERVE, Disposition.PROPOSE)
    ),
    generator=st.sampled_from((Generator.RULE, Generator.MODEL, Generator.EXPLICIT)),
    reason=st.sampled_from((AdmissionReason.STATED, AdmissionReason.NEEDS_CONFIRMATION)),
    scope=st.sampled_from(("", "", "work")),
    is_ending=st.sampled_from((False, False, False, True)),
    is_embedded=st.booleans(),
    neighbour=st.integers(0, 6),
    lifetime_ms=st.none() | st.integers(1, 9_000),
    has_taken_id=st.sampled_from((False,) * 9 + (True,)),
)


def admission_steps(users: tuple[str, ...]) -> st.SearchStrategy[AdmissionStep]:
    """Steps of these users."""
    return st.builds(
        AdmissionStep,
        verb=st.sampled_from(
            ("admit", "admit", "admit", "admit", "confirm", "settle", "forget", "import", "purge_user", "expire")
        ),
        user=st.sampled_from(users),
        facts=st.lists(FACT_STEPS, min_size=1, max_size=3).map(tuple),
        session=st.sampled_from(SESSIONS),
        turn=st.integers(0, 12),
        limits=st.integers(0, len(LIMITS) - 1),
        number=st.integers(1, 9),
        is_so=st.booleans(),
        pause_ms=st.sampled_from((0, 0, 3_000)),
    )


async def take_admission_step(  # noqa: PLR0911 - one for each verb
    store: DrivenStore, step: AdmissionStep
) -> object:
    """Do one step; what the store answered."""
    store.now_ms += step.pause_ms
    limits = LIMITS[step.limits]
    match step.verb:
        case "admit":
            return await _admit(store, step, limits)
        case "confirm":
            page = await store.reader.proposals(step.user, (), now_ms=store.now_ms, limit=9, cursor=None)
            ids = [each.id for each in page.proposals] or ["note-none"]
            return await answer(
                store,
                "" if step.number == 1 else ids[step.number % len(ids)],
                user=step.user,
                session=step.session,
                is_accepted=step.is_so,
                edited_text="The user works at Hooli." if step.number == 2 else "",
                approver="agent" if step.number == 3 else "cli",
                limits=limits,
            )
        case "settle":
            noted = await store.reader.observations(step.user, since_ms=0, limit=9, cursor=None)
            ids = [each.id for each in noted.observations] or ["note-none"]
            return await settle(
                store,
                ids[step.number % len(ids)],
                user=step.user,
                is_accepted=step.is_so,
                edited_text="The user works at Hooli." if step.number == 2 else "",
                approver="rule" if step.number == 3 else "cli",
                limits=limits,
            )
        case "forget":
            return await store.forget(
                f"mem-{step.number:04}", "mem-0001", user=step.user, is_hard=step.is_so, is_purge=step.number == 3
            )
        case "import":
            part = EXPORT_PARTS[step.turn % len(EXPORT_PARTS)]
            page = await store.reader.exported("ines", now_ms=store.now_ms, limit=step.number, cursor=part)
            return await store.writer.import_memories(
                ImportMemories(
                    user=step.user,
                    memories=page.memories,
                    observations=page.observations,
                    proposals=page.proposals,
                    is_dry_run=step.number == DRY_RUN,
                    now_ms=store.now_ms,
                    records_max=limits.records_max,
                    decision=open_decision(store, step.user, "s", Op.REMEMBER),
                )
            )
        case "purge_user":
            return await store.writer.purge_user(PurgeUser(user=step.user))
        case "expire":
            return await store.expire()
        case _:
            raise AssertionError(step.verb)


async def _admit(store: DrivenStore, step: AdmissionStep, limits: AdmissionLimits) -> object:
    writes = []
    for each in step.facts:
        text, slot, value = STATEMENTS[each.statement]
        write = fact(
            store,
            text,
            user=step.user,
            session=step.session,
            scope=each.scope,
            disposition=each.disposition,
            generator=each.generator,
            reason=each.reason,
            slot=slot,
            value=value,
            is_ending=each.is_ending,
            is_embedded=each.is_embedded,
            neighbours=(f"mem-{each.neighbour:04}",),
            expires_at_ms=None if each.lifetime_ms is None else store.now_ms + 1_000 + each.lifetime_ms,
            quote=text.lower(),
            turn_id=f"t{step.turn}",
        )
        writes.append(msgspec.structs.replace(write, memory_id="mem-0001") if each.has_taken_id else write)
    return await admit(
        store,
        *writes,
        user=step.user,
        session=step.session,
        turn_id=f"t{step.turn}" if step.turn else "",
        limits=limits,
        proposer="agent" if step.is_so else "",
    )


async def seen_of_admission(reader: MemoryReader, user: str, now_ms: int, memory_ids: list[str]) -> list[object]:
    """Everything that the write path lets a caller see of a user."""
    seen: list[object] = [await reader.observations(user, since_ms=now_ms - 4_000, limit=3, cursor=None)]
    wanted = ((), (ProposalState.PENDING,), (ProposalState.EXPIRED, ProposalState.REJECTED))
    seen += [await reader.proposals(user, states, now_ms=now_ms, limit=3, cursor=None) for states in wanted]
    seen += [await reader.lineage(user, memory_id, now_ms=now_ms) for memory_id in memory_ids]
    for scope in ("", "work"):
        seen.append(await reader.usage(user, scope, now_ms=now_ms))
        for slot in ("employer", "location", "spoken_language"):
            seen.append(await reader.slot_holders(user, scope, slot, now_ms=now_ms))
    cursor = None
    while True:
        page = await reader.exported(user, now_ms=now_ms, limit=3, cursor=cursor)
        seen.append(page)
        cursor = page.cursor
        if cursor is None:
            return seen
