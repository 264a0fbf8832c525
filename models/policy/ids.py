"""Sortable ids: a millisecond time stamp followed by random bits, both passed in."""

from __future__ import annotations

import re

CROCKFORD_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Base 32 without I, L, O and U, in ascending byte order, so that ids sort as their numbers do
(crockford.com/base32)."""
RANDOM_BITS = 80
"""Random bits in an id, as in the ULID specification: two ids of one millisecond collide once in 2**80."""
TIME_BITS = 48
"""Bits of the time stamp: milliseconds since 1970 fit until the year 10889."""
ID_CHARS = (TIME_BITS + RANDOM_BITS + 4) // 5

_PREFIX = re.compile(r"[a-z]{1,12}")


def encode_id(prefix: str, now_ms: int, random_bits: int) -> str:
    """Make an id such as `mem_01JD…` that sorts by time and, within a millisecond, by its random bits.

    Args:
        prefix: What the id names, one to twelve lower-case ASCII letters.
        now_ms: Unix epoch milliseconds, UTC.
        random_bits: A uniformly drawn integer below 2**80.

    Returns:
        The prefix, an underscore and 26 Crockford base 32 digits.

    Raises:
        ValueError: An argument is out of its range; the message names it.
    """
    if _PREFIX.fullmatch(prefix) is None:
        message = f"prefix must be 1 to 12 lower-case ASCII letters, got {prefix!r}"
        raise ValueError(message)
    if not 0 <= now_ms < 1 << TIME_BITS:
        message = f"now_ms must be in [0, 2**{TIME_BITS}), got {now_ms}"
        raise ValueError(message)
    if not 0 <= random_bits < 1 << RANDOM_BITS:
        message = f"random_bits must be in [0, 2**{RANDOM_BITS}), got {random_bits}"
        raise ValueError(message)
    number = now_ms << RANDOM_BITS | random_bits
    digits = [CROCKFORD_ALPHABET[number >> 5 * place & 31] for place in reversed(range(ID_CHARS))]
    return f"{prefix}_{''.join(digits)}"
