"""What the ledger keeps of a memory that was handed over to be stored: counts and names of rules, never text."""

from __future__ import annotations

import msgspec

from recalld.models.domain.records import MemoryKind


class AdmissionBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the ledger row of a save.

    Attributes:
        kind: Of the memory as it was handed over.
        scope: Of the memory; empty: everywhere.
        outcome: `created`, `updated`, `duplicate`, `superseded` or `refused`; the store fills it in, which alone knows.
        given_cues: Cues that came with the memory.
        given_asks: Asks that came with the memory.
        added_cues: Cues that slots and the gazetteer added.
        added_asks: Asks that slots added.
        sources: What added them, such as `slot:editor` and `gazetteer`.
    """

    kind: MemoryKind
    scope: str = ""
    outcome: str = ""
    given_cues: int = 0
    given_asks: int = 0
    added_cues: int = 0
    added_asks: int = 0
    sources: tuple[str, ...] = ()
