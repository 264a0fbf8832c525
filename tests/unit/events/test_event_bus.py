from __future__ import annotations

import contextlib

import anyio
import pytest

from recalld.actors.events import EventBus, EventLevel
from recalld.actors.events.bus import STREAM_EVENTS_MAX
from recalld.models.domain.events import Event, EventName

pytestmark = pytest.mark.anyio


def event(number: int = 0, *, user: str = "", name: EventName = EventName.MEMORY_ADMITTED) -> Event:
    return Event(name=name, at_ms=number, user=user)


async def test_a_slow_reader_loses_the_oldest_and_is_told_how_many() -> None:
    bus = EventBus()
    stream = bus.subscribe()
    for number in range(STREAM_EVENTS_MAX + 3):
        bus.publish(event(number))
    first, dropped = await stream.next_event()
    assert (first.at_ms, dropped) == (3, 3)
    second, dropped = await stream.next_event()
    assert (second.at_ms, dropped) == (4, 0)


async def test_a_waiting_reader_gets_what_comes_and_ends_with_the_stream() -> None:
    bus = EventBus()
    stream = bus.subscribe()
    got: list[int] = []

    async def read() -> None:
        with contextlib.suppress(anyio.EndOfStream):
            while True:
                got.append((await stream.next_event())[0].at_ms)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.sleep(1)
        bus.publish(event(1))
        await anyio.sleep(1)
        bus.publish(event(2))
        stream.close()
    assert got == [1, 2]


async def test_what_was_received_before_the_close_can_still_be_read() -> None:
    bus = EventBus()
    stream = bus.subscribe()
    bus.publish(event(1))
    bus.close()
    bus.publish(event(2))
    stream.close()
    assert (await stream.next_event())[0].at_ms == 1
    with pytest.raises(anyio.EndOfStream):
        await stream.next_event()


async def test_a_stream_gets_the_names_it_asked_for_and_one_users_events() -> None:
    bus = EventBus()
    stream = bus.subscribe(frozenset({EventName.MEMORY_ADMITTED}), "ines")
    bus.publish(event(1, user="ines", name=EventName.MEMORY_FORGOTTEN))
    bus.publish(event(2, user="ines2"))
    bus.publish(event(3, user="ines"))
    bus.publish(event(4))
    bus.close()
    assert [(await stream.next_event())[0].at_ms for _ in range(2)] == [3, 4]
    with pytest.raises(anyio.EndOfStream):
        await stream.next_event()


async def test_a_closed_stream_is_forgotten_by_the_bus() -> None:
    bus = EventBus()
    for _ in range(3):
        bus.subscribe().close()
    assert bus._streams == []


async def test_the_sink_hears_everything_with_its_level() -> None:
    heard: list[tuple[int, EventLevel]] = []
    bus = EventBus(sink=lambda each, level: heard.append((each.at_ms, level)))
    bus.publish(event(1))
    bus.publish(event(2), EventLevel.WARNING)
    assert heard == [(1, EventLevel.INFO), (2, EventLevel.WARNING)]
