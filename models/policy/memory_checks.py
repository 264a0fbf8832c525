"""What a memory must satisfy before it is stored. One rule for every way in.

Text is stored as it was written, but for white space around it. NUL and lone surrogates are refused rather than
cleaned: the one ends strings in other programs, the other cannot be written as UTF-8, and silent repair would store
something the user did not say. Cues and asks that repeat an earlier one (after folding) are dropped. Whether an ask has
anything to do with its record is not judged here: an ask can only ever raise its own record for its own user.
"""

from __future__ import annotations

from typing import NoReturn

import msgspec

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import (
    ASK_CHARS_MAX,
    ASKS_MAX,
    CUE_CHARS_MAX,
    CUES_MAX,
    MEMORY_CHARS_MAX,
    SCOPE_CHARS_MAX,
    USER_BYTES_MAX,
    NewMemory,
)
from recalld.models.policy.duplicates import fold
from recalld.models.policy.visible import has_visible


def check_new_memory(memory: NewMemory, *, now_ms: int) -> NewMemory:
    """The memory as it is to be stored: trimmed, without repeated cues and asks.

    Raises:
        RecalldError: `BAD_REQUEST`, naming the field and the remedy.
    """
    check_user(memory.user)
    check_scope(memory.scope)
    if memory.expires_at_ms is not None and memory.expires_at_ms <= now_ms:
        _refuse("expires_at", "is not in the future; give a later time or leave it out")
    return msgspec.structs.replace(
        memory,
        text=_checked_text("text", memory.text, MEMORY_CHARS_MAX),
        cues=_checked_list("cues", memory.cues, CUES_MAX, CUE_CHARS_MAX),
        asks=_checked_list("asks", memory.asks, ASKS_MAX, ASK_CHARS_MAX),
    )


def check_user(user: str) -> None:
    """Check a user name: something to see, at most 256 bytes of UTF-8, no NUL. Names are compared by exact bytes.

    Raises:
        RecalldError: `BAD_REQUEST`.
    """
    _check_characters("user", user)
    if not has_visible(user):
        _refuse("user", "is blank; name the user whose memory this is")
    size_bytes = len(user.encode())
    if size_bytes > USER_BYTES_MAX:
        _refuse("user", f"is {size_bytes} bytes; use at most {USER_BYTES_MAX}")


def check_scope(scope: str) -> None:
    """Check a scope: empty (everywhere), or at most 256 characters that are not all white space.

    Raises:
        RecalldError: `BAD_REQUEST`.
    """
    _check_characters("scope", scope)
    if scope and not has_visible(scope):
        _refuse("scope", "is only white space; leave it empty for a memory that holds everywhere")
    if len(scope) > SCOPE_CHARS_MAX:
        _refuse("scope", f"is {len(scope)} characters; use at most {SCOPE_CHARS_MAX}")


def _checked_text(field: str, text: str, chars_max: int, *, if_blank: str = "say what is to be remembered") -> str:
    _check_characters(field, text)
    trimmed = text.strip()
    if not has_visible(trimmed):
        _refuse(field, f"is blank; {if_blank}")
    if len(trimmed) > chars_max:
        _refuse(field, f"is {len(trimmed)} characters; use at most {chars_max}, and split longer material")
    return trimmed


def _checked_list(field: str, texts: tuple[str, ...], count_max: int, chars_max: int) -> tuple[str, ...]:
    distinct: dict[str, str] = {}
    for place, text in enumerate(texts):
        checked = _checked_text(f"{field}[{place}]", text, chars_max, if_blank="leave it out")
        distinct.setdefault(fold(checked), checked)
    if len(distinct) > count_max:
        _refuse(field, f"has {len(distinct)} entries; use at most {count_max}")
    return tuple(distinct.values())


def _check_characters(field: str, text: str) -> None:
    if "\0" in text:
        _refuse(field, "contains a NUL character; remove it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"{field}: contains a lone surrogate at character {error.start}; send valid UTF-8"
        raise RecalldError(ErrorCode.BAD_REQUEST, message) from error


def _refuse(field: str, what: str) -> NoReturn:
    message = f"{field}: {what}"
    raise RecalldError(ErrorCode.BAD_REQUEST, message)
