"""The change log: what a user's index has to catch up with, and how far each user is."""

from __future__ import annotations

import sqlite3
import threading

from recalld.daemon.storage.meta import MetaKey, trimmed_through, write_meta


class SeqBoard:
    """The newest change number of each user that this process has seen. Usable from any thread.

    Numbers only grow, so that a reader that looked into the database a moment too early cannot hide a newer write.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seqs: dict[str, int] = {}

    def seq(self, user: str) -> int:
        """The user's newest change number; 0 when none was seen."""
        return self._seqs.get(user, 0)

    def knows(self, user: str) -> bool:
        """Whether the user was seen."""
        return user in self._seqs

    def advance(self, seqs: dict[str, int]) -> None:
        """Take note of newer change numbers; older ones change nothing."""
        with self._lock:
            for user, seq in seqs.items():
                self._seqs[user] = max(seq, self._seqs.get(user, 0))


class ChangeNotes:
    """Collects the changes of one write transaction.

    Attributes:
        seqs: The newest change number of each user touched; to be published once the transaction is committed.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.seqs: dict[str, int] = {}

    def note(self, user: str, user_no: int, memory_id: str) -> None:
        """Record that something about a memory changed that an index must know."""
        row: tuple[int] = self._db.execute(
            "INSERT INTO changes (user_no, memory_id) VALUES (?, ?) RETURNING seq", (user_no, memory_id)
        ).fetchone()
        self._db.execute("UPDATE users SET last_seq = ? WHERE user_no = ?", (row[0], user_no))
        self.seqs[user] = row[0]


def trim_changes(db: sqlite3.Connection, keep: int) -> None:
    """Drop all but the newest `keep` changes, and remember up to where; inside the caller's transaction.

    An index that stands before that point loads everything instead of a part.
    """
    newest: int = db.execute("SELECT COALESCE(MAX(seq), 0) FROM changes").fetchone()[0]
    through = newest - max(keep, 0)
    if through <= trimmed_through(db):
        return
    db.execute("DELETE FROM changes WHERE seq <= ?", (through,))
    write_meta(db, MetaKey.TRIMMED_THROUGH, str(through).encode("ascii"))
