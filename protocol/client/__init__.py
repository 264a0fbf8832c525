"""An async client (anyio) and a blocking one (standard library sockets).

`AsyncClient` is imported on first use, so that the blocking client works where anyio is not installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import UNAVAILABLE, ClientError, ClientFault

if TYPE_CHECKING:
    from recalld.protocol.client.asynchronous import AsyncClient

__all__ = ["UNAVAILABLE", "AsyncClient", "Client", "ClientError", "ClientFault"]


def __getattr__(name: str) -> type[AsyncClient]:
    if name == "AsyncClient":
        from recalld.protocol.client.asynchronous import AsyncClient  # noqa: PLC0415 - only here is anyio needed

        return AsyncClient
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
