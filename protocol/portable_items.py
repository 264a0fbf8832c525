"""What an export consists of, and an import takes: records with everything that restores them, but no vectors.

One of them is one line of an export file as well. Of a memory only `text` must be given, so that what another program
stored can be brought in.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recalld.protocol import fields as f

EVIDENCE_MAX = 200
SLOTS_MAX = 64
PORTABLE_MAX = 100
"""Records in one `export` reply or `import` request."""

_Id = Annotated[str, Meta(max_length=f.ID_CHARS_MAX)]
_Name = Annotated[str, Meta(max_length=f.NAME_CHARS_MAX)]
_Code = Annotated[str, Meta(max_length=f.NAME_CHARS_MAX)]
_Origin = Literal["given", "rule", "model"]
_Origins = Annotated[tuple[_Origin, ...], Meta(max_length=f.ASKS_MAX)]
_Source = Literal["explicit", "heuristic", "model", "confirmed", "imported"]
_Count = Annotated[int, Meta(ge=0, le=f.ASKS_MAX)]


class PortableEvidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn behind a record."""

    session: _Name = ""
    turn_id: _Name = ""
    at_ms: f.EpochMs
    generator: Literal["rule", "judge", "model", "explicit", "confirmed"]
    rule: _Name = ""
    reason: _Code
    """Why it was let in: see the vocabulary."""
    quote: Annotated[str, Meta(max_length=f.TURN_CHARS_MAX)] = ""
    """The user's words."""
    decision_id: _Id = ""


class PortableSlot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a record states a value of."""

    slot: Annotated[str, Meta(min_length=1, max_length=f.NAME_CHARS_MAX)]
    subject: Annotated[str, Meta(max_length=f.MEMORY_CHARS_MAX)] = ""
    """Whose slot; empty: the user's own."""
    value: Annotated[str, Meta(max_length=f.MEMORY_CHARS_MAX)] = ""
    is_single_valued: bool = True
    """Whether a newer value closes this one."""


class PortableFact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an observation or a proposal would store."""

    text: f.MemoryText
    kind: f.Kind = "fact"
    scope: f.Scope = ""
    cues: f.Cues = ()
    asks: f.Asks = ()
    source: _Source = "explicit"
    expires_at_ms: f.EpochMs | None = None
    added_cues: _Count = 0
    """How many of the cues, from the end, were added by a rule."""
    added_asks: _Count = 0
    slot: PortableSlot | None = None
    is_ending: bool = False
    """It would close the slot's memory and open none."""


_Evidence = Annotated[tuple[PortableEvidence, ...], Meta(max_length=EVIDENCE_MAX)]


class PortableMemory(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="memory_record"
):
    """A memory in any status but forgotten, with everything that hangs on it but its vectors."""

    memory_id: _Id = ""
    """Empty: it is new, and treated like a save of its words."""
    text: f.MemoryText
    kind: f.Kind = "fact"
    scope: f.Scope = ""
    cues: f.Cues = ()
    asks: f.Asks = ()
    cue_origins: _Origins = ()
    """Who wrote each cue; none at all: all were given."""
    ask_origins: _Origins = ()
    source: _Source = "imported"
    status: Literal["active", "superseded"] = "active"
    created_at_ms: f.EpochMs | None = None
    """Null: now."""
    updated_at_ms: f.EpochMs | None = None
    """Null: when it was created."""
    expires_at_ms: f.EpochMs | None = None
    revision: f.Revision = 1
    slots: Annotated[tuple[PortableSlot, ...], Meta(max_length=SLOTS_MAX)] = ()
    evidence: _Evidence = ()
    """Every turn behind it, oldest first."""
    superseded_by: _Id = ""
    """The id of the memory that replaced it; empty: none did."""
    closed_at_ms: f.EpochMs | None = None
    """When it was superseded."""
    untrusted: bool = True


class PortableObservation(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="observation_record"
):
    """A fact with weak evidence, and the turns behind it."""

    observation_id: f.RecordId
    fact: PortableFact
    first_at_ms: f.EpochMs
    last_at_ms: f.EpochMs
    promoted_to: _Id = ""
    """The id of the memory it became; the turns behind it then went there."""
    evidence: _Evidence = ()
    untrusted: bool = True


class PortableProposal(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="proposal_record"
):
    """A fact that waits, or waited, for the user's yes, and the turns behind it."""

    proposal_id: f.RecordId
    session: f.SessionName = ""
    fact: PortableFact
    reason: _Code
    state: f.ProposalStateName = "pending"
    created_at_ms: f.EpochMs
    expires_at_ms: f.EpochMs
    proposer: _Name = ""
    memory_id: _Id = ""
    """The id of the memory it became; the turns behind it then went there."""
    accepted_text: Annotated[str, Meta(max_length=f.MEMORY_CHARS_MAX)] = ""
    evidence: _Evidence = ()
    untrusted: bool = True


Portable = PortableMemory | PortableObservation | PortableProposal


class ImportedItem(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one record that was handed over."""

    record_id: str
    """Its id: as it was handed over, or as it was given here."""
    outcome: str
    """What became of it: see the vocabulary."""
    known_as: str = ""
    """The id of what is here instead; empty where there is none."""
