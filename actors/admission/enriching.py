"""A memory with what slots and the gazetteer add to it, and what the ledger keeps of that."""

from __future__ import annotations

import msgspec

from recalld.models.domain.admission_body import AdmissionBody
from recalld.models.domain.records import NewMemory
from recalld.models.policy.enrichment import enrich


def enriched(memory: NewMemory, *, is_on: bool) -> tuple[NewMemory, AdmissionBody]:
    """The memory with added cues and asks where it has room for them, and the body of its ledger row.

    Args:
        memory: Checked.
        is_on: False: nothing is added.
    """
    given = AdmissionBody(
        kind=memory.kind, scope=memory.scope, given_cues=len(memory.cues), given_asks=len(memory.asks)
    )
    if not is_on:
        return memory, given
    enrichment = enrich(memory.text, memory.kind, memory.cues, memory.asks)
    fuller = msgspec.structs.replace(
        memory,
        cues=enrichment.cues,
        asks=enrichment.asks,
        added_cues=enrichment.added_cues,
        added_asks=enrichment.added_asks,
    )
    body = msgspec.structs.replace(
        given,
        added_cues=enrichment.added_cues,
        added_asks=enrichment.added_asks,
        sources=enrichment.sources,
    )
    return fuller, body
