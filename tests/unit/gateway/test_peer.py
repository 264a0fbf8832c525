from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from recalld.daemon.config.settings import ServerSettings
from recalld.daemon.gateway.counters import GatewayCount, GatewayCounters
from recalld.daemon.gateway.limits import GatewayLimits
from recalld.daemon.gateway.peer import RESERVED_PREFIX, AccessPolicy, peer_of
from recalld.daemon.gateway.quota import Quota
from recalld.models.domain.reserved import RESERVED_NAME

USER = AccessPolicy(own_uid=1000)
SYSTEM = AccessPolicy(own_uid=990, is_system=True, granted_users={1001: frozenset({"team/x", "uid:1000/shared/x"})})


def test_the_kernel_says_who_is_at_the_other_end() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        peer = peer_of(one)
    assert (peer.pid, peer.uid, peer.gid) == (os.getpid(), os.geteuid(), os.getegid())


def test_in_user_mode_only_the_own_uid_and_root_are_served_and_they_for_all_users() -> None:
    assert [uid for uid in (0, 1000, 1001) if USER.may_connect(uid)] == [0, 1000]
    assert USER.may_act_for(1000, "anybody")
    assert USER.may_act_for(0, "anybody")
    assert not USER.may_act_for(1001, "uid:1001/u")
    assert USER.user_prefix(1000) == ""


@pytest.mark.parametrize(
    ("user", "may"),
    [
        ("uid:1000/u", True),
        ("uid:1000/", False),
        ("uid:1000", False),
        ("uid:10000/u", False),
        ("uid:100/u", False),
        ("UID:1000/u", False),
        (" uid:1000/u", False),
        ("uid:1001/u", False),
        ("u", False),
    ],
)
def test_in_system_mode_a_uid_acts_only_under_its_own_prefix(user: str, *, may: bool) -> None:
    assert SYSTEM.may_connect(1000)
    assert SYSTEM.may_act_for(1000, user) is may
    assert not SYSTEM.may_act_for_all(1000)
    assert SYSTEM.user_prefix(1000) == "uid:1000/"


def test_in_system_mode_configuration_grants_more_prefixes_to_one_uid_alone() -> None:
    for user in ("team/x", "uid:1000/shared/x", "uid:1001/own"):
        assert SYSTEM.may_act_for(1001, user)
    assert not SYSTEM.may_act_for(1002, "team/x")
    assert not SYSTEM.may_act_for(1001, "team/xy")
    assert not SYSTEM.may_act_for(1001, "uid:1000/private")


def test_reserved_users_belong_to_the_own_uid_and_root_whatever_was_granted() -> None:
    assert f"{RESERVED_NAME}:" == RESERVED_PREFIX
    policy = AccessPolicy(own_uid=990, is_system=True, granted_users={1001: frozenset({"__doctor__:1", "__doctor__"})})
    assert [uid for uid in (0, 990, 1001, 1002) if policy.may_act_for(uid, "__doctor__:1")] == [0, 990]
    assert policy.may_act_for(1001, "__doctor__")
    assert policy.may_act_for(1001, "uid:1001/__doctor__:1")  # the doctor of an account checks below its own prefix


def test_a_quota_bounds_each_uid_and_all_together() -> None:
    quota = Quota(per_uid_max=2, total_max=3)
    assert [quota.try_take(uid) for uid in (1, 1, 1, 2, 2)] == [True, True, False, True, False]
    quota.give_back(1)
    assert quota.try_take(2)
    assert quota.total == 3


def test_one_account_never_takes_what_all_others_or_the_administrators_need() -> None:
    quota = Quota(per_uid_max=4, total_max=10, kept=2, trusted=frozenset({0, 990}))
    assert sum(quota.try_take(1001) for _ in range(100)) == 4
    assert sum(quota.try_take(1002) for _ in range(100)) == 4
    assert not quota.try_take(1003)  # what is left is kept
    assert quota.try_take(0)
    assert quota.try_take(990)
    assert not quota.try_take(0)


def test_who_is_trusted_may_hold_all_there_is() -> None:
    quota = Quota(per_uid_max=4, total_max=10, kept=2, trusted=frozenset({990}))
    assert sum(quota.try_take(990) for _ in range(100)) == 10


def test_by_default_one_account_leaves_room_for_others_and_for_the_daemons_own() -> None:
    limits = GatewayLimits()
    assert 2 * limits.connections_per_uid_max <= limits.connections_max - limits.connections_kept
    server = ServerSettings(socket_path=Path("/run/s"))
    assert 2 * server.connections_per_uid_max <= server.connections_max - server.connections_kept
    assert server.connections_kept > 0


def test_a_quota_gives_back_when_its_holder_fails_and_forgets_uids_that_hold_nothing() -> None:
    quota = Quota(per_uid_max=1)
    quota.try_take(7)
    with pytest.raises(ZeroDivisionError), quota.holding(7):
        raise ZeroDivisionError
    assert quota.total == 0
    assert 7 not in quota._held
    assert quota.try_take(7)


def test_a_snapshot_has_every_counter_zeros_included() -> None:
    counters = GatewayCounters()
    counters.add(GatewayCount.REQUESTS, by=2)
    assert counters[GatewayCount.REQUESTS] == 2
    assert counters.snapshot() == {name.value: 2 if name is GatewayCount.REQUESTS else 0 for name in GatewayCount}
