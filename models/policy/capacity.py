"""How much a user may keep in a scope, and what to let go when that is used up.

Guards: that memory grows without bound, and that it is cut without anybody being told.
Cost: additions; a sort of the scope's records where something is refused. Fails: towards refusing visibly: nothing is
ever evicted by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from recalld.models.domain.usage import Usage

WARN_SHARE: Final = 0.9
"""From this share of a cap on, answers carry the usage."""
SEPARATOR_CHARS: Final = 1
"""Between two records, wherever they stand side by side: the line break counts as well."""
EVICTIONS_MAX: Final = 5
"""Records suggested for forgetting at once: what a person can look at before deciding."""
SOON_MS: Final = 7 * 86_400_000
"""What expires within this time is suggested first."""


class EvictionCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A live record that could be let go.

    Attributes:
        used: How often it was reported as used.
    """

    memory_id: str
    created_at_ms: int
    expires_at_ms: int | None
    used: int


def used_by(lengths: Iterable[int]) -> Usage:
    """The usage of records of these lengths in characters, separators included; without caps."""
    sizes = tuple(lengths)
    return Usage(records=len(sizes), chars=with_separators(sum(sizes), len(sizes)))


def with_separators(chars: int, records: int) -> int:
    """Characters of so many records with the separators between them."""
    return chars + SEPARATOR_CHARS * max(records - 1, 0)


def fits(before: Usage, after: Usage) -> bool:
    """Whether a batch may stand, judged on its final state: under each cap, or no further over it than before.

    So a cap that was lowered below what is used still allows removals, and supersessions that do not grow. The caps are
    those of `after`.
    """
    is_count_right = not after.records_max or after.records <= max(after.records_max, before.records)
    is_size_right = not after.chars_max or after.chars <= max(after.chars_max, before.chars)
    return is_count_right and is_size_right


def is_nearly_full(usage: Usage) -> bool:
    """Whether a warning is due."""
    shares = ((usage.records, usage.records_max), (usage.chars, usage.chars_max))
    return any(cap and used >= WARN_SHARE * cap for used, cap in shares)


def suggested(candidates: Sequence[EvictionCandidate], *, now_ms: int) -> tuple[str, ...]:
    """Ids of what to let go first: what expires soon anyway, then what was used least, then the oldest.

    Superseded records are history and use nothing of a cap, so that forgetting them makes no room.
    """

    def rank(each: EvictionCandidate) -> tuple[int, int, int, str]:
        expires_soon = each.expires_at_ms is not None and each.expires_at_ms <= now_ms + SOON_MS
        soonness = each.expires_at_ms if expires_soon and each.expires_at_ms is not None else 0
        return (0, soonness, 0, each.memory_id) if expires_soon else (1, each.used, each.created_at_ms, each.memory_id)

    return tuple(each.memory_id for each in sorted(candidates, key=rank)[:EVICTIONS_MAX])
