"""The ports of the actors: what they need from the world, as protocols. Adapters live in `recalld.daemon`.

Every adapter is checked by the same contract suite as its in-memory fake (tests/contract).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recalld.models.domain.admission_store import (
    AdmitTurn,
    Confirm,
    Confirmed,
    Lineage,
    ObservationPage,
    ObservationSettled,
    ProposalPage,
    ProposalState,
    SettleObservation,
    SlotHolder,
    TurnAdmitted,
)
from recalld.models.domain.audit import NoteAudit
from recalld.models.domain.audit_samples import AppendSamples, MarkSample, SampleGroup, SampleKind, SamplePage
from recalld.models.domain.drift import DecisionSample
from recalld.models.domain.extraction import AppendPending, PendingCounts, PendingTurn, SettlePending
from recalld.models.domain.ledger_tally import LedgerTallies
from recalld.models.domain.outcomes import OutcomeRecorded, OutcomeTally, RecordOutcome
from recalld.models.domain.records import Memory, MemoryKind
from recalld.models.domain.runtime_model import RuntimeFailure, RuntimePrompt, RuntimeReply
from recalld.models.domain.standing import MemoryOutcomes, SetStanding, StandingCandidates, StandingSet
from recalld.models.domain.store import (
    AppendDecisions,
    Checkpoint,
    Checkpointed,
    DecisionRow,
    Expire,
    Expired,
    Forget,
    Forgotten,
    FoundByWords,
    IndexDelta,
    IndexPage,
    LexicalHit,
    ListFilter,
    MemoryPage,
    NoteCounts,
    PendingEmbedding,
    PutVectors,
    RecordTurn,
    Remember,
    Remembered,
    StoreCounts,
    StoreHealth,
    TurnRecorded,
    Update,
    Updated,
)
from recalld.models.domain.time_window import TimeWindow
from recalld.models.domain.usage import Usage
from recalld.models.domain.user_data import ExportPage, ImportMemories, MemoriesImported, PurgeUser, UserPurged
from recalld.models.domain.world import Claim, FindingState


class Clock(Protocol):
    """Time, passed in."""

    def monotonic_s(self) -> float:
        """Seconds on the event loop's monotonic clock; only differences mean something."""
        ...

    def now_ms(self) -> int:
        """Unix epoch milliseconds, UTC; may jump."""
        ...


class IdSource(Protocol):
    """Ids, passed in."""

    def new_id(self, prefix: str) -> str:
        """A new, unique, sortable id such as `mem_01J…`."""
        ...


class MemoryReader(Protocol):
    """Reading side of the store. Every method raises `RecalldError(STORAGE_UNAVAILABLE)` when the store cannot be read.

    Users are compared by exact bytes everywhere.
    """

    def seq(self, user: str) -> int:
        """The user's newest change number known to this process (0: none). Never blocks, touches no file."""
        ...

    async def load_seq(self, user: str) -> int:
        """As `seq`, but reads it from the database when this process has not seen the user yet."""
        ...

    async def memory(self, user: str, memory_id: str) -> Memory | None:
        """A memory in any status but forgotten."""
        ...

    async def memories(self, user: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Several memories by id; unknown, forgotten and damaged ones are missing from the answer."""
        ...

    async def erasable(self, user: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """As `memories`, with forgotten ones too, and with what can be read of damaged ones: all a purge can name."""
        ...

    async def list_memories(
        self, user: str, what: ListFilter, *, now_ms: int, limit: int, cursor: str | None
    ) -> MemoryPage:
        """Live memories, newest first. Raises `RecalldError(BAD_REQUEST)` for a cursor that this store did not make."""
        ...

    async def lexical(
        self,
        user: str,
        terms: Sequence[str],
        *,
        now_ms: int,
        limit: int,
        scope: str | None,
        windows: Sequence[TimeWindow] = (),
    ) -> list[LexicalHit]:
        """Live memories of the user that contain at least one of the terms, best first.

        `terms` come from `policy.terms.query_terms`; they are matched literally, never parsed as query syntax. In a
        large memory, terms that very many memories have find none beside rarer terms that do; see `actors.store.bm25`.
        With windows, only memories that were made or changed in one of them.
        """
        ...

    async def found_by_words(
        self,
        user: str,
        terms: Sequence[str],
        *,
        now_ms: int,
        limit: int,
        scope: str | None,
        windows: Sequence[TimeWindow] = (),
        kinds: Collection[MemoryKind] = (),
    ) -> FoundByWords:
        """As `lexical`, with the memories behind the hits: one look where two would each wait for a thread.

        With kinds, only memories of these are read; the hits are those of all kinds.
        """
        ...

    async def posted(self, user: str, terms: Sequence[str]) -> frozenset[str]:
        """Those of the terms, inflections included, that some memory of the user contains; reads no memory.

        `terms` come from `policy.turn.probe.probe_terms`. A memory that has just expired may still count.
        """
        ...

    async def within(
        self, user: str, windows: Sequence[TimeWindow], *, now_ms: int, limit: int, scope: str | None
    ) -> list[Memory]:
        """Live memories of the user that were made or changed in any of the windows; none without windows.

        Newest first, by the later of those of their two times that lie in a window. Cost is bounded by `limit`, not by
        the length of a window.
        """
        ...

    async def index_delta(self, user: str, embedder_key: str, *, since_seq: int, now_ms: int) -> IndexDelta:
        """What an index that stands at `since_seq` (0: empty) must apply; of a complete delta the first page."""
        ...

    async def index_page(self, user: str, embedder_key: str, *, after: str, now_ms: int) -> IndexPage:
        """A further page of a complete delta, from where the page before said; what changed meanwhile may be in it."""
        ...

    async def pending(self, embedder_key: str, *, now_ms: int, limit: int) -> list[PendingEmbedding]:
        """Live memories of any user without (sound) vectors for this embedder, oldest first; damaged ones left out."""
        ...

    async def counts(
        self,
        user: str,
        embedder_key: str,
        *,
        now_ms: int,
        scope: str | None = None,
        windows: Sequence[TimeWindow] = (),
    ) -> StoreCounts:
        """Counts of one user's memories.

        With a scope, `live` counts that scope and the global one only; with windows, only what was made or changed in
        one of them.
        """
        ...

    async def decision(self, decision_id: str) -> DecisionRow | None:
        """A ledger row."""
        ...

    async def decision_samples(self, user: str, *, limit: int) -> tuple[DecisionSample, ...]:
        """The newest recalls and the newest observed turns of a user, newest first, at most `limit` of each kind."""
        ...

    async def deciding_users(self, *, since_ms: int, limit: int) -> tuple[str, ...]:
        """Users with ledger rows since a time, those with the newest first."""
        ...

    async def ledger_tallies(self, user: str | None, *, since_ms: int | None, now_ms: int) -> LedgerTallies:
        """What was counted of the ledger rows of a user, or (None) of all, from the whole hour of `since_ms` on.

        Hours that are no longer whole in the ledger do not count. Without `since_ms` everything ever counted does; of
        all users also what was trimmed, or was a user's who is gone. Cost is bounded by hours, not by rows.
        """
        ...

    async def audit_samples(self, user: str, kinds: Sequence[SampleKind], *, is_marked: bool, limit: int) -> SamplePage:
        """The newest samples of some kinds, newest first: those with a mark, or those without that can be judged."""
        ...

    async def audit_counts(self, user: str | None, *, since_ms: int) -> tuple[SampleGroup, ...]:
        """Samples of decisions since a time, of a user or (None) of all, by kind and probability."""
        ...

    async def outcomes(self, user: str, memory_ids: Sequence[str]) -> dict[str, OutcomeTally]:
        """Reports on each of these memories, counted; one that is not there has none."""
        ...

    async def reported(self, user: str, *, memory_id: str = "", decision_id: str = "", limit: int) -> MemoryOutcomes:
        """What was reported on a memory, or (without one) on a decision: counts, and the newest `limit` reports."""
        ...

    async def standing_candidates(self, user: str, scope: str, *, now_ms: int, limit: int) -> StandingCandidates:
        """Live memories of the scope and the global one that may stand in a block: by kind, or by a person's decision.

        Pinned ones first, then the newest; `limit` at most. Reports before a memory was restored are not counted.
        """
        ...

    async def observations(self, user: str, *, since_ms: int, limit: int, cursor: str | None) -> ObservationPage:
        """Facts with weak evidence, promoted ones included, the one made last first.

        Turns count that were made since `since_ms`. Raises `RecalldError(BAD_REQUEST)` for a cursor of another store.
        """
        ...

    async def proposals(
        self, user: str, states: Sequence[ProposalState], *, now_ms: int, limit: int, cursor: str | None
    ) -> ProposalPage:
        """Proposals in any of the states as of `now_ms`, newest first; without states all of them.

        Raises `RecalldError(BAD_REQUEST)` for a cursor of another store.
        """
        ...

    async def lineage(self, user: str, memory_id: str, *, now_ms: int) -> Lineage | None:
        """Everything behind a record; None for one that is not there or was forgotten."""
        ...

    async def usage(self, user: str, scope: str, *, now_ms: int) -> Usage:
        """What live memories of this very scope use; without caps."""
        ...

    async def slot_holders(
        self, user: str, scope: str, slot: str, subject: str = "", *, now_ms: int
    ) -> tuple[SlotHolder, ...]:
        """Live memories of this very scope that are noted to hold a slot of a subject, oldest first."""
        ...

    async def pending_turns(self, user: str, *, limit: int) -> tuple[PendingTurn, ...]:
        """Turns of the user that wait for a model and were not set aside, in order of arrival."""
        ...

    async def pending_users(self) -> tuple[str, ...]:
        """Users with such turns, by the age of their oldest."""
        ...

    async def pending_counts(self, user: str | None) -> PendingCounts:
        """How many turns wait for a model, of one user or (None) of all."""
        ...

    async def notes_with(self, user: str, words: Sequence[str]) -> NoteCounts:
        """How many of the user's waiting turns, observations and proposals hold all of some index terms."""
        ...

    async def exported(self, user: str, *, now_ms: int, limit: int, cursor: str | None) -> ExportPage:
        """A page of everything that is kept of the user but what was forgotten.

        Raises `RecalldError(BAD_REQUEST)` for a cursor of another store.
        """
        ...

    async def health(self, embedder_key: str, *, now_ms: int) -> StoreHealth:
        """Never raises: an unreadable store is a result."""
        ...


class MemoryWriter(Protocol):
    """Writing side of the store; called by the store actor alone. Each call is one transaction (`BEGIN IMMEDIATE`).

    Each method raises `RecalldError` with `STORAGE_FULL` or `STORAGE_UNAVAILABLE`; then nothing of the call is stored.
    """

    async def remember(self, command: Remember) -> Remembered:
        """Store a memory, or find that it is stored already."""
        ...

    async def record_turn(self, command: RecordTurn) -> TurnRecorded:
        """Note that a turn led to nothing, or give the decision made when it was seen before."""
        ...

    async def admit_turn(self, command: AdmitTurn) -> TurnAdmitted:
        """Write all facts of a turn, or give what was recorded when the turn was seen before.

        Also raises `RecalldError(CONFLICT)` for an id that is taken.
        """
        ...

    async def confirm(self, command: Confirm) -> Confirmed:
        """Answer a proposal.

        Also raises `RecalldError` with `NOT_FOUND` (no such proposal, or none of the session waits), `FORBIDDEN` (the
        yes of whoever made it) and `CONFLICT` (another answer than the one given before, or an id that is taken).
        """
        ...

    async def settle_observation(self, command: SettleObservation) -> ObservationSettled:
        """Take a person's word on an observation.

        Also raises `RecalldError` with `NOT_FOUND` (no such observation), `FORBIDDEN` (the yes of the client whose
        model found it) and `CONFLICT` (a no to what is a record already, or an id that is taken).
        """
        ...

    async def import_memories(self, command: ImportMemories) -> MemoriesImported:
        """Take over memories that were exported; what conflicts is reported, line by line."""
        ...

    async def purge_user(self, command: PurgeUser) -> UserPurged:
        """Leave nothing of a user behind."""
        ...

    async def forget(self, command: Forget) -> Forgotten:
        """Forget memories."""
        ...

    async def put_vectors(self, command: PutVectors) -> bool:
        """Attach vectors; False when the memory changed or went away meanwhile."""
        ...

    async def update(self, command: Update) -> Updated:
        """Change what is known about a memory beside its text.

        Also raises `RecalldError` with `NOT_FOUND` (no live memory), and with `CONFLICT`: it has another revision, or
        its new scope has the same words already.
        """
        ...

    async def record_outcome(self, command: RecordOutcome) -> OutcomeRecorded:
        """Keep a report, once for each decision, memory and result.

        Raises `NOT_FOUND` for a decision or memory that the user does not have, `BAD_REQUEST` for a memory that the
        decision did not show (or, reported as missed, did).
        """
        ...

    async def append_pending(self, command: AppendPending) -> bool:
        """Put a turn among those that wait for a model.

        False when it waits already, was decided about before, or too many wait.
        """
        ...

    async def settle_pending(self, command: SettlePending) -> PendingCounts:
        """Note what became of turns that waited for a model; how many of the user are left."""
        ...

    async def set_standing(self, command: SetStanding) -> StandingSet:
        """Note what a person decided about a memory and the standing block. Raises `NOT_FOUND` unless it is live."""
        ...

    async def note_audit(self, command: NoteAudit) -> None:
        """Note that somebody went through the newest memories."""
        ...

    async def append_samples(self, command: AppendSamples) -> int:
        """Keep samples whose decision is in the ledger and whose memory was not forgotten; how many are new."""
        ...

    async def mark_sample(self, command: MarkSample) -> None:
        """Note what somebody says of a sample. Raises `NOT_FOUND`."""
        ...

    async def append_decisions(self, command: AppendDecisions) -> None:
        """Append ledger rows."""
        ...

    async def expire(self, command: Expire) -> Expired:
        """Remove what has expired from the indices."""
        ...

    async def checkpoint(self, command: Checkpoint) -> Checkpointed:
        """Truncate the write-ahead log, and trim what is kept for a time only."""
        ...

    async def truncate_log(self) -> Checkpointed:
        """Truncate the write-ahead log alone, as far as nobody reads from it."""
        ...


class PairScorer(Protocol):
    """A cross-encoder, called from the scorer's own threads. One call scores one pair, at its own length."""

    @property
    def model_key(self) -> str:
        """Hash-based identity of model, tokenizer and pair template; part of every score-cache key."""
        ...

    def count_tokens(self, query: str, memory: str) -> int:
        """Tokens that `score` would run for this pair."""
        ...

    def score(self, query: str, memory: str, stop: StopFlag) -> float:
        """The raw logit. Blocks for milliseconds.

        Raises:
            ScoreStopped: `stop` was set; soon after.
        """
        ...


class StopFlag(Protocol):
    """Set from another thread to abandon a running inference."""

    def is_set(self) -> bool:
        """Whether to stop."""
        ...

    def on_set(self, callback: StopCallback) -> None:
        """Call back once, at once if set already; from whichever thread sets it. Used for `RunOptions.terminate`."""
        ...


class StopCallback(Protocol):
    """What is called when a stop flag is set."""

    def __call__(self) -> None:
        """Stop."""
        ...


class RuntimeModel(Protocol):
    """A language model that a connected runtime lends: whoever declared the feature `extractor` on its connection."""

    def is_connected(self, user: str) -> bool:
        """Whether anybody could be asked for this user now; never blocks."""
        ...

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> RuntimeReply | RuntimeFailure:
        """The model's answer as text, by `deadline_s` (monotonic) at the latest; every failure is a result."""
        ...


class WorldProbe(Protocol):
    """Looks at a project's files for `decide`. Never outside the project, and never by running anything."""

    async def look(self, root: str, claim: Claim) -> FindingState:
        """What the files of the project at `root` say of a local claim; may be cancelled."""
        ...


class TextEmbedder(Protocol):
    """A bi-encoder, called from the embedder's own thread."""

    @property
    def embedder_key(self) -> str:
        """Hash-based identity of model, tokenizer, pooling and query prefix."""
        ...

    @property
    def dims(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, text: str, *, is_query: bool) -> NDArray[np.float32]:
        """One L2-normalised vector, shape (dims,). `is_query` puts the manifest's query prefix in front."""
        ...
