"""A lineage as a timeline that is safe on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from recalld.daemon.cli.output import moment, printable
from recalld.daemon.cli.words import ADMISSION_REASONS, GENERATORS, MEMORY_SOURCES, PROPOSAL_STATES, counted, in_words
from recalld.models.domain.facts import Generator
from recalld.models.domain.records import MemoryStatus
from recalld.protocol.items import EvidenceItem, MemoryItem, ObservationItem, ProposalItem
from recalld.protocol.replies import Lineage

TEXT_CHARS_MAX: Final = 100


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened.

    Attributes:
        at_ms: When, Unix epoch milliseconds.
        lines: What, and below it why.
    """

    at_ms: int
    lines: tuple[str, ...]


def why_lines(found: Lineage) -> Iterator[str]:
    """The memory, then everything behind it, oldest first."""
    memory = found.memory
    yield f"{memory.id}  {printable(memory.text)}"
    yield f"  {memory.kind}, {memory.status}, {printable(memory.scope) or 'everywhere'}{_slot(found)}"
    for step in sorted(steps_of(found), key=lambda each: each.at_ms):
        first, *rest = step.lines
        yield f"  {moment(step.at_ms)}  {first}"
        yield from (f"      {line}" for line in rest)


def steps_of(found: Lineage) -> Iterator[Step]:
    """Everything that happened, in no order but that a memory is stored after what it was made of."""
    memory = found.memory
    if found.observation is not None:
        yield _noted(found.observation)
    if found.proposal is not None:
        yield _proposed(found.proposal)
    yield from (_said(each) for each in found.evidence)
    yield Step(at_ms=memory.created_at_ms, lines=(f"stored: {in_words(memory.source, MEMORY_SOURCES)}",))
    for older in found.supersedes:
        yield Step(at_ms=older.updated_at_ms, lines=(f"took the place of {_named(older)}",))
    if memory.status == MemoryStatus.SUPERSEDED:
        newer = found.superseded_by
        what = "ended, and nothing took its place" if newer is None else f"replaced by {_named(newer)}"
        yield Step(at_ms=memory.updated_at_ms, lines=(what,))


def said_lines(evidence: EvidenceItem) -> tuple[str, ...]:
    """One turn that speaks for a record, and why it does."""
    explain = (f"`recalld explain {printable(evidence.decision_id)}`",) if evidence.decision_id else ()
    if evidence.generator == Generator.CONFIRMED:
        quote = printable(evidence.quote, chars_max=TEXT_CHARS_MAX)
        edited = f", in other words: “{quote}”" if evidence.quote else ""
        return (f"{in_words(evidence.reason, ADMISSION_REASONS)}{edited}", *explain)
    where = ", ".join(
        part
        for part in (
            f"session {printable(evidence.session)}" if evidence.session else "",
            f"turn {printable(evidence.turn_id)}" if evidence.turn_id else "",
        )
        if part
    )
    words = f"“{printable(evidence.quote, chars_max=TEXT_CHARS_MAX)}”" if evidence.quote else ""
    what = "said" if where or words else "saved"
    first = " ".join(part for part in (what, f"in {where}" if where else "", words) if part)
    rule = f" ({printable(evidence.rule)})" if evidence.rule else ""
    why = f"{in_words(evidence.reason, ADMISSION_REASONS)}, found by {in_words(evidence.generator, GENERATORS)}{rule}"
    return (first, why, *explain)


def _said(evidence: EvidenceItem) -> Step:
    return Step(at_ms=evidence.at_ms, lines=said_lines(evidence))


def _noted(observation: ObservationItem) -> Step:
    what = f"first noted, as “{printable(observation.text, chars_max=TEXT_CHARS_MAX)}” ({observation.id})"
    count = f"{counted(observation.turns, 'turn')} in {counted(observation.sessions, 'session')}"
    return Step(at_ms=observation.first_at_ms, lines=(what, f"became a memory; {count} speak for it"))


def _proposed(proposal: ProposalItem) -> Step:
    by = f" by {printable(proposal.proposer)}" if proposal.proposer else ""
    what = f"proposed{by}, as “{printable(proposal.text, chars_max=TEXT_CHARS_MAX)}” ({proposal.id})"
    state = f"{in_words(proposal.reason, ADMISSION_REASONS)}; {in_words(proposal.state, PROPOSAL_STATES)}"
    edited = f", as “{printable(proposal.accepted_text, chars_max=TEXT_CHARS_MAX)}”" if proposal.accepted_text else ""
    return Step(at_ms=proposal.created_at_ms, lines=(what, f"{state}{edited}"))


def _named(memory: MemoryItem) -> str:
    return f"{memory.id} “{printable(memory.text, chars_max=TEXT_CHARS_MAX)}”"


def _slot(found: Lineage) -> str:
    if not found.slot:
        return ""
    whose = f" of {printable(found.subject)}" if found.subject else ""
    return f", {printable(found.slot)}{whose}"
