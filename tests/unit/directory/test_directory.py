from __future__ import annotations

from functools import partial

import anyio
import pytest
from actor_system import System, drain, running_system

from recalld.actors.directory.directory import STATES_MAX
from recalld.daemon.config.settings import ActorsSettings
from recalld.models.domain.errors import ErrorCode, RecalldError

pytestmark = pytest.mark.anyio

TEXT = "The deploy key lives in the vault"
QUERY = "where does the deploy key live?"


def actors_of(system: System) -> set[str]:
    return {name for name in system.supervisor.names if name.startswith(("recall/", "admission/"))}


async def test_a_user_is_activated_by_the_first_request_and_found_by_the_next() -> None:
    async with running_system(System()) as system:
        assert actors_of(system) == set()
        await system.store_text("ines", TEXT)
        started = actors_of(system)
        assert len(started) == 2
        await system.recall("ines", QUERY)
        assert actors_of(system) == started
        assert system.running.directory.active == 1


async def test_no_user_name_can_stand_in_the_name_of_an_actor() -> None:
    async with running_system(System()) as system:
        await system.store_text("store/../supervisor", TEXT)
        assert not any(".." in name for name in system.supervisor.names)


async def test_beyond_the_bound_the_least_recently_used_goes_to_rest() -> None:
    async with running_system(System(), actors=ActorsSettings(users_active_max=3)) as system:
        for user in ("ann", "ben", "cleo"):
            await system.store_text(user, TEXT)
            await anyio.sleep(1)
        await system.recall("ann", QUERY)
        await system.store_text("dora", TEXT)
        await anyio.sleep(1)
        assert set(system.running.directory._residences) == {"ann", "cleo", "dora"}
        assert len(actors_of(system)) == 6
        assert len((await system.recall("ben", QUERY)).items) == 1


async def test_the_indices_of_all_users_together_stay_within_their_bytes() -> None:
    async with running_system(System(), actors=ActorsSettings(index_bytes_max=1024 * 1024)) as system:
        for number in range(40):
            user = f"user{number}"
            await system.store_text(user, TEXT)
            assert len((await system.recall(user, QUERY)).items) == 1
        held = sum(each.state.index_bytes for each in system.running.directory._residences.values())
        newest = system.running.directory._residences["user39"].state.index_bytes
        assert 0 < held <= 1024 * 1024 + newest
        assert system.running.directory.active < 40


async def test_an_idle_user_goes_to_rest_and_lets_go_of_the_index() -> None:
    async with running_system(System(), actors=ActorsSettings(passivate_after_s=10)) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        state = system.running.directory._states["ines"]
        assert state.index_bytes > 0
        await anyio.sleep(9.9)
        assert system.running.directory.tidy() == 0
        await anyio.sleep(0.2)
        assert system.running.directory.tidy() == 1
        await anyio.sleep(0.1)
        assert (actors_of(system), state.index_bytes) == (set(), 0)


async def test_a_busy_user_is_never_put_to_rest() -> None:
    limits = ActorsSettings(users_active_max=1, passivate_after_s=1)
    async with running_system(System(), actors=limits) as system:
        await system.store_text("ines", TEXT)
        system.reading.slow_s["memories"] = 5.0
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(system.recall, "ines", QUERY, envelope_s=20.0))
            await anyio.sleep(2)
            await system.store_text("bruno", TEXT)
            assert system.running.directory.tidy() == 0
            assert "ines" in system.running.directory._residences
        await anyio.sleep(2)
        assert system.running.directory.tidy() == 2


async def test_a_recall_that_outlives_its_asker_leaves_no_index_behind_a_resting_user() -> None:
    async with running_system(System(), actors=ActorsSettings(passivate_after_s=1)) as system:
        await system.store_text("ines", TEXT)
        system.reading.slow_s["index_delta"] = 3.0
        with anyio.move_on_after(0.1):
            await system.recall("ines", QUERY, envelope_s=20.0)
        await anyio.sleep(1.5)
        assert system.running.directory.tidy() == 1
        await anyio.sleep(10)
        assert system.running.directory._states["ines"].index_bytes == 0
        assert actors_of(system) == set()


async def test_sessions_survive_a_rest() -> None:
    async with running_system(System(), actors=ActorsSettings(passivate_after_s=1)) as system:
        await system.store_text("ines", TEXT)
        assert len((await system.recall("ines", QUERY, session="one")).items) == 1
        await anyio.sleep(2)
        assert system.running.directory.tidy() == 1
        assert (await system.recall("ines", QUERY, session="one")).items == ()
        assert len((await system.recall("ines", QUERY, session="two")).items) == 1


async def test_sessions_of_resting_users_are_bounded_and_the_longest_resting_goes_first() -> None:
    async with running_system(System(), actors=ActorsSettings(users_active_max=1)) as system:
        directory = system.running.directory
        for number in range(STATES_MAX + 5):
            directory.actors_of(f"user{number}")
            if number % 64 == 0:
                await anyio.sleep(0.01)
        assert len(directory._states) == STATES_MAX
        assert "user0" not in directory._states


async def test_an_actor_that_died_is_started_anew_with_the_sessions_it_knew() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY, session="one")
        before = actors_of(system)
        await system.supervisor.kill(next(name for name in before if name.startswith("recall/")))
        again = await system.recall("ines", QUERY, session="one")
        fresh = await system.recall("ines", QUERY, session="two")
        assert again.items == ()
        assert [item.memory.id for item in fresh.items] == [wanted]
        await anyio.sleep(0.1)
        assert len(actors_of(system)) == 2
        assert not actors_of(system) & before


async def test_nobody_is_activated_while_the_daemon_drains() -> None:
    async with running_system(System()) as system:
        await drain(system)
        with pytest.raises(RecalldError) as caught:
            system.running.directory.actors_of("ines")
        assert caught.value.code is ErrorCode.DRAINING
