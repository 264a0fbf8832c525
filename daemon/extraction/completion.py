"""What an OpenAI-compatible endpoint answers to a chat completion, read strictly.

The form is that of the "Create chat completion" response of OpenAI's API reference, of which only what is needed is
read: the first choice's text, and why the model stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from recalld.models.domain.extraction import SourceFailure, SourceFault
from recalld.models.domain.runtime_model import RuntimeReply

_FAULTS: Final[Mapping[int, SourceFault]] = {
    HTTPStatus.UNAUTHORIZED: SourceFault.DENIED,
    HTTPStatus.PAYMENT_REQUIRED: SourceFault.DENIED,
    HTTPStatus.FORBIDDEN: SourceFault.DENIED,
    HTTPStatus.NOT_FOUND: SourceFault.DENIED,
    HTTPStatus.METHOD_NOT_ALLOWED: SourceFault.DENIED,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: SourceFault.TOO_LONG,
    HTTPStatus.TOO_MANY_REQUESTS: SourceFault.RATE_LIMITED,
}


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the conversation that is sent."""

    role: str
    content: str


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent.

    Attributes:
        max_tokens: The model's token ceiling: an answer that reaches it counts as none.
        temperature: 0: the same turns should give the same facts.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float = 0.0
    stream: bool = False


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: Annotated[tuple[_Choice, ...], Meta(max_length=128)] = ()


def failure_of_status(status: int) -> SourceFailure | None:
    """What a status means; None where the body is to be read."""
    if status == HTTPStatus.OK:
        return None
    return SourceFailure(fault=_FAULTS.get(status, _fault_of_class(status)), detail=str(status))


def read_completion(body: bytes) -> RuntimeReply | SourceFailure:
    """The text of the first choice, or why there is none."""
    try:
        completion = msgspec.json.decode(body, type=_Completion)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return SourceFailure(fault=SourceFault.MALFORMED)
    if not completion.choices:
        return SourceFailure(fault=SourceFault.NO_CHOICES)
    choice = completion.choices[0]
    match choice.finish_reason:
        case "length":
            return SourceFailure(fault=SourceFault.TRUNCATED)
        case "content_filter":
            return SourceFailure(fault=SourceFault.REFUSED, detail="content_filter")
        case _:
            text = choice.message.content
    return RuntimeReply(text=text) if text else SourceFailure(fault=SourceFault.NO_CHOICES, detail="no text")


def _fault_of_class(status: int) -> SourceFault:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return SourceFault.SERVER_ERROR
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return SourceFault.REDIRECTED
    return SourceFault.REFUSED if status >= HTTPStatus.BAD_REQUEST else SourceFault.MALFORMED
