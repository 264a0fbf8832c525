"""When two texts say the same, strictly and loosely, and the keyed digests of both.

Two questions, two answers. May a new text be dropped because it is stored already? Only if nothing differs that could
be the update: a sign, a digit, an accent, the case of a password (`canonical`). Was a text forgotten on purpose? Then
also when it comes back in capitals (`fold`). So the store recognises what it holds by `duplicate_digest`, and what was
forgotten by `tombstone_digest`; digests are all that is left of a forgotten text.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.caps import is_blown_up
from recalld.models.policy.person import to_third_person

DIGEST_BYTES = 32
KEY_BYTES_MIN = 16
KEY_BYTES_MAX = hashlib.blake2b.MAX_KEY_SIZE

_LEADING = " \"'\u2018\u201c\u201e\u00ab"
_TRAILING = _LEADING + ".,;:!\u2026\u2019\u201d\u00bb\u3002\uff01\uff0c"
_SPACES = re.compile(r"\s+")
_DOUBLE_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'))
_FULL_STOPS = " .\u3002"
_LONE_WORDS = frozenset("IiAa")
_MEANINGFUL_COMPATIBILITY = ("<super>", "<sub>", "<fraction>")
"""Compatibility forms that say something else than their plain form: a squared metre is not m2 of something."""


def canonical(text: str) -> str:
    """The text without what never makes it another one.

    That is: white space around it and the amount of it inside, its Unicode normal form (NFC), the shape of quotation
    marks and apostrophes, a final full stop, and the capital letter a sentence starts with ("I like tea" and
    "i like tea"). Every other letter, sign and digit counts, and so does the case of a text of one word, which may be a
    password, of a first word with capitals inside, and of a lone letter, which may be a name in code. Idempotent and
    linear.
    """
    normal = straight_apostrophes(unicodedata.normalize("NFC", text)).translate(_DOUBLE_QUOTES)
    spaced = _SPACES.sub(" ", normal).strip().rstrip(_FULL_STOPS)
    first, space, rest = spaced.partition(" ")
    return f"{first.lower()} {rest}" if space and _is_sentence_start(first) else spaced


def fold(text: str) -> str:
    """Fold away what hardly changes the words: case, white space, compatibility forms, quotes and stops at the ends.

    Typographic quotes and apostrophes are made plain. Everything else inside stays, and so do question marks and
    symbols at the ends: "C" is not "C++", "15th" not "16th", "-5" not "5", and a question not its answer. Idempotent
    and linear.
    """
    folded = _normalise(_normalise(straight_apostrophes(text)).casefold()).translate(_DOUBLE_QUOTES)
    spaced = _SPACES.sub(" ", folded)
    return spaced.lstrip(_LEADING).rstrip(_TRAILING)


def duplicate_digest(text: str, key: bytes) -> bytes:
    """The 32-byte keyed BLAKE2b digest by which the store recognises a text that it holds.

    It is that of the `canonical` form, said of the user: "I like tea" and "The user likes tea" are one fact in two
    voices.

    Without the key, a digest can be tied to no guess of the text.

    Raises:
        ValueError: `key` is not 16 to 64 bytes.
    """
    return _digest(canonical(to_third_person(canonical(text))), key)


def tombstone_digest(text: str, key: bytes) -> bytes:
    """The digest by which the store recognises a text that was forgotten, in whatever case: of its `fold`.

    Raises:
        ValueError: As `duplicate_digest`.
    """
    return _digest(fold(text), key)


def _digest(form: str, key: bytes) -> bytes:
    if not KEY_BYTES_MIN <= len(key) <= KEY_BYTES_MAX:
        message = f"key must be {KEY_BYTES_MIN} to {KEY_BYTES_MAX} bytes, got {len(key)}"
        raise ValueError(message)
    return hashlib.blake2b(form.encode("utf-8", "surrogatepass"), key=key, digest_size=DIGEST_BYTES).digest()


def _is_sentence_start(word: str) -> bool:
    """Whether a first word may have its capital from its place alone."""
    if len(word) == 1:
        return word in _LONE_WORDS
    lowered = word[0].lower() + word[1:]
    return word.replace("'", "").isalpha() and lowered == word.lower() and len(lowered) == len(word)


def _normalise(text: str) -> str:
    """NFKC, except that superscripts, subscripts and fractions stay as they are; see `caps.compatible`."""
    if text.isascii() or is_blown_up(text):
        return text
    pieces: list[str] = []
    start = 0
    for position, character in enumerate(text):
        if unicodedata.decomposition(character).startswith(_MEANINGFUL_COMPATIBILITY):
            pieces += (unicodedata.normalize("NFKC", text[start:position]), character)
            start = position + 1
    pieces.append(unicodedata.normalize("NFKC", text[start:]))
    return "".join(pieces)
