"""Ids for a copy of somebody's records: others than those of the original, and the same ones each time.

A database knows each memory id once, so what one user exported cannot be taken over for another user beside it. The ids
of the copy follow from the user's name and the old ids: what points at one another still does, in whatever order and in
however many parts it is taken over, and taking it over twice changes nothing.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final, assert_never

import msgspec

from recalld.models.policy.ids import CROCKFORD_ALPHABET, RANDOM_BITS
from recalld.protocol import portable_items as p

_TIME_CHARS: Final = 10
_RANDOM_CHARS: Final = RANDOM_BITS // 5
_ID: Final = re.compile(
    rf"([a-z]{{1,12}})_([{CROCKFORD_ALPHABET}]{{{_TIME_CHARS}}})[{CROCKFORD_ALPHABET}]{{{_RANDOM_CHARS}}}"
)
_OLDEST: Final = CROCKFORD_ALPHABET[0] * _TIME_CHARS


def copied(record: p.Portable, user: str) -> p.Portable:
    """A record with the ids of the user's copy, in what it points at as well.

    Args:
        record: As exported.
        user: Whose it becomes.
    """
    match record:
        case p.PortableMemory():
            return msgspec.structs.replace(
                record,
                memory_id=copied_id("mem", record.memory_id, user),
                superseded_by=copied_id("mem", record.superseded_by, user),
            )
        case p.PortableObservation():
            return msgspec.structs.replace(
                record,
                observation_id=copied_id("obs", record.observation_id, user),
                promoted_to=copied_id("mem", record.promoted_to, user),
            )
        case p.PortableProposal():
            return msgspec.structs.replace(
                record,
                proposal_id=copied_id("obs", record.proposal_id, user),
                memory_id=copied_id("mem", record.memory_id, user),
            )
        case _:
            assert_never(record)


def copied_id(prefix: str, record_id: str, user: str) -> str:
    """The id of the user's copy of a record; it sorts by time as the old one does. No id stays none.

    Args:
        prefix: What it names, where the old id does not say.
        record_id: The old id; empty: there is none.
        user: Whose the copy is.
    """
    if not record_id:
        return ""
    known = _ID.fullmatch(record_id)
    name, time = (prefix, _OLDEST) if known is None else (known[1], known[2])
    digest = hashlib.blake2b(f"{user}\x1f{record_id}".encode("utf-8", "surrogatepass"), digest_size=RANDOM_BITS // 8)
    number = int.from_bytes(digest.digest(), "big")
    digits = (CROCKFORD_ALPHABET[number >> 5 * place & 31] for place in reversed(range(_RANDOM_CHARS)))
    return f"{name}_{time}{''.join(digits)}"
