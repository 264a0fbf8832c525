"""The client's side of lending a model: questions come in beside ordinary replies, and answers go out beside requests.

Whatever the extractor does, the client's own calls go on: it runs in a task of its own, is cancelled when its time is
over, and what it raises is logged and answered as a refusal.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import msgspec

from recalld.protocol.client.errors import ClientError
from recalld.protocol.replies import ExtractRequest
from recalld.protocol.requests import ExtractResult

WANTS: Final = ("events", "explain", "extractor", "search")
"""What a client names in its `hello` when it lends a model: a hello that names anything must name all it would use."""

_log = logging.getLogger("recalld.protocol.client")


class ExtractReply(msgspec.Struct, frozen=True, kw_only=True):
    """What the model answered.

    Attributes:
        text: As the model wrote it.
        was_truncated: Whether it stopped at its token ceiling; the daemon then does not read the text.
        refused: The runtime will not answer.
    """

    text: str = ""
    was_truncated: bool = False
    refused: bool = False


Extractor = Callable[[ExtractRequest], Awaitable[ExtractReply | str]]
"""Asks the runtime's model: given `prompt` as the instruction and `turns` as material, it returns the model's text."""

SendResult = Callable[[ExtractResult], Awaitable[None]]


class Lending:
    """Answers the questions of one connection.

    Args:
        extractor: Asks the model.
        send: Sends an answer; raises `ClientError` when the connection is gone.
    """

    def __init__(self, extractor: Extractor, send: SendResult) -> None:
        self._extractor = extractor
        self._send = send

    async def answer(self, request: ExtractRequest) -> None:
        """Answer one question, or let it pass when its time is over. Never raises."""
        reply: ExtractReply | str | None = None
        with anyio.move_on_after(request.deadline_ms / 1000):
            reply = await self._asked(request)
        if reply is None:
            _log.warning("a model did not answer within %d ms (%s)", request.deadline_ms, request.purpose)
            return
        try:
            await self._send(_result(request, reply))
        except ClientError as error:  # nobody waits for the answer any more, or it cannot be sent
            _log.warning("the answer of a model was not sent: %s", error)

    async def _asked(self, request: ExtractRequest) -> ExtractReply | str:
        try:
            return await self._extractor(request)
        except Exception:  # noqa: BLE001 - the border: the runtime's own code must not end the connection
            _log.exception("the extractor failed (%s); the question is answered as refused", request.purpose)
            return ExtractReply(refused=True)


def _result(request: ExtractRequest, reply: ExtractReply | str) -> ExtractResult:
    match reply:
        case str(text):
            return ExtractResult(batch_id=request.batch_id, reply=text)
        case ExtractReply(text=text, was_truncated=was_truncated, refused=refused):
            return ExtractResult(batch_id=request.batch_id, reply=text, was_truncated=was_truncated, refused=refused)
