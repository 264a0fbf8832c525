from __future__ import annotations

import pytest

from recalld.models.domain.reserved import is_reserved_user, reserved_user


@pytest.mark.parametrize("prefix", ["", "uid:1000/"])
def test_a_check_recognises_the_user_it_made(prefix: str) -> None:
    assert is_reserved_user(reserved_user(prefix, 4711))


@pytest.mark.parametrize("user", ["", "ines", "__doctor__", "doctor:1", "my__doctor__:1", "__doctor__:1/ines"])
def test_nobody_else_is_taken_for_one(user: str) -> None:
    assert not is_reserved_user(user)
