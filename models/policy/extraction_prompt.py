"""The question to a language model: which facts in these turns are worth keeping?

The wording is data, with a version in its file name; a changed wording is a new file. Turns are material beside the
prompt and never part of it: each is one JSON object on one line that nothing in it can end.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from recalld.models.domain.extraction import PendingTurn
from recalld.models.domain.runtime_model import PromptPurpose, RuntimePrompt
from recalld.models.policy.caps import capped
from recalld.models.policy.cue_prompt import framed

PROMPT_VERSION: Final = "extraction.v1"
"""Name of the wording, and of its file below `data/prompts`."""
TURN_CHARS_MAX: Final = 8_000
"""Characters of one turn that a model is shown: head and tail of a longer one. What is left out cannot be quoted."""
REPLY_CHARS_MAX: Final = 32_000
"""Longest answer that is read, thinking text included."""


def extraction_prompt(turns: Sequence[PendingTurn]) -> RuntimePrompt:
    """Ask about some turns, oldest first; they are called t1, t2 and so on, in the order given."""
    return RuntimePrompt(
        purpose=PromptPurpose.EXTRACT,
        prompt_version=PROMPT_VERSION,
        prompt=_wording(),
        turns=tuple(_material(name, turn) for name, turn in turn_names(turns).items()),
        reply_chars_max=REPLY_CHARS_MAX,
    )


def turn_names(turns: Sequence[PendingTurn]) -> dict[str, PendingTurn]:
    """What each turn is called in the prompt."""
    return {f"t{place}": turn for place, turn in enumerate(turns, start=1)}


def _material(name: str, turn: PendingTurn) -> str:
    said_at = datetime.fromtimestamp(turn.at_ms / 1000, tz=zone_of(turn)).isoformat(timespec="minutes")
    return framed({"turn": name, "said_at": said_at, "text": capped(turn.text, TURN_CHARS_MAX)})


def zone_of(turn: PendingTurn) -> ZoneInfo:
    """The user's zone; UTC where it was not said, or is none that this machine knows any more."""
    try:
        return ZoneInfo(turn.time_zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


@cache
def _wording() -> str:
    data = files("recalld.models.policy").joinpath("data", "prompts", f"{PROMPT_VERSION}.txt")
    return data.read_text(encoding="utf-8").strip()
