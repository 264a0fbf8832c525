"""Whether what the assistant said put one proposal to the user, and asked nothing else.

Guards: that a "yes" meant for another question makes a memory. Cost: one pass over what was said. Fails: towards no
answer; then the proposal goes on waiting.

The proposal's words have to stand there as they are, right before or right behind the only question mark: "Shall I
remember that the user works at Initech?", or "Shall I remember this? The user works at Initech.". In "Noted: the user
works at Initech. Shall I delete the file?" they are not what is asked. A question without its mark cannot be seen.
"""

from __future__ import annotations

import re
from typing import Final

from recalld.models.policy.duplicates import fold

SAID_CHARS_MAX: Final = 4_000
"""Of longer answers nobody says that they ask for one thing alone."""
_MARKS: Final = re.compile(r"[?\uff1f\u061f\u037e]+")
_WORD: Final = re.compile(r"\w")


def puts_question(said: str, proposal: str) -> bool:
    """Whether the only thing that was asked is whether to keep the proposal.

    Args:
        said: Everything that the assistant said since the proposal was made; see `SAID_CHARS_MAX`.
        proposal: Its text.
    """
    if len(said) > SAID_CHARS_MAX:
        return False
    text, wanted = fold(said), fold(proposal)
    at = text.find(wanted) if wanted else -1
    if at < 0:
        return False
    before, behind = text[:at], text[at + len(wanted) :]
    gaps = [before[mark.end() :] for mark in _MARKS.finditer(before)]
    gaps += [behind[: mark.start()] for mark in _MARKS.finditer(behind)]
    return len(gaps) == 1 and _WORD.search(gaps[0]) is None
