"""The index in a database of its own, against the formula worked out memory by memory."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.actors.store.bm25 import EXTRAS_WEIGHT, inverse_document_frequency, length_factor
from recalld.actors.store.lexical_rank import FINALISTS_MAX, POSTINGS_MAX
from recalld.actors.store.search_text import SearchText, search_text
from recalld.daemon.storage.changes import ChangeNotes
from recalld.daemon.storage.memories import StoredMemory, insert_memory, update_memory, withdraw
from recalld.daemon.storage.migrations import MigrationContext, migrate
from recalld.daemon.storage.search import STATISTICS, find_by_words
from recalld.daemon.storage.search_check import Drift, RowCounts, count_rows, find_drift
from recalld.daemon.storage.search_rows import prepare_index, rebuild_index
from recalld.daemon.storage.users import ensure_user
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.domain.store import LexicalHit

NOW_MS = 1_000_000
STEMS = tuple("bdfghkmnpq")
"""Single letters, which are terms and stems as they are."""


class Shelf:
    """A database with an index, and beside it what it should hold."""

    def __init__(self, db: sqlite3.Connection, secret: bytes = b"s" * 32) -> None:
        self.db = db
        self.stored: dict[str, StoredMemory] = {}
        self.texts: dict[str, SearchText] = {}
        self.count = 0
        migrate(db, MigrationContext(now_ms=0, secret=secret))
        prepare_index(db)

    def add(
        self,
        text: str,
        *,
        user: str = "ines",
        asks: tuple[str, ...] = (),
        scope: str = "",
        created_at_ms: int | None = None,
        expires_at_ms: int | None = None,
    ) -> str:
        self.count += 1
        memory_id = f"mem-{self.count:05}"
        memory = Memory(
            id=memory_id,
            user=user,
            text=text,
            kind=MemoryKind.FACT,
            scope=scope,
            cues=(),
            asks=asks,
            source=MemorySource.EXPLICIT,
            status=MemoryStatus.ACTIVE,
            created_at_ms=self.count if created_at_ms is None else created_at_ms,
            updated_at_ms=0,
            expires_at_ms=expires_at_ms,
            revision=1,
        )
        user_no = ensure_user(self.db, user)
        memory_no = insert_memory(self.db, user_no, memory, memory_id.encode())
        self.texts[memory_id] = search_text(memory)
        self.stored[memory_id] = StoredMemory(memory_no=memory_no, user_no=user_no, is_indexed=True, memory=memory)
        return memory_id

    def change_asks(self, memory_id: str, asks: tuple[str, ...]) -> None:
        stored = self.stored[memory_id]
        memory = msgspec.structs.replace(stored.memory, asks=asks, revision=stored.memory.revision + 1)
        update_memory(self.db, stored, memory)
        self.texts[memory_id] = search_text(memory)
        self.stored[memory_id] = msgspec.structs.replace(stored, memory=memory)

    def remove(self, memory_id: str) -> None:
        withdraw(self.db, ChangeNotes(self.db), self.stored.pop(memory_id))

    def found(
        self, stems: Sequence[str], *, user: str = "ines", limit: int = 20, scope: str | None = None
    ) -> list[LexicalHit]:
        user_no = ensure_user(self.db, user)
        return find_by_words(self.db, user_no, stems, now_ms=NOW_MS, limit=limit, scope=scope)

    def expected(
        self, stems: Sequence[str], *, user: str = "ines", limit: int = 20, scope: str | None = None
    ) -> list[LexicalHit]:
        """The formula, memory by memory, of those that the rarest words nominate, or else the next rarest."""
        memories = [each.memory for each in self.stored.values() if each.memory.user == user]
        texts = {memory.id: self.texts[memory.id] for memory in memories}
        having = {stem: sum(stem in text.stems for text in texts.values()) for stem in stems}
        left = sorted((stem for stem in having if having[stem]), key=lambda stem: having[stem])
        while left:
            nominating = [left.pop(0)]
            while left and sum(having[stem] for stem in (*nominating, left[0])) <= POSTINGS_MAX:
                nominating.append(left.pop(0))
            found = [
                memory
                for memory in memories
                if not texts[memory.id].stems.isdisjoint(nominating)
                and memory.is_live(NOW_MS)
                and (scope is None or memory.scope in ("", scope))
            ]
            if having[nominating[0]] <= POSTINGS_MAX:
                by_match = {memory.id: self._matched(memory, nominating, having, texts) for memory in found}
                found.sort(key=lambda memory: (by_match[memory.id], memories.index(memory)))
            found = found[-max(FINALISTS_MAX, limit) :]
            if found:
                ranked = self._ranked(found, list(having), having, texts)[:limit]
                return [LexicalHit(memory_id=memory_id, score=score) for score, _, memory_id in ranked]
        return []

    def _ranked(
        self, memories: list[Memory], stems: list[str], having: dict[str, int], texts: dict[str, SearchText]
    ) -> list[tuple[float, int, str]]:
        mean = sum(len(text.main) for text in texts.values()) / max(len(texts), 1)
        scored = []
        for memory in memories:
            factor = length_factor(len(texts[memory.id].main), mean)
            matched = self._matched(memory, stems, having, texts)
            scored.append((round(matched * factor, 9), memory.created_at_ms, memory.id))
        return sorted(scored, reverse=True)

    def _matched(self, memory: Memory, stems: list[str], having: dict[str, int], texts: dict[str, SearchText]) -> float:
        text, matched = texts[memory.id], 0.0
        for stem in stems:
            share = 1.0 if stem in text.main else EXTRAS_WEIGHT if stem in text.extras else 0.0
            matched += share * inverse_document_frequency(len(texts), having[stem]) if share else 0.0
        return round(matched, 9)

    def assert_finds_what_it_should(self, stems: Sequence[str], *, limit: int = 20, scope: str | None = None) -> None:
        found = self.found(stems, limit=limit, scope=scope)
        expected = self.expected(stems, limit=limit, scope=scope)
        assert [hit.memory_id for hit in found] == [hit.memory_id for hit in expected]
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=2e-9)


@contextmanager
def new_shelf() -> Iterator[Shelf]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        yield Shelf(db)


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    with new_shelf() as made:
        yield made


texts = st.lists(st.sampled_from(STEMS), max_size=8).map(" ".join)
additions = st.fixed_dictionaries(
    {
        "text": texts,
        "user": st.sampled_from(("ines", "ines", "omar")),
        "asks": st.lists(texts, max_size=2).map(tuple),
        "scope": st.sampled_from(("", "work", "home")),
        "created_at_ms": st.integers(0, 3),
        "expires_at_ms": st.sampled_from((None, None, NOW_MS, NOW_MS + 1)),
    }
)


@settings(max_examples=80, deadline=None)
@given(
    added=st.lists(additions, max_size=30),
    removed=st.sets(st.integers(1, 30)),
    changed=st.sets(st.integers(1, 30)),
    queries=st.lists(st.lists(st.sampled_from(STEMS), min_size=1, max_size=6, unique=True), min_size=1, max_size=4),
    limit=st.integers(0, 8),
    scope=st.sampled_from((None, "", "work")),
)
def test_what_is_found_is_what_the_formula_says_for_any_memories(
    added: list[dict[str, object]],
    removed: set[int],
    changed: set[int],
    queries: list[list[str]],
    limit: int,
    scope: str | None,
) -> None:
    with new_shelf() as shelf:
        for number, options in enumerate(added, start=1):
            shelf.add(**options)  # type: ignore[arg-type]  # as drawn above
            if number in changed:
                shelf.change_asks(f"mem-{number:05}", ("b q",))
            if number in removed:
                shelf.remove(f"mem-{number:05}")
        assert find_drift(shelf.db) == Drift(stale=0, surplus=0)
        for query in queries:
            shelf.assert_finds_what_it_should(query, limit=limit, scope=scope)
            shelf.assert_finds_what_it_should(query, limit=20, scope=None)
        rebuild_index(shelf.db)
        assert find_drift(shelf.db) == Drift(stale=0, surplus=0)
        for query in queries:
            shelf.assert_finds_what_it_should(query, limit=limit, scope=scope)


@pytest.fixture(scope="module")
def large() -> Iterator[Shelf]:
    """Some letters are in most of many memories, so that they are common words; every fifth is somebody else's."""
    rng = random.Random(11)
    with new_shelf() as made:
        made.db.execute("BEGIN")
        for number in range(2_500):
            letters = [each for place, each in enumerate(STEMS) if rng.random() < 0.9 ** (place * place)]
            made.add(
                " ".join(letters * rng.randint(1, 2) + ["xx", "yy", "zz"][: rng.randint(0, 3)]),
                user="omar" if number % 5 == 0 else "ines",
                asks=("is it q?",) if rng.random() < 0.1 else (),
                scope="work" if rng.random() < 0.3 else "",
                created_at_ms=rng.randint(0, 1_000),
            )
        for memory_id in rng.sample(sorted(made.stored), 300):
            made.remove(memory_id)
        for _ in range(100):
            made.add("b d q")
        made.db.execute("COMMIT")
        yield made


@pytest.mark.parametrize("stems", [("b",), ("q",), STEMS, ("q", "p", "b"), ("h", "zz", "absent"), ("xx", "n")])
@pytest.mark.parametrize("scope", [None, "work", "elsewhere"])
def test_the_best_of_thousands_are_those_of_the_formula(
    large: Shelf, stems: tuple[str, ...], scope: str | None
) -> None:
    # One word alone leaves thousands of equal scores, of which the newest come first.
    large.assert_finds_what_it_should(stems, scope=scope)
    large.assert_finds_what_it_should(stems, limit=1, scope=scope)


def test_a_large_index_kept_step_by_step_holds_what_the_memories_say(large: Shelf) -> None:
    assert find_drift(large.db) == Drift(stale=0, surplus=0)
    assert count_rows(large.db) == RowCounts(rows=len(large.stored), lacking=0, surplus=0)


def totals(db: sqlite3.Connection) -> list[tuple[int, int]]:
    return db.execute("SELECT found_memories, found_terms FROM users ORDER BY user_no").fetchall()


def test_the_statistics_of_a_user_are_one_row_and_stay_right_whatever_is_written(shelf: Shelf) -> None:
    plan = shelf.db.execute(f"EXPLAIN QUERY PLAN {STATISTICS}", (1,)).fetchall()
    assert "INTEGER PRIMARY KEY" in plan[0][3]
    shelf.add("b d f", user="omar")
    kept = [shelf.add(f"b number{number}") for number in range(5)]
    shelf.change_asks(kept[0], ("f g",))
    shelf.remove(kept[1])
    shelf.db.execute("DELETE FROM memories WHERE id = ?", (kept[2],))
    shelf.db.execute("DELETE FROM memories WHERE id = ?", (kept[1],))
    expected = [(1, 3), (3, sum(len(shelf.texts[memory_id].main) for memory_id in (kept[0], *kept[3:])))]
    assert sorted(totals(shelf.db)) == sorted(expected)
    rebuild_index(shelf.db)
    assert sorted(totals(shelf.db)) == sorted(expected)


def test_rows_change_with_their_memories_and_go_with_them(shelf: Shelf) -> None:
    kept = [shelf.add(f"b number{number}") for number in range(5)]
    for number in range(50):
        shelf.remove(shelf.add(f"d {number}"))
        shelf.change_asks(kept[number % 5], (f"f {number}",))
    assert count_rows(shelf.db) == RowCounts(rows=5, lacking=0, surplus=0)
    assert [hit.memory_id for hit in shelf.found(["b"])] == list(reversed(kept))
    assert shelf.found(["d"]) == []


def test_words_of_one_user_are_no_words_of_another(shelf: Shelf) -> None:
    for number in range(12):
        shelf.add("b 2:b 1", user=f"user-{number}")
    for number in range(12):
        assert len(shelf.found(["b"], user=f"user-{number}")) == 1
        assert shelf.found(["1:b", ":b", "b\x00", '" OR b OR "'], user=f"user-{number}") == []


def test_a_stem_is_matched_whole_whatever_its_characters(shelf: Shelf) -> None:
    # Of scripts and marks that are newer than SQLite's tables, too.
    words = ["c++", "c#", "src/pi/hermes.py", "grammar::fa", "हिन्दी", "管理", "\U00010ec2", "\U0001f9ff", "a_b-c@d&e"]
    for word in words:
        shelf.db.execute(
            "UPDATE memory_fts SET main = ? WHERE rowid = ?", (f"1:{word}", shelf.stored[shelf.add("b")].memory_no)
        )
    for place, word in enumerate(words):
        assert [hit.memory_id for hit in shelf.found([word])] == [f"mem-{place + 1:05}"]
        assert shelf.found([word[:-1]]) == shelf.found([word + "x"]) == []


def test_an_index_of_another_recipe_is_made_anew_and_one_of_this_is_left(shelf: Shelf) -> None:
    shelf.add("b")
    assert not prepare_index(shelf.db)
    shelf.db.execute("UPDATE meta SET value = x'00' WHERE key = 'search_recipe'")
    shelf.db.execute("DELETE FROM memory_fts")
    assert prepare_index(shelf.db)
    assert len(shelf.found(["b"])) == 1


def test_a_damaged_memory_is_skipped_and_counted_when_the_index_is_made_anew(shelf: Shelf) -> None:
    shelf.add("b d")
    shelf.add("b f")
    shelf.db.execute("UPDATE memories SET kind = 'weird' WHERE memory_no = 1")
    assert rebuild_index(shelf.db) == 1
    assert [hit.memory_id for hit in shelf.found(["b", "d"])] == ["mem-00002"]
    assert count_rows(shelf.db) == RowCounts(rows=2, lacking=0, surplus=0)
    assert find_drift(shelf.db) == Drift(stale=0, surplus=0)


def test_every_kind_of_drift_is_found(shelf: Shelf) -> None:
    for number in range(3):
        shelf.add(f"b number{number}")
    shelf.add("b", user="omar")
    tampers = (
        ("UPDATE memories SET text = 'g' WHERE memory_no = 2", Drift(1, 0)),
        ("UPDATE memories SET asks = '[\"g\"]' WHERE memory_no = 2", Drift(1, 0)),
        ("UPDATE memories SET user_no = 2 WHERE memory_no = 2", Drift(1, 0)),
        ("UPDATE memories SET term_count = 9 WHERE memory_no = 2", Drift(1, 0)),
        ("UPDATE memory_fts SET main = '1:g' WHERE rowid = 2", Drift(1, 0)),
        ("UPDATE memory_fts SET extras = '1:g' WHERE rowid = 2", Drift(1, 0)),
        ("DELETE FROM memory_fts", Drift(4, 0)),
        ("UPDATE memory_fts SET rowid = 77 WHERE rowid = 1", Drift(1, 1)),
        ("UPDATE memories SET is_indexed = 0 WHERE memory_no = 1", Drift(0, 1)),
    )
    for tamper, drift in tampers:
        shelf.db.execute("SAVEPOINT sound")
        shelf.db.execute(tamper)
        assert find_drift(shelf.db) == drift, tamper
        shelf.db.execute("ROLLBACK TO sound")
    assert find_drift(shelf.db) == Drift(0, 0)
