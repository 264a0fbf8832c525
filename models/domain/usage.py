"""How much of its caps a user's scope uses."""

from __future__ import annotations

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the caps a user's scope uses; see `policy.capacity`.

    Attributes:
        records: Live records.
        chars: Their characters.
        records_max: Cap; 0: none.
        chars_max: Cap; 0: none.
        evictions: Ids suggested for forgetting, best first; empty unless something was refused.
    """

    records: int
    chars: int
    records_max: int = 0
    chars_max: int = 0
    evictions: tuple[str, ...] = ()
