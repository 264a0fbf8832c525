"""What a language model of a connected runtime is asked, and what came of it."""

from __future__ import annotations

import enum

import msgspec


class PromptPurpose(enum.StrEnum):
    """What the answer is for; the runtime may choose its model by it."""

    TURN_GATE = "turn_gate"
    """Does this turn need a memory at all?"""
    CUES = "cues"
    """Headings and questions for one stored memory."""
    EXTRACT = "extract"
    """Memories worth keeping from some turns."""


class RuntimePrompt(msgspec.Struct, frozen=True, kw_only=True):
    """One question to the model.

    Attributes:
        purpose: What the answer is for.
        prompt_version: Name and version of the prompt's wording, for the ledger.
        prompt: The instruction.
        turns: The material, oldest first: never part of the instruction.
        reply_chars_max: An answer longer than this is refused.
    """

    purpose: PromptPurpose
    prompt_version: str
    prompt: str
    turns: tuple[str, ...] = ()
    reply_chars_max: int = 16_000


class RuntimeReply(msgspec.Struct, frozen=True, kw_only=True):
    """The model's answer, unread.

    Attributes:
        text: As the model wrote it.
        was_truncated: Whether it was cut at a token ceiling; the text is then no answer.
        elapsed_ms: From asking to the answer.
    """

    text: str
    was_truncated: bool = False
    elapsed_ms: float = 0.0


class RuntimeFailureKind(enum.StrEnum):
    """Why there is no answer."""

    NOT_CONNECTED = "not_connected"
    """No runtime with the feature `extractor` is connected for this user."""
    BUSY = "busy"
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    REFUSED = "refused"
    """The runtime answered that it will not."""
    TOO_LONG = "too_long"
    """The prompt fits no frame, or the answer has more characters than it may."""


class RuntimeFailure(msgspec.Struct, frozen=True, kw_only=True):
    """No answer, and why."""

    kind: RuntimeFailureKind
    elapsed_ms: float = 0.0
