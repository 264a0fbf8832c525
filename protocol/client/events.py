"""A subscription: events as an asynchronous iterator, on a connection of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import anyio

from recalld.protocol.client.async_wire import AsyncWire
from recalld.protocol.client.errors import ClientError, ClientFault, unexpected
from recalld.protocol.client.settings import ClientSettings
from recalld.protocol.replies import Event, Subscribed
from recalld.protocol.requests import Subscribe


class EventSubscription:
    """Iterate over it with `async for`; it connects on the first step and ends when the server closes.

    A slow reader loses the oldest events: `Event.dropped` says how many. The client closes its subscriptions when it is
    closed itself; `close` stops one earlier.
    """

    def __init__(
        self, settings: ClientSettings, request: Subscribe, on_close: Callable[[EventSubscription], None]
    ) -> None:
        self._settings = settings
        self._request = request
        self._on_close = on_close
        self._wire: AsyncWire | None = None
        self._is_subscribed = False
        self._is_closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._is_closed:
            raise StopAsyncIteration
        try:
            wire = self._wire if self._wire is not None else await self._subscribe()
            reply = await wire.receive()
        except ClientError as error:
            self.close()
            if self._is_subscribed and error.code == ClientFault.CONNECTION_LOST:
                raise StopAsyncIteration from None
            raise
        if isinstance(reply, Event):
            return reply
        self.close()
        raise unexpected(reply, Event)

    def close(self) -> None:
        """Stop receiving. A pending step ends the iteration."""
        if self._is_closed:
            return
        self._is_closed = True
        self._on_close(self)
        if self._wire is not None:
            self._wire.close()

    async def _subscribe(self) -> AsyncWire:
        try:
            with anyio.fail_after(self._settings.timeout_s):
                wire = await AsyncWire.open(self._settings)
                self._wire = wire
                _, frame = wire.prepare(self._request)
                await wire.send(frame)
                reply = await wire.receive()
        except TimeoutError as error:
            raise ClientError(ClientFault.TIMEOUT, "the server did not subscribe in time") from error
        if isinstance(reply, Subscribed):
            self._is_subscribed = True
            return wire
        raise unexpected(reply, Subscribed)
