"""The transaction that changes what is known about a memory beside its text."""

from __future__ import annotations

import sqlite3

from recalld.actors.store.update_rules import (
    VectorsAfter,
    check_revision,
    no_live_memory,
    same_words_in_scope,
    update_decision,
    vectors_after,
)
from recalld.daemon.storage.changes import ChangeNotes
from recalld.daemon.storage.embeddings import is_embedded, replace_vectors, stored_vectors
from recalld.daemon.storage.ledger import append_decision
from recalld.daemon.storage.memories import StoredMemory, find_by_fold, find_by_id, withdraw
from recalld.daemon.storage.meta import fold_key
from recalld.daemon.storage.origins import text_from_origins
from recalld.daemon.storage.rows import json_from_texts
from recalld.daemon.storage.search_rows import index_memory, unindex_memory
from recalld.daemon.storage.users import find_user
from recalld.models.domain.records import Memory
from recalld.models.domain.store import Update, Updated
from recalld.models.policy.duplicates import duplicate_digest
from recalld.models.policy.memory_changes import changed_memory


def update(db: sqlite3.Connection, notes: ChangeNotes, command: Update) -> Updated:
    """Change a live memory; what the changes do not touch can be found all the while.

    Raises:
        RecalldError: `NOT_FOUND`, or `CONFLICT` for another revision and for a scope that has the same words already.
        DamagedRowError: The memory's row is damaged.
    """
    user_no = find_user(db, command.user)
    stored = None if user_no is None else find_by_id(db, command.user, user_no, command.memory_id)
    if stored is None or not stored.is_indexed or not stored.memory.is_live(command.now_ms):
        raise no_live_memory(command.memory_id)
    before = stored.memory
    check_revision(before, command.if_revision)
    after = changed_memory(before, command.changes, now_ms=command.now_ms)
    if after is None:
        is_whole = is_embedded(db, stored.memory_no, before.revision)
        return Updated(memory=before, is_changed=False, is_embedded=is_whole)
    if after.scope != before.scope:
        _make_place(db, notes, stored, after, command.now_ms)
    embedder_key, vectors = _vectors(db, stored, after, command)
    _write(db, stored, after)
    is_waiting = bool(vectors.waiting)
    replace_vectors(db, stored.memory_no, after.revision, embedder_key, vectors.kept, is_waiting=is_waiting)
    notes.note(command.user, stored.user_no, after.id)
    append_decision(db, update_decision(command, before, after))
    return Updated(memory=after, is_changed=True, is_embedded=not vectors.waiting)


def _make_place(db: sqlite3.Connection, notes: ChangeNotes, stored: StoredMemory, after: Memory, now_ms: int) -> None:
    """See to it that the memory's words are free in its new scope."""
    digest = duplicate_digest(after.text, fold_key(db))
    same = find_by_fold(db, after.user, stored.user_no, after.scope, digest)
    if same is None:
        return
    if same.memory.is_live(now_ms):
        raise same_words_in_scope(after.scope)
    withdraw(db, notes, same)  # expired but not swept yet


def _vectors(db: sqlite3.Connection, stored: StoredMemory, after: Memory, command: Update) -> tuple[str, VectorsAfter]:
    """The embedder's key and the vectors after the update; stored ones of another embedder are not comparable."""
    made_by, found = stored_vectors(db, stored.memory_no, stored.memory.revision)
    embedder_key = command.embedder_key or made_by
    sound = found if embedder_key == made_by else ()
    return embedder_key, vectors_after(stored.memory, after, sound, command.vectors)


def _write(db: sqlite3.Connection, stored: StoredMemory, after: Memory) -> None:
    db.execute(
        "UPDATE memories SET kind = ?, scope = ?, cues = ?, asks = ?, expires_at_ms = ?, updated_at_ms = ?,"
        " revision = ?, origins = ? WHERE memory_no = ?",
        (
            after.kind.value,
            after.scope,
            json_from_texts(after.cues),
            json_from_texts(after.asks),
            after.expires_at_ms,
            after.updated_at_ms,
            after.revision,
            text_from_origins(after),
            stored.memory_no,
        ),
    )
    if (after.cues, after.asks) != (stored.memory.cues, stored.memory.asks):
        unindex_memory(db, stored.memory_no)
        index_memory(db, stored.memory_no, stored.user_no, after)
