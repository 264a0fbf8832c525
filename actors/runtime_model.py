"""The model that is not there: what the actors work with when no runtime lends one."""

from __future__ import annotations

from recalld.models.domain.runtime_model import RuntimeFailure, RuntimeFailureKind, RuntimePrompt


class NoRuntimeModel:
    """Implements `RuntimeModel` for a daemon without a runtime that lends its model, and for tests."""

    def is_connected(self, user: str) -> bool:  # noqa: ARG002 - the protocol's
        """Never."""
        return False

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> RuntimeFailure:  # noqa: ARG002 - the protocol's
        """There is nobody to ask."""
        return RuntimeFailure(kind=RuntimeFailureKind.NOT_CONNECTED)
