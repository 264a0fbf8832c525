"""The profiles that are shipped, by name, and which of them an operation goes by when the caller names none."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import msgspec

from recalld.models.domain.decide import DecideOp
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.policy.profiles.spec import Profile, read_profile

DEFAULT_PREFIX = "default_"
"""The profile `default_<op>` is the operation's own."""
_DIGEST_BYTES = 4


@cache
def shipped_profiles() -> Mapping[str, Profile]:
    """Every shipped profile by name, in alphabetical order.

    Raises:
        ProfileError: A file is not as it must be.
    """
    folder = files("recalld.models.policy").joinpath("data", "profiles")
    found = sorted((item for item in folder.iterdir() if item.name.endswith(".json")), key=lambda item: item.name)
    read = (read_profile(item.read_bytes(), file_name=item.name) for item in found)
    return MappingProxyType({profile.name: profile for profile in read})


def profile_for(op: DecideOp, name: str, *, table: Mapping[str, Profile] | None = None) -> Profile:
    """The profile that decides.

    Args:
        op: The operation asked about.
        name: The profile asked for; empty: the operation's own.
        table: The profiles there are; None: those that are shipped.

    Raises:
        RecalldError: `bad_request`: there is no such profile, or it guards another operation.
    """
    known = shipped_profiles() if table is None else table
    wanted = name or f"{DEFAULT_PREFIX}{op.value}"
    profile = known.get(wanted)
    if profile is not None and profile.op is op:
        return profile
    fitting = ", ".join(each.name for each in known.values() if each.op is op)
    if profile is None:
        message = f"profile: there is none called {wanted!r}; for {op.value} give one of {fitting}"
    else:
        message = f"profile: {wanted} guards {profile.op.value}, not {op.value}; give one of {fitting}"
    raise RecalldError(ErrorCode.BAD_REQUEST, message)


def policy_version(profile: Profile) -> str:
    """Name, version and digest of a profile's settings, such as `waku_turn@1+0f3a9c2e`."""
    digest = hashlib.blake2b(msgspec.json.encode(profile), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{profile.name}@{profile.version}+{digest}"
