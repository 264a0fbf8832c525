"""What the store is told and what it answers: commands, results and rows."""

from __future__ import annotations

import msgspec

from recalld.models.domain.admission_body import AdmissionBody
from recalld.models.domain.cues import MemoryChanges
from recalld.models.domain.reasons import AdmissionReason, Op, RememberOutcome
from recalld.models.domain.records import Memory, MemoryKind, NewMemory, VectorRole
from recalld.models.domain.usage import Usage


class TextVector(msgspec.Struct, frozen=True, kw_only=True):
    """One L2-normalised embedding of one text of a memory.

    Attributes:
        role: Which text of the record it stands for.
        ordinal: Position among the texts of that role, from 0.
        data: Little-endian float16, `dims` values.
    """

    role: VectorRole
    ordinal: int
    data: bytes


class PackedVectors(msgspec.Struct, frozen=True, kw_only=True):
    """All vectors of one memory together; see `actors.store.packed_vectors`.

    Attributes:
        layout: Two bytes for each vector: the code of its role, and its ordinal.
        data: The vectors one behind the other, in the order of the layout; all of them are of the same length.
    """

    layout: bytes = b""
    data: bytes = b""

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.layout)


def vector_bytes_of(dims: int) -> int:
    """Length of a vector's data."""
    return 2 * dims


class EmbeddedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """One live memory as the index holds it: what filters it, and its vectors (none yet: pending)."""

    memory_id: str
    revision: int
    scope: str
    expires_at_ms: int | None
    has_asks: bool
    vectors: PackedVectors
    created_at_ms: int = 0
    updated_at_ms: int = 0


class IndexDelta(msgspec.Struct, frozen=True, kw_only=True):
    """What changed for one user since a sequence number.

    Attributes:
        is_complete: True when `upserts` is everything (a first load, or the change log no longer reaches back so far):
            the reader then starts from an empty index.
        seq: The sequence number this delta brings the reader up to.
        upserts: Live memories with their vectors for the asked embedder (vectors may be empty: not embedded yet).
        removed: Ids that are no longer live or no longer exist.
        total: About how many memories a complete delta has, those of further pages included; what has expired and
            is not swept yet counts as well.
        more: Where the next page of a complete delta begins; empty when this was all.
    """

    is_complete: bool
    seq: int
    upserts: tuple[EmbeddedMemory, ...]
    removed: tuple[str, ...]
    total: int = 0
    more: str = ""


class IndexPage(msgspec.Struct, frozen=True, kw_only=True):
    """A further page of a complete delta. It may be newer than the pages before; the next delta makes up for that.

    Attributes:
        upserts: As for `IndexDelta`.
        more: Where the next page begins; empty when this was the last.
    """

    upserts: tuple[EmbeddedMemory, ...]
    more: str = ""


class LexicalHit(msgspec.Struct, frozen=True, kw_only=True):
    """One full-text hit. `score` is bm25 turned round once: larger is better, never negative."""

    memory_id: str
    score: float


class FoundByWords(msgspec.Struct, frozen=True, kw_only=True):
    """What words find, and the memories behind it, read in one look.

    Attributes:
        hits: Best first.
        memories: By id, in the same order; damaged ones, and those of kinds that were not asked for, are missing.
    """

    hits: tuple[LexicalHit, ...] = ()
    memories: dict[str, Memory] = {}


class PendingEmbedding(msgspec.Struct, frozen=True, kw_only=True):
    """A live memory without vectors for the running embedder."""

    memory: Memory


class MemoryPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of a listing, newest first. `cursor` is None at the end; otherwise it resumes exactly."""

    memories: tuple[Memory, ...]
    cursor: str | None
    total: int


class StoreCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one user's memories."""

    live: int
    pending_embedding: int
    superseded: int = 0
    expired: int = 0
    tombstones: int = 0
    records_without_asks: int = 0


class StoreHealth(msgspec.Struct, frozen=True, kw_only=True):
    """What the store says of itself."""

    is_readable: bool
    is_writable: bool
    schema_version: int
    users: int
    live: int
    blank: int
    """Live memories whose text is empty or white space: never written by this program, so a sign of damage."""
    fts_rows: int
    fts_matches: bool
    """Whether the full-text index has exactly one row for each live memory."""
    pending_embedding: int
    other_embedder: int
    """Live memories whose only vectors belong to another embedder: they need re-embedding."""
    db_bytes: int
    wal_bytes: int
    damaged: int = 0
    """Memories whose row cannot be read as one; they are left out of every answer."""
    damaged_ids: tuple[str, ...] = ()
    """The first of them."""
    missing: tuple[str, ...] = ()
    """Tables, indices and triggers that are not as the schema has them, as in `table turns`."""
    audited_at_ms: int | None = None
    """When somebody last went through the newest memories, Unix epoch milliseconds; None: never."""
    detail: str = ""


class DecisionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the ledger. `body` is JSON without memory or query text (unless configured otherwise)."""

    id: str
    user: str
    session: str
    op: Op
    at_ms: int
    decision: str
    reason: str
    mode: str = ""
    degraded_reason: str = ""
    body: bytes = b"{}"


# --- commands: each one is one transaction ---------------------------------------------------------------------------


class Remember(msgspec.Struct, frozen=True, kw_only=True):
    """Store a memory, or find that the same words are stored already.

    Attributes:
        memory: What to store.
        memory_id: The id to give it if it is new.
        is_explicit: An explicit save lifts a tombstone on the same words; anything else is refused by one.
        embedder_key: Identifies model and prefix of `vectors`; empty when there are none.
        vectors: Vectors of text, cues and asks; may be empty, then the memory is pending.
        decision: Ledger row written in the same transaction. Where its `decision` or `reason` is empty, the store fills
            it in from the outcome, which only it knows.
        turn_key: `session` and `turn_id` joined by U+001F for an observed turn, else empty. A turn seen before is not
            applied again: the recorded result is returned.
        body: For the ledger row; the store fills in the outcome. None: the row's own body stays.
        slot: What the memory states a value of; empty: what the store reads from its words.
        subject: Whose slot; empty: the user's.
        value: The slot's value as said; empty: what the store reads from the words.
        quote: The user's words behind it, where they are not the memory's own.
        records_max: Live records per user and scope; 0: no cap.
        chars_max: Characters of live records per user and scope; 0: no cap.
    """

    memory: NewMemory
    memory_id: str
    now_ms: int
    is_explicit: bool = True
    embedder_key: str = ""
    vectors: tuple[TextVector, ...] = ()
    decision: DecisionRow
    turn_key: str = ""
    body: AdmissionBody | None = None
    slot: str = ""
    subject: str = ""
    value: str = ""
    quote: str = ""
    records_max: int = 0
    chars_max: int = 0


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a `Remember`."""

    outcome: RememberOutcome | None
    """None: refused, as `refusal` says."""
    memory: Memory | None
    decision_id: str
    """Of the row that decided: an earlier one when the turn had been seen before."""
    superseded: tuple[str, ...] = ()
    """Ids of records that this one closed."""
    refusal: AdmissionReason | None = None
    """`tombstoned` or `over_capacity` where nothing was stored; None of a turn that had been seen before."""
    usage: Usage | None = None
    """Where a cap refused it, or is nearly reached."""


class RecordTurn(msgspec.Struct, frozen=True, kw_only=True):
    """Note that an observed turn led to nothing, so that a repeat answers the same."""

    user: str
    turn_key: str
    reason: AdmissionReason
    decision: DecisionRow


class TurnRecorded(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded decision of an observed turn: this one, or the first one if the turn had been seen before."""

    decision_id: str
    reason: AdmissionReason
    memory: Memory | None = None


class Forget(msgspec.Struct, frozen=True, kw_only=True):
    """Forget memories: they leave the index, the full-text index and every listing at once, and leave a tombstone.

    Attributes:
        is_hard: Also overwrite and remove text, cues, asks and vectors, so that no bytes stay in the database files.
            What a plain forgetting left of a memory goes, too.
        is_purge: Leave nothing of the named memories behind: neither tombstone nor turn nor ledger row, and not the
            user either once no memory and no tombstone of the user is left (for the reserved user of `doctor --deep`).
        words: Index terms: turns that wait, observations, proposals and quotes with all of them go, too.
    """

    user: str
    memory_ids: tuple[str, ...]
    words: tuple[str, ...] = ()
    now_ms: int
    is_hard: bool = False
    is_purge: bool = False
    decision: DecisionRow


class NoteCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How much beside memories holds some words.

    Attributes:
        pending_turns: Turns that wait for a language model, those set aside included.
        observations: What was noted and is no memory.
        proposals: In any state.
    """

    pending_turns: int = 0
    observations: int = 0
    proposals: int = 0

    @property
    def total(self) -> int:
        """All together."""
        return self.pending_turns + self.observations + self.proposals


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """What was forgotten.

    Attributes:
        ids: What was forgotten now, or (by a hard forgetting or a purge) removed now though it was forgotten before.
        tombstones: How many tombstones that added.
        is_erasure_pending: Whether the bytes of a hard forgetting still lie in the write-ahead log, because somebody
            reads from it. The store removes them as soon as it can.
        notes: What went beside memories because it held the command's `words`.
    """

    ids: tuple[str, ...]
    tombstones: int
    is_erasure_pending: bool = False
    notes: NoteCounts = NoteCounts()


class PutVectors(msgspec.Struct, frozen=True, kw_only=True):
    """Attach vectors to a memory, unless it changed or went away meanwhile (then nothing happens)."""

    user: str
    memory_id: str
    revision: int
    embedder_key: str
    vectors: tuple[TextVector, ...]


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """Change what is known about a live memory beside its text.

    Attributes:
        if_revision: Only if the memory has this revision; None: whatever it has.
        embedder_key: Identifies model and prefix of `vectors`; empty when there are none.
        vectors: Of new cues and asks, by their place in `changes`. Texts that the memory has already keep the vectors
            they have; a new text without one waits to be embedded, and the rest of the memory is found meanwhile.
        note: For the ledger: what made the change, such as the version of a prompt.
        decision: Ledger row, written in the same transaction if anything changes; the store fills in its body.
    """

    user: str
    memory_id: str
    changes: MemoryChanges
    if_revision: int | None = None
    now_ms: int
    embedder_key: str = ""
    vectors: tuple[TextVector, ...] = ()
    note: str = ""
    decision: DecisionRow


class Updated(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an `Update`.

    Attributes:
        is_changed: Whether anything was to be changed; if not, nothing was written.
        is_embedded: Whether every text has its vector.
    """

    memory: Memory
    is_changed: bool
    is_embedded: bool


class AppendDecisions(msgspec.Struct, frozen=True, kw_only=True):
    """Append ledger rows."""

    rows: tuple[DecisionRow, ...]


class Expire(msgspec.Struct, frozen=True, kw_only=True):
    """Remove expired memories from the indices."""

    now_ms: int


class Expired(msgspec.Struct, frozen=True, kw_only=True):
    """How many memories expired, and whose."""

    count: int
    users: tuple[str, ...]


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Truncate the write-ahead log if no reader needs it, and trim the change log and the ledger."""

    now_ms: int
    ledger_keep_ms: int
    changes_keep: int = 50_000
    samples_keep_ms: int = 30 * 86_400_000
    """Milliseconds that samples for audits are kept, with their text."""


class Checkpointed(msgspec.Struct, frozen=True, kw_only=True):
    """What a checkpoint did."""

    is_truncated: bool
    wal_bytes: int


class ListFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What a listing shows."""

    scope: str | None = None
    kind: MemoryKind | None = None
    contains: str = ""
    """Literal, case-folded; never a pattern."""
    without_asks: bool = False
    """Only memories that carry no asks."""
    is_superseded: bool = False
    """What something newer closed, in place of what is live."""
