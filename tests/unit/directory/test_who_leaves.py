from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recalld.actors.directory import ResidencyLimits, Resident, who_leaves

NOW_S = 1_000.0


@st.composite
def residents(draw: st.DrawFn) -> list[Resident]:
    return [
        Resident(
            key=str(number),
            used_s=draw(st.floats(0, NOW_S)),
            is_busy=draw(st.booleans()),
            index_bytes=draw(st.integers(0, 100)),
        )
        for number in range(draw(st.integers(0, 12)))
    ]


limits_ = st.builds(
    ResidencyLimits, residents_max=st.integers(1, 10), index_bytes_max=st.integers(0, 500), idle_s=st.floats(1, 2_000)
)


@given(residents(), limits_)
def test_the_bounds_hold_afterwards_but_for_the_busy_and_the_newest(
    everybody: list[Resident], limits: ResidencyLimits
) -> None:
    leaving = who_leaves(everybody, limits, now_s=NOW_S)
    staying = [resident for resident in everybody if resident.key not in leaving]
    by_key = {resident.key: resident for resident in everybody}
    assert len(set(leaving)) == len(leaving)
    assert not any(by_key[key].is_busy for key in leaving)
    oldest_first = sorted(everybody, key=lambda resident: resident.used_s)
    newest = oldest_first[-1] if oldest_first else None  # the last of equally new ones
    free = [resident for resident in staying if not resident.is_busy and resident is not newest]
    if free:
        assert len(staying) <= limits.residents_max
        assert sum(resident.index_bytes for resident in staying) <= limits.index_bytes_max
    assert not [each for each in staying if not each.is_busy and NOW_S - each.used_s >= limits.idle_s]


@given(residents(), limits_)
def test_who_leaves_has_been_used_longer_ago_than_who_stays_unless_idle(
    everybody: list[Resident], limits: ResidencyLimits
) -> None:
    leaving = who_leaves(everybody, limits, now_s=NOW_S)
    used_s = {resident.key: resident.used_s for resident in everybody}
    assert [used_s[key] for key in leaving] == sorted(used_s[key] for key in leaving)
    staying_free = [each.used_s for each in everybody if each.key not in leaving and not each.is_busy]
    if leaving and staying_free:
        assert max(used_s[key] for key in leaving) <= min(staying_free)


@given(residents())
def test_within_the_bounds_nobody_leaves(everybody: list[Resident]) -> None:
    limits = ResidencyLimits(residents_max=100, index_bytes_max=10_000, idle_s=NOW_S + 1)
    assert who_leaves(everybody, limits, now_s=NOW_S) == ()


def test_a_large_user_alone_is_served_even_beyond_the_bytes() -> None:
    large = Resident(key="large", used_s=NOW_S, is_busy=False, index_bytes=10**9)
    limits = ResidencyLimits(residents_max=1, index_bytes_max=1, idle_s=60)
    assert who_leaves([large], limits, now_s=NOW_S) == ()
