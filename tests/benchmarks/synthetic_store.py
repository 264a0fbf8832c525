"""A large store that looks like a used one, made by the code that the daemon uses; for the benchmark of the read path.

Texts are sentences of words drawn by Zipf's law: the commonest words are those of the labelled sources, the rest are
made up. Each memory has six vectors (a record, two cues, three asks), each close to the embedding of such a text of one
labelled record: embedding a large store in earnest would take hours.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
from labelled_topics import ASKS, CUES, SOURCES
from lexical_scale import NOW_MS, Corpus
from numpy.typing import NDArray

from recalld.daemon.storage.changes import ChangeNotes
from recalld.daemon.storage.connection import open_writing
from recalld.daemon.storage.embeddings import replace_vectors
from recalld.daemon.storage.files import database_path
from recalld.daemon.storage.memories import insert_memory
from recalld.daemon.storage.transactions import in_transaction
from recalld.daemon.storage.users import ensure_user
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus, VectorRole
from recalld.models.domain.store import TextVector

TEXTS = ((VectorRole.RECORD, 1), (VectorRole.CUE, CUES), (VectorRole.ASK, ASKS))
PLACES = tuple((role, ordinal) for role, count in TEXTS for ordinal in range(count))
SPREAD = 0.02
"""How far a vector lies from its topic's, in each dimension: their cosine is about 0.93."""
BATCH = 2_000
WORD = re.compile(r"[A-Za-z]{2,}")
DAY_MS = 86_400_000


class Words(Corpus):
    """A vocabulary whose commonest words are those of the labelled sources, in their order there."""

    def __init__(self) -> None:
        super().__init__()
        files = sorted(SOURCES.glob("*/records.jsonl"))
        lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
        texts = (json.loads(line)["text"] for line in lines)
        counts = Counter(word.lower() for text in texts for word in WORD.findall(text))
        common = [word for word, _ in counts.most_common()]
        self.words = [*common, *self.words[len(common) :]]

    def text(self) -> str:
        sentence = super().text()
        return f"{sentence[0].upper()}{sentence[1:]}."


class SyntheticStore:
    """Fills the database of a data directory.

    Args:
        data_dir: Its database must be there.
        embedder_key: Whose the vectors are.
        topics: The vectors that those of memories lie around, shape (topics, texts of a memory, dims).
    """

    def __init__(self, data_dir: Path, embedder_key: str, topics: NDArray[np.float32]) -> None:
        self.words = Words()
        self._path = database_path(data_dir)
        self._embedder_key = embedder_key
        self._rng = np.random.default_rng(7)
        self._topics = topics
        self._stored = 0

    def add(self, user: str, count: int) -> None:
        """Store so many more memories for a user, many in a transaction."""
        with closing(open_writing(self._path)) as db:
            for start in range(0, count, BATCH):
                in_transaction(db, partial(self._add_batch, user=user, count=min(BATCH, count - start)))
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def add_users(self, users: Sequence[str]) -> None:
        """Store one memory for each of many users, many in a transaction."""
        with closing(open_writing(self._path)) as db:
            for start in range(0, len(users), BATCH):
                in_transaction(db, partial(self._add_one_each, users=users[start : start + BATCH]))
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _add_one_each(self, db: sqlite3.Connection, users: Sequence[str]) -> None:
        for user in users:
            self._add_batch(db, user, 1)

    def _add_batch(self, db: sqlite3.Connection, user: str, count: int) -> None:
        user_no, notes = ensure_user(db, user), ChangeNotes(db)
        for rows in self._vectors(count):
            memory = self._memory(user)
            memory_no = insert_memory(db, user_no, memory, memory.id.encode())
            vectors = [
                TextVector(role=role, ordinal=ordinal, data=row.tobytes())
                for (role, ordinal), row in zip(PLACES, rows, strict=True)
            ]
            replace_vectors(db, memory_no, 1, self._embedder_key, vectors)
            notes.note(user, user_no, memory.id)

    def _vectors(self, count: int) -> NDArray[np.float16]:
        """Shape (count, texts of a memory, dims)."""
        around = self._topics[self._rng.integers(0, len(self._topics), count)]
        vectors = around + SPREAD * self._rng.standard_normal(around.shape, dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
        return vectors.astype("<f2")

    def _memory(self, user: str) -> Memory:
        self._stored += 1
        at_ms = NOW_MS - self.words.number(0, 400) * DAY_MS
        return Memory(
            id=f"mem_{self._stored:08}",
            user=user,
            text=self.words.text(),
            kind=MemoryKind.FACT,
            scope="",
            cues=(" ".join(self.words.draw(2)), " ".join(self.words.draw(2))),
            asks=tuple(f"What about {' '.join(self.words.draw(4))}?" for _ in range(3)),
            source=MemorySource.EXPLICIT,
            status=MemoryStatus.ACTIVE,
            created_at_ms=at_ms,
            updated_at_ms=at_ms,
            expires_at_ms=None,
            revision=1,
        )
