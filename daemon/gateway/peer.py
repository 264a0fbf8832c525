"""Who is on the other end of a connection, and for which users they may act."""

from __future__ import annotations

import socket
import struct

import msgspec

_UCRED = struct.Struct("3i")
"""`struct ucred` of unix(7): pid, uid, gid."""

ROOT_UID = 0

RESERVED_PREFIX = "__doctor__:"
"""Users that start with this belong to the daemon's own checks, which remove what they find under such a name."""


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """The process that connected, as the kernel recorded it at `connect`."""

    pid: int
    uid: int
    gid: int


def peer_of(connection: socket.socket) -> Peer:
    """Read the peer's credentials (`SO_PEERCRED`).

    Raises:
        OSError: The kernel does not say; then the peer must not be served.
    """
    pid, uid, gid = _UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    return Peer(pid=pid, uid=uid, gid=gid)


class AccessPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Which uids may connect and act for which users. Users are compared by exact characters.

    The daemon's own uid and root may act for every user: both can read the database anyway.

    Attributes:
        own_uid: The daemon's uid.
        is_system: Whether other uids are served at all. The group that may reach the socket is the directory's matter.
        granted_users: For a uid, users it may act for, beside all under its own `uid:<n>/`; whole names, no patterns.
            A reserved name is not granted by it.
    """

    own_uid: int
    is_system: bool = False
    granted_users: dict[int, frozenset[str]] = {}

    def may_connect(self, uid: int) -> bool:
        """Whether this uid is served."""
        return self.is_system or self.may_act_for_all(uid)

    @property
    def trusted_uids(self) -> frozenset[int]:
        """Uids that may act for every user."""
        return frozenset({self.own_uid, ROOT_UID})

    def may_act_for_all(self, uid: int) -> bool:
        """Whether this uid may act for every user, and see events of all."""
        return uid in self.trusted_uids

    def may_act_for(self, uid: int, user: str) -> bool:
        """Whether this uid may act for this user."""
        if self.may_act_for_all(uid):
            return True
        if not self.is_system:
            return False
        if user.startswith(RESERVED_PREFIX):
            return False  # whatever was granted
        prefix = own_prefix(uid)
        is_own = user.startswith(prefix) and len(user) > len(prefix)
        return is_own or user in self.granted_users.get(uid, frozenset())

    def user_prefix(self, uid: int) -> str:
        """What the peer is told its users start with; empty: all users."""
        return "" if self.may_act_for_all(uid) else own_prefix(uid)


def own_prefix(uid: int) -> str:
    """The prefix of the users that belong to a uid."""
    return f"uid:{uid}/"
