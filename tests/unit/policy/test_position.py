from __future__ import annotations

import msgspec
import pytest

from recalld.models.domain.position import Position
from recalld.models.policy.position import AUDIT_DAYS_MAX, Safeguards, missing_safeguards, why_not_open

DAY_MS = 86_400_000
NOW_MS = 1_800_000_000_000
ALL = Safeguards(is_visible=True, can_forget=True, audited_at_ms=NOW_MS - DAY_MS, detects_conflicts=True)
LACKING = [
    ({"is_visible": False}, "records cannot be read"),
    ({"can_forget": False}, "records cannot be forgotten"),
    ({"audited_at_ms": None}, "nobody has audited the records yet"),
    ({"audited_at_ms": NOW_MS - (AUDIT_DAYS_MAX + 1) * DAY_MS}, "the last audit was 8 days ago, more than 7"),
    ({"audited_at_ms": NOW_MS + 1}, "the last audit lies in the future"),
    ({"detects_conflicts": False}, "newer statements do not close older ones"),
]


@pytest.mark.parametrize("position", [Position.BALANCED, Position.OPEN])
@pytest.mark.parametrize(("change", "what"), LACKING)
def test_a_looser_position_needs_every_safeguard(position: Position, change: dict[str, object], what: str) -> None:
    have = msgspec.structs.replace(ALL, **change)
    assert [each.what for each in missing_safeguards(position, have, now_ms=NOW_MS)] == [what]
    assert all(each.remedy for each in missing_safeguards(position, have, now_ms=NOW_MS))


@pytest.mark.parametrize("position", Position)
def test_with_all_of_them_every_position_is_earned(position: Position) -> None:
    assert missing_safeguards(position, ALL, now_ms=NOW_MS) == ()
    edge = msgspec.structs.replace(ALL, audited_at_ms=NOW_MS - AUDIT_DAYS_MAX * DAY_MS)
    assert missing_safeguards(position, edge, now_ms=NOW_MS) == ()


def test_the_strict_position_needs_nothing() -> None:
    nothing = Safeguards(is_visible=False, can_forget=False, audited_at_ms=None, detects_conflicts=False)
    assert missing_safeguards(Position.STRICT, nothing, now_ms=NOW_MS) == ()


def test_the_refusal_names_everything_that_is_missing_with_its_remedy() -> None:
    nothing = Safeguards(is_visible=False, can_forget=False, audited_at_ms=None, detects_conflicts=False)
    message = why_not_open(missing_safeguards(Position.OPEN, nothing, now_ms=NOW_MS))
    assert message.startswith('admission.position: "open" is not earned: ')
    for each in missing_safeguards(Position.OPEN, nothing, now_ms=NOW_MS):
        assert f"{each.what} ({each.remedy})" in message
