from __future__ import annotations

import pytest
from actor_system import System, running_system

from recalld.actors.admission import forgetting
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import EventName
from recalld.models.domain.reasons import RememberOutcome

pytestmark = pytest.mark.anyio

TEXT = "The deploy key lives in the vault"
QUERY = "where does the deploy key live?"


async def test_by_id_and_what_was_not_there_is_told() -> None:
    async with running_system(System()) as system:
        one = await system.store_text("ines", TEXT)
        other = await system.store_text("bruno", TEXT)
        reply = await system.forget("ines", one, "mem_unknown", other, one)
        assert [memory.id for memory in reply.memories] == [one]
        assert reply.unknown == ("mem_unknown", other)
        assert reply.tombstones == 1
        assert (await system.recall("ines", QUERY)).items == ()
        assert len((await system.recall("bruno", QUERY)).items) == 1
        (event,) = system.events(EventName.MEMORY_FORGOTTEN)
        row = await system.service.explain("ines", reply.decision_id)
    assert (event.fields["count"], row.decision) == (1, "forgotten")


async def test_a_second_time_there_is_nothing_to_forget() -> None:
    async with running_system(System()) as system:
        one = await system.store_text("ines", TEXT)
        await system.forget("ines", one)
        reply = await system.forget("ines", one)
    assert (reply.memories, reply.unknown) == ((), (one,))


async def test_by_words_takes_what_has_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "PAGE", 2)
    async with running_system(System()) as system:
        wanted = {await system.store_text("ines", f"Deploy key number{number} is old") for number in range(5)}
        await system.store_text("ines", "The deploy box is new")
        reply = await system.forget("ines", query="the deploy KEY")
    assert {memory.id for memory in reply.memories} == wanted


async def test_a_dry_run_shows_what_would_go_and_leaves_it() -> None:
    async with running_system(System()) as system:
        one = await system.store_text("ines", TEXT)
        reply = await system.forget("ines", query="deploy key", is_dry_run=True)
        assert (reply.is_dry_run, [memory.id for memory in reply.memories]) == (True, [one])
        assert len((await system.recall("ines", QUERY)).items) == 1
        assert system.events(EventName.MEMORY_FORGOTTEN) == []
        assert "forget" not in system.writing.calls


@pytest.mark.parametrize(
    ("ids", "query", "field"),
    [((), "", "ids, query"), (("mem_1",), "vault", "ids, query"), ((), "the of it", "query"), ((), "?!", "query")],
)
async def test_a_request_that_names_nothing_or_too_much_is_refused_by_field(
    ids: tuple[str, ...], query: str, field: str
) -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        with pytest.raises(RecalldError, match=field) as caught:
            await system.forget("ines", *ids, query=query)
        assert caught.value.code is ErrorCode.BAD_REQUEST
        assert len((await system.recall("ines", QUERY)).items) == 1


async def test_an_explicit_save_brings_back_what_was_forgotten() -> None:
    async with running_system(System()) as system:
        one = await system.store_text("ines", TEXT)
        await system.forget("ines", one, is_hard=True)
        again = await system.remember("ines", TEXT)
        assert again.outcome is RememberOutcome.CREATED
        assert [item.memory.id for item in (await system.recall("ines", QUERY)).items] == [again.memory.id]


async def test_only_a_reserved_user_may_be_purged() -> None:
    async with running_system(System()) as system:
        one = await system.store_text("ines", TEXT)
        other = await system.store_text("ines", "The deploy box is new")
        with pytest.raises(RecalldError, match="purge") as caught:
            await system.forget("ines", one, is_purge=True)
        assert caught.value.code is ErrorCode.BAD_REQUEST
        assert set(await system.store.reader.memories("ines", (one, other))) == {one, other}


@pytest.mark.parametrize("user", ["__doctor__:4711", "uid:1000/__doctor__:4711"])
async def test_a_purge_says_and_does_the_same_as_its_dry_run(user: str) -> None:
    async with running_system(System()) as system:
        one = await system.store_text(user, TEXT)
        other = await system.store_text(user, "The deploy box is new")
        for is_dry_run in (True, False):
            reply = await system.forget(user, one, "mem_unknown", is_purge=True, is_dry_run=is_dry_run)
            assert [memory.id for memory in reply.memories] == [one]
            assert reply.unknown == ("mem_unknown",)
        assert set(await system.store.reader.memories(user, (one, other))) == {other}


async def test_a_hard_forget_after_a_plain_one_is_counted_and_shown_before() -> None:
    async with running_system(System()) as system:
        one = await system.store_text("ines", TEXT)
        await system.forget("ines", one)
        for is_dry_run in (True, False):
            reply = await system.forget("ines", one, is_hard=True, is_dry_run=is_dry_run)
            assert ([memory.id for memory in reply.memories], reply.unknown) == ([one], ())
        assert (await system.forget("ines", one, is_hard=True)).unknown == (one,)
