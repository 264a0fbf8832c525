"""The newest decisions of the in-memory store, as drift looks at them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from recalld.models.domain.drift import DecisionSample
from recalld.models.domain.reasons import Op
from recalld.models.domain.store import DecisionRow
from recalld.models.policy.drift.samples import sample_of

_WATCHED = (Op.RECALL, Op.OBSERVE)


def newest_samples(rows: Iterable[DecisionRow], user: str, *, limit: int) -> tuple[DecisionSample, ...]:
    """The newest recalls and observed turns of a user, newest first.

    Args:
        rows: Of all users, as they were written.
        user: Whose.
        limit: Rows of each kind, at most.
    """
    mine = [row for row in rows if row.user == user]
    mine.reverse()
    found = [row for op in _WATCHED for row in itertools.islice((row for row in mine if row.op is op), limit)]
    return tuple(map(_sample, found))


def newest_users(rows: Iterable[DecisionRow], *, since_ms: int, limit: int) -> tuple[str, ...]:
    """Users with rows since a time, those with the newest first.

    Args:
        rows: Of all users.
        since_ms: Unix epoch milliseconds.
        limit: How many, at most.
    """
    last: dict[str, int] = {}
    for row in rows:
        if row.at_ms >= since_ms:
            last[row.user] = max(row.at_ms, last.get(row.user, row.at_ms))
    return tuple(sorted(last, key=lambda user: (-last[user], user))[:limit])


def _sample(row: DecisionRow) -> DecisionSample:
    return sample_of(op=row.op, at_ms=row.at_ms, decision=row.decision, reason=row.reason, mode=row.mode, body=row.body)
