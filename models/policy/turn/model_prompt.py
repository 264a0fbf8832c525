"""The question to a runtime's own model: does this turn need a memory?

The wording is data, with a version in its file name; a changed wording is a new file. The turn is material beside the
prompt and never part of it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from recalld.models.domain.runtime_model import PromptPurpose, RuntimePrompt
from recalld.models.policy.caps import capped
from recalld.models.policy.turn.references import RECENT_TURNS_MAX
from recalld.models.policy.turn.turn_input import NOT_SUPPLIED, NotSupplied

PROMPT_VERSION = "turn_gate.v1"
MESSAGE_CHARS_MAX = 4_000
"""Head and tail of a longer message are enough to see what it is about."""
TURN_CHARS_MAX = 4_000
"""So are those of each turn before."""
REPLY_CHARS_MAX = 8_000
"""An answer is one line; the rest is room for a model that thinks aloud."""


def turn_gate_prompt(message: str, recent: tuple[str, ...] | NotSupplied) -> RuntimePrompt:
    """Ask about one message.

    Args:
        message: The user's own words.
        recent: Texts of the turns before, oldest first; the last `RECENT_TURNS_MAX` are shown.
    """
    before = () if recent is NOT_SUPPLIED else recent[-RECENT_TURNS_MAX:]
    return RuntimePrompt(
        purpose=PromptPurpose.TURN_GATE,
        prompt_version=PROMPT_VERSION,
        prompt=_wording(),
        turns=(*(capped(turn, TURN_CHARS_MAX) for turn in before), capped(message, MESSAGE_CHARS_MAX)),
        reply_chars_max=REPLY_CHARS_MAX,
    )


@cache
def _wording() -> str:
    data = files("recalld.models.policy").joinpath("data", "prompts", f"{PROMPT_VERSION}.txt")
    return data.read_text(encoding="utf-8").strip()
