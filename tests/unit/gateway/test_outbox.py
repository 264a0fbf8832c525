from __future__ import annotations

import anyio
import pytest

from recalld.daemon.gateway.outbox import SLICE_BYTES, Outbox, PeerStalledError

pytestmark = pytest.mark.anyio


class Peer:
    """Takes a slice for each permit."""

    def __init__(self, permits: int = 0) -> None:
        self.taken = b""
        self._permits = anyio.Semaphore(permits)

    def allow(self, slices: int = 1) -> None:
        for _ in range(slices):
            self._permits.release()

    async def send(self, data: bytes) -> None:
        await self._permits.acquire()
        self.taken += data


async def test_frames_arrive_whole_and_in_order_and_finish_waits_for_the_last() -> None:
    peer = Peer(100)
    outbox = Outbox(peer.send, bytes_max=10, stall_timeout_s=1)
    frames = [bytes([number]) * 7 for number in range(20)] + [b"L" * (3 * SLICE_BYTES + 1)]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.run)
        for frame in frames:
            await outbox.put(frame)
        await outbox.finish()
        assert outbox.waiting_bytes == 0
    assert peer.taken == b"".join(frames)


async def test_put_waits_past_the_bound_and_overshoots_it_by_one_frame_at_most() -> None:
    peer = Peer()
    outbox = Outbox(peer.send, bytes_max=10, stall_timeout_s=60)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.run)
        for _ in range(8):
            tasks.start_soon(outbox.put, b"x" * 8)
        await anyio.wait_all_tasks_blocked()
        assert outbox.waiting_bytes == 16
        peer.allow()
        await anyio.wait_all_tasks_blocked()
        assert outbox.waiting_bytes == 16  # one went, one came
        peer.allow(7)
        await anyio.wait_all_tasks_blocked()
        await outbox.finish()
    assert len(peer.taken) == 64


async def test_a_peer_that_takes_nothing_is_stalled_after_the_timeout_and_not_before() -> None:
    outbox = Outbox(Peer().send, bytes_max=10, stall_timeout_s=5)
    began_s = anyio.current_time()
    await outbox.put(b"x")
    with pytest.raises(PeerStalledError):
        await outbox.run()
    assert anyio.current_time() - began_s == pytest.approx(5)


async def test_a_slow_peer_that_takes_one_slice_at_a_time_is_not_stalled() -> None:
    peer = Peer()
    outbox = Outbox(peer.send, bytes_max=10, stall_timeout_s=5)

    async def take_slowly() -> None:
        for _ in range(4):
            await anyio.sleep(4)
            peer.allow()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.run)
        tasks.start_soon(take_slowly)
        await outbox.put(b"x" * (4 * SLICE_BYTES))
        await outbox.finish()
    assert len(peer.taken) == 4 * SLICE_BYTES
