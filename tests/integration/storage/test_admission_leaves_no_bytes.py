"""S05 on the write path: after a hard forgetting, and after a purge, no file holds a byte of what was said."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import pytest
from admission_commands import admit, admit_one, answer, fact, observe_one, propose_one
from store_commands import DrivenStore

from recalld.daemon.storage.store import SqliteStore
from recalld.models.domain.facts import Disposition
from recalld.models.domain.user_data import PurgeUser

pytestmark = pytest.mark.anyio

StoreOpener = Callable[[], AbstractAsyncContextManager[tuple[SqliteStore, DrivenStore]]]

TEXT = "The user keeps a canary called Quetzalmoss."
QUOTE = "my bird, the canary, is okapiquote"
CANARIES = (b"quetzalmoss", b"okapiquote", b"editedmoss")


def traces(data_dir: Path, canaries: Sequence[bytes] = CANARIES) -> set[tuple[str, bytes]]:
    """Which canaries lie in which file, in any case."""
    return {
        (path.name, canary) for path in data_dir.iterdir() for canary in canaries if canary in path.read_bytes().lower()
    }


async def life_of_a_canary(driven: DrivenStore) -> list[str]:
    """Records, observations and proposals with canaries in every text, among neighbours; ids of the records."""
    for number in range(40):
        await admit_one(
            driven, f"Neighbour {number} likes tea.", slot="neighbour", value=f"n{number}", quote="likes tea"
        )
        await observe_one(driven, f"Neighbour {number} may like rum.", quote="may like rum")
    await observe_one(driven, "The pet is Quetzalmoss.", scope="home", slot="pet", value="Quetzalmoss", quote=QUOTE)
    for session in ("a", "a", "b"):
        promoted = await observe_one(driven, TEXT, session=session, quote=QUOTE, slot="pet", value="Quetzalmoss")
    proposed = await propose_one(driven, "Greet Quetzalmoss first.", session="c", quote=QUOTE)
    assert proposed.proposal is not None
    confirmed = await answer(driven, proposed.proposal.id, edited_text="Greet Quetzalmoss, the EditedMoss, first.")
    writes = [
        fact(driven, text, quote=f"I live in Porto with {TEXT} and {QUOTE}", disposition=disposition, turn_id="last")
        for text, disposition in (("Lives by the river.", Disposition.RECORD), ("May own a tram.", Disposition.OBSERVE))
    ]
    await admit(driven, *writes, turn_id="last")
    assert promoted.memory is not None
    assert confirmed.result is not None
    assert confirmed.result.memory is not None
    return [promoted.memory.id, confirmed.result.memory.id]


async def test_a_hard_forgetting_reaches_evidence_observations_proposals_and_slots(
    data_dir: Path, opened: StoreOpener
) -> None:
    async with opened() as (store, driven):
        memory_ids = await life_of_a_canary(driven)
        assert {canary for _, canary in traces(data_dir)} == set(CANARIES)
        assert not (await driven.forget(*memory_ids, is_hard=True)).is_erasure_pending
        assert traces(data_dir) == set()
        assert await store.find_damage() == ()
    assert traces(data_dir) == set()


async def test_a_plain_forgetting_leaves_no_words_in_any_row(data_dir: Path, opened: StoreOpener) -> None:
    async with opened() as (_, driven):
        await driven.forget(*await life_of_a_canary(driven))
        with closing(sqlite3.connect(data_dir / "recalld.db")) as db:
            dump = "\n".join(line for line in db.iterdump() if "memory_fts_data" not in line).lower()
        assert [canary for canary in CANARIES if canary.decode() in dump] == []


async def test_a_purged_user_leaves_no_byte_and_no_row(data_dir: Path, opened: StoreOpener) -> None:
    async with opened() as (store, driven):
        await driven.remember("Prefers tea", user="omar")
        await life_of_a_canary(driven)
        await driven.forget("mem-0001")
        purged = await store.writer.purge_user(PurgeUser(user="ines"))
        assert (purged.memories, purged.is_erasure_pending) == (43, False)
        assert traces(data_dir, (*CANARIES, b"neighbour")) == set()
        with closing(sqlite3.connect(data_dir / "recalld.db")) as db:
            left = {
                table: db.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()[0]  # noqa: S608 - names of tables
                for (table,) in db.execute(
                    "SELECT m.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c"
                    " WHERE m.type = 'table' AND c.name = 'user_no'"
                )
            }
        assert {table: count for table, count in left.items() if count} == {
            "users": 1,
            "memories": 1,
            "changes": 1,
            "decisions": 1,
            "ledger_tallies": 1,
            "evidence": 1,
        }
        assert await driven.listed("omar") == ["mem-0001"]
        assert await store.find_damage() == ()
