"""Where the model gate's answers come from: a runtime that lends its model, or a configured endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from recalld.actors.ports import RuntimeModel
from recalld.models.domain.extraction import SourceFailure, SourceFault
from recalld.models.domain.runtime_model import RuntimeFailure, RuntimeFailureKind, RuntimePrompt, RuntimeReply

_FAULTS: Mapping[RuntimeFailureKind, SourceFault] = MappingProxyType(
    {
        RuntimeFailureKind.NOT_CONNECTED: SourceFault.NOT_CONNECTED,
        RuntimeFailureKind.BUSY: SourceFault.BUSY,
        RuntimeFailureKind.TIMEOUT: SourceFault.TIMEOUT,
        RuntimeFailureKind.DISCONNECTED: SourceFault.DISCONNECTED,
        RuntimeFailureKind.REFUSED: SourceFault.REFUSED,
        RuntimeFailureKind.TOO_LONG: SourceFault.TOO_LONG,
    }
)


class ExtractionSource(Protocol):
    """A language model that can be asked."""

    def is_available(self, user: str) -> bool:
        """Whether anybody could be asked for this user now; never blocks."""
        ...

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> RuntimeReply | SourceFailure:
        """The answer, or why there is none, by the deadline (seconds on the monotonic clock)."""
        ...


class LentSource:
    """Implements `ExtractionSource` with models that connected runtimes lend."""

    def __init__(self, model: RuntimeModel) -> None:
        self._model = model

    def is_available(self, user: str) -> bool:
        """Whether a runtime that lends its model is connected for this user."""
        return self._model.is_connected(user)

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> RuntimeReply | SourceFailure:
        """Ask the runtime. An answer cut at its token ceiling is none."""
        match await self._model.ask(user, prompt, deadline_s=deadline_s):
            case RuntimeFailure(kind=kind):
                return SourceFailure(fault=_FAULTS[kind])
            case RuntimeReply(was_truncated=True):
                return SourceFailure(fault=SourceFault.TRUNCATED)
            case RuntimeReply() as reply:
                return reply
