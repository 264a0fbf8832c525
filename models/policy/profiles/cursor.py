"""Cursors of sweeps: where the next part starts, in a form that only this daemon can make and nobody can change.

A cursor holds the arguments its sweep was started with, so that it can be resumed by itself; whoever repeats some of
them must repeat them as they were. It is authenticated with a keyed BLAKE2b over its content and over whom it was given
to.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

import msgspec

MAC_BYTES = 16
DIGEST_BYTES = 8
CURSOR_CHARS_MAX = 8_192
"""Longest cursor that is looked at; the longest one made, for the longest list of sessions, is far shorter."""


class SweepKey(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Place of a target: its group, when it was made, and its name, so that no two share one."""

    group: str
    at_ms: int
    id: str


class SweepState(msgspec.Struct, frozen=True, array_like=True):
    """What a cursor holds.

    Attributes:
        after: The last place that was covered; None: none yet.
        until: The last place that there was at the start: what came later belongs to the next sweep.
        since_ms: Nothing older.
        target: The single target; empty: none was given.
        project: Digest of the project that the sweep was started in, given or filled in; empty: none.
        sessions: Digests of the listed sessions, one after another; empty: no list was given.
        targets_max: Targets at a time, as the sweep was started with; None: as the profile says.
    """

    after: SweepKey | None
    until: SweepKey
    since_ms: int | None
    target: str
    project: bytes
    sessions: bytes
    targets_max: int | None = None


class Holder(msgspec.Struct, frozen=True, array_like=True):
    """Whom and what a cursor is for."""

    user: str
    profile: str
    agent: str
    namespace: str


def short_digest(name: str) -> bytes:
    """Eight bytes that stand for a name inside a cursor."""
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


def list_digest(names: tuple[str, ...]) -> bytes:
    """The digests of several names, one after another; the order does not matter."""
    return b"".join(sorted({short_digest(name) for name in names}))


def encode_cursor(state: SweepState, holder: Holder, *, key: bytes) -> str:
    """The cursor as text, letters, digits, `-` and `_` only.

    Args:
        state: What it holds.
        holder: Whom it is for.
        key: 16 to 64 bytes.
    """
    payload = msgspec.msgpack.encode(state)
    return _as_text(payload + _mac(payload, holder, key))


def decode_cursor(cursor: str, holder: Holder, *, key: bytes) -> SweepState | None:
    """What a cursor holds; None unless it was made with this key, for this holder, and not changed since.

    Base64 can be written in several ways; only the one of `encode_cursor` is taken.
    """
    if len(cursor) > CURSOR_CHARS_MAX:
        return None
    try:
        content = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    if _as_text(content) != cursor:
        return None
    payload, mac = content[:-MAC_BYTES], content[-MAC_BYTES:]
    if not hmac.compare_digest(mac, _mac(payload, holder, key)):
        return None
    try:
        return msgspec.msgpack.decode(payload, type=SweepState)
    except msgspec.DecodeError:
        return None


def _as_text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")


def _mac(payload: bytes, holder: Holder, key: bytes) -> bytes:
    bound = msgspec.msgpack.encode((payload, msgspec.to_builtins(holder)))
    return hashlib.blake2b(bound, key=key, digest_size=MAC_BYTES).digest()
