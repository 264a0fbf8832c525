"""The question to a lent model: which headings and questions belong to one stored memory?

The memory is data inside the prompt. It stands in one JSON object on the last line, with every character escaped that
could end a line, a tag or the object in some reader's eyes: so no stored text can close its frame. No query is ever
part of it, and never a second memory.
"""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final

from recalld.models.domain.records import Memory
from recalld.models.domain.runtime_model import PromptPurpose, RuntimePrompt

PROMPT_VERSION: Final = "cues.v1"
"""Name of the wording, and of its file below `data/prompts`. A changed wording is a new file with a new name."""
REPLY_CHARS_MAX: Final = 16_000
"""Longest answer that is read, thinking text included: a usable object has a tenth of that."""
_BRACKETS: Final = frozenset("<>&\uff1c\uff1e\ufe64\ufe65")
"""Characters that tags are made of, or that are taken for those."""
_BREAKING: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Categories of characters that end lines, reorder text or are not seen."""


def cue_prompt(memory: Memory) -> RuntimePrompt:
    """The question about one memory."""
    record = framed({"kind": memory.kind.value, "text": memory.text})
    return RuntimePrompt(
        purpose=PromptPurpose.CUES,
        prompt_version=PROMPT_VERSION,
        prompt=f"{_instruction()}{record}",
        reply_chars_max=REPLY_CHARS_MAX,
    )


def framed(values: dict[str, str]) -> str:
    """Values as one JSON object on one line that nothing in them can end; reading it as JSON gives them back."""
    return "".join(map(_escaped, json.dumps(values, ensure_ascii=False)))


def _escaped(character: str) -> str:
    if character not in _BRACKETS and unicodedata.category(character) not in _BREAKING:
        return character
    return json.dumps(character)[1:-1] if not character.isascii() else f"\\u{ord(character):04x}"


@cache
def _instruction() -> str:
    text = files("recalld.models.policy").joinpath("data", "prompts", f"{PROMPT_VERSION}.txt")
    return text.read_text(encoding="utf-8")
