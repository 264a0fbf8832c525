"""Taking over observations and proposals that were exported, the same in every store."""

from __future__ import annotations

from collections.abc import Iterable

from recalld.actors.store.admission_rows import NotedFact, ObservationRow, ProposalRow
from recalld.actors.store.admission_tables import OBSERVATIONS_MAX, AdmissionTables
from recalld.models.domain.admission_store import Evidence, ProposalState
from recalld.models.domain.user_data import ImportLine, ImportOutcome, PortableObservation, PortableProposal
from recalld.models.policy.duplicates import canonical


def with_evidence(tables: AdmissionTables, holder_id: str, evidence: Iterable[Evidence]) -> ImportOutcome:
    """Add the turns that are missing behind what is here already; whether that changed anything."""
    before = tables.evidence_of(holder_id)
    for each in evidence:
        tables.add_evidence(holder_id, each)
    return ImportOutcome.KNOWN if tables.evidence_of(holder_id) == before else ImportOutcome.UPDATED


def import_observation(tables: AdmissionTables, given: PortableObservation, user: str) -> ImportLine:
    """Take over an observation, with the turns behind it. It makes no record, however many turns it brings."""
    observation = given.observation
    fact = NotedFact.taken_over(given.fact, user)
    text, scope = fact.memory.text, fact.memory.scope
    there = tables.observation(observation.id)
    if there is not None and not _is_same(there.fact, fact):
        return ImportLine(memory_id=observation.id, outcome=ImportOutcome.CONFLICT)
    if there is None and not observation.promoted_to:
        there = tables.waiting_observation(scope, text)
    if there is not None:
        outcome = with_evidence(tables, there.promoted_to or there.id, given.evidence)
        return ImportLine(memory_id=observation.id, outcome=outcome, known_as=there.id)
    if tables.is_tombstoned(text):
        return ImportLine(memory_id=observation.id, outcome=ImportOutcome.TOMBSTONED)
    row = ObservationRow(
        id=observation.id,
        fact=fact,
        first_at_ms=observation.first_at_ms,
        last_at_ms=observation.last_at_ms,
        promoted_to=observation.promoted_to,
    )
    tables.drop_observations(before_ms=0, keep=OBSERVATIONS_MAX - 1)
    tables.put_observation(row)
    for each in given.evidence:
        tables.add_evidence(row.id, each)
    return ImportLine(memory_id=observation.id, outcome=ImportOutcome.IMPORTED)


def import_proposal(tables: AdmissionTables, given: PortableProposal, user: str) -> ImportLine:
    """Take over a proposal as it stands, with the turns behind it. What was answered stays answered."""
    proposal = given.proposal
    fact = NotedFact.taken_over(given.fact, user)
    there = tables.proposal(proposal.id)
    if there is not None:
        if not _is_same(there.fact, fact):
            return ImportLine(memory_id=proposal.id, outcome=ImportOutcome.CONFLICT)
        outcome = ImportOutcome.KNOWN
        if there.state is ProposalState.PENDING:  # the turns behind an answered one went to its record
            outcome = with_evidence(tables, there.id, given.evidence)
        return ImportLine(memory_id=proposal.id, outcome=outcome, known_as=there.id)
    if tables.is_tombstoned(fact.memory.text):
        return ImportLine(memory_id=proposal.id, outcome=ImportOutcome.TOMBSTONED)
    # That one has expired is told by the clock, whenever it is read.
    state = ProposalState.PENDING if proposal.state is ProposalState.EXPIRED else proposal.state
    tables.put_proposal(
        ProposalRow(
            id=proposal.id,
            session=proposal.session,
            fact=fact,
            reason=proposal.reason,
            state=state,
            created_at_ms=proposal.created_at_ms,
            expires_at_ms=proposal.expires_at_ms,
            proposer=proposal.proposer,
            memory_id=proposal.memory_id,
            accepted_text=proposal.accepted_text,
        )
    )
    for each in given.evidence:
        tables.add_evidence(proposal.id, each)
    return ImportLine(memory_id=proposal.id, outcome=ImportOutcome.IMPORTED)


def _is_same(there: NotedFact, given: NotedFact) -> bool:
    return canonical(there.memory.text) == canonical(given.memory.text) and there.memory.scope == given.memory.scope
