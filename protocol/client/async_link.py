"""A pipelined connection: many calls in flight, one background reader that hands each reply to its waiter."""

from __future__ import annotations

import anyio
import anyio.abc

from recalld.protocol.client.async_wire import AsyncWire
from recalld.protocol.client.errors import ClientError, ClientFault, LinkBrokenError
from recalld.protocol.client.lending import Extractor, Lending
from recalld.protocol.messages import Reply, Request
from recalld.protocol.replies import ExtractRequest
from recalld.protocol.requests import ExtractResult


class _Waiter:
    """Where one call waits; resolved once, by a reply or by the end of the connection."""

    def __init__(self) -> None:
        self.was_sent = False
        self._is_resolved = anyio.Event()
        self._result: Reply | ClientError | None = None

    def resolve(self, result: Reply | ClientError) -> None:
        if self._result is None:
            self._result = result
            self._is_resolved.set()

    async def result(self) -> Reply:
        await self._is_resolved.wait()
        if isinstance(self._result, ClientError):
            # A fresh exception for each waiter: one raised twice would carry the other's traceback.
            raise ClientError(self._result.code, self._result.message, retryable=self._result.retryable)
        if self._result is None:  # unreachable: the event is set after the result
            raise ClientError(ClientFault.CONNECTION_LOST, "the call was never answered")
        return self._result


class AsyncLink:
    """Calls over one `AsyncWire`. `run` must be running in a task while calls are made.

    Args:
        wire: The greeted connection.
        extractor: Answers the server's questions, where the greeting lent a model.
    """

    def __init__(self, wire: AsyncWire, extractor: Extractor | None = None) -> None:
        self.wire = wire
        self._lending = None if extractor is None else Lending(extractor, self._send_result)
        self._waiters: dict[int, _Waiter] = {}
        self._sending = anyio.Lock()
        self._reading = anyio.CancelScope()
        self._end: ClientError | None = None

    @property
    def is_usable(self) -> bool:
        """Whether calls may still be made."""
        return self._end is None

    async def run(self) -> None:
        """Read replies until the connection ends or `stop` is called; then every waiter is told."""
        try:
            with self._reading:
                async with anyio.create_task_group() as answering:
                    await self._read(answering)
        finally:
            self.stop(ClientError(ClientFault.CLOSED, "the client was closed"))
            self.wire.close()

    async def _read(self, answering: anyio.abc.TaskGroup) -> None:
        """Hand out replies, and answer questions, until the connection ends."""
        try:
            while True:
                reply = await self.wire.receive()
                if isinstance(reply, ExtractRequest):
                    if self._lending is not None:
                        answering.start_soon(self._lending.answer, reply)
                    continue
                waiter = self._waiters.get(reply.id) if reply.id is not None else None
                if waiter is not None:  # else: a late reply to a call that was given up
                    waiter.resolve(reply)
        except ClientError as error:
            self.stop(error)  # which also ends the answers under way: nobody would read them

    async def _send_result(self, result: ExtractResult) -> None:
        if self._end is not None:
            raise self._end
        _, frame = self.wire.prepare(result)
        await self._send(frame)

    def stop(self, reason: ClientError) -> None:
        """End the connection; the first reason given is the one that waiters see."""
        if self._end is None:
            self._end = reason
        for waiter in self._waiters.values():
            waiter.resolve(self._end)
        self._reading.cancel()

    async def exchange(self, request: Request) -> Reply:
        """Send a request and wait for its reply.

        Raises:
            ClientError: The request cannot be encoded.
            LinkBrokenError: The connection ended first.
        """
        request_id, frame = self.wire.prepare(request)
        waiter = self._waiters[request_id] = _Waiter()
        try:
            if self._end is not None:
                raise self._end
            await self._send(frame)
            waiter.was_sent = True
            return await waiter.result()
        except ClientError as error:
            raise LinkBrokenError(error, was_sent=waiter.was_sent) from error
        finally:
            del self._waiters[request_id]

    async def _send(self, frame: bytes) -> None:
        async with self._sending:
            try:
                await self.wire.send(frame)
            except BaseException as error:
                # Cancelled or broken in the middle of a frame: whatever followed would be read as its rest.
                self.stop(error if isinstance(error, ClientError) else _interrupted())
                raise


def _interrupted() -> ClientError:
    return ClientError(ClientFault.CONNECTION_LOST, "another call was interrupted while it was being sent")
