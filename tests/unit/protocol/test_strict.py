"""Keys that no field has are named in requests written by people, and only those."""

from __future__ import annotations

import json
import typing

import msgspec
import pytest
from wire_examples import REQUESTS

from recalld.protocol.codec import decode_request
from recalld.protocol.requests import Decide
from recalld.protocol.strict import unknown_key

Tree = dict[str, typing.Any]


@pytest.mark.parametrize("tag", REQUESTS)
def test_what_the_wire_carries_has_no_unknown_key(tag: str) -> None:
    assert unknown_key(msgspec.json.encode(REQUESTS[tag]), type(REQUESTS[tag])) is None


@pytest.mark.parametrize("tag", REQUESTS)
def test_a_key_too_many_is_named_in_every_message_and_passed_over_on_the_wire(tag: str) -> None:
    message: Tree = {**msgspec.to_builtins(REQUESTS[tag]), "bogus": {"x": 1}}
    expected = "bogus: there is no such field; correct its name, or leave it out"
    assert unknown_key(json.dumps(message), type(REQUESTS[tag])) == expected
    assert decode_request(msgspec.msgpack.encode(message)) == REQUESTS[tag]


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ({"scope": {"projct": 1}}, "scope.projct"),
        ({"sweep": {"sesions": []}}, "sweep.sesions"),
        ({"model": {"txt": "x"}}, "model.txt"),
        ({"turns": [{}, {"txt": "x"}]}, "turns[1].txt"),
    ],
)
def test_a_key_too_many_is_named_with_its_path(content: Tree, path: str) -> None:
    assert (unknown_key(json.dumps(content), Decide) or "").startswith(f"{path}: there is no such field")


@pytest.mark.parametrize("content", ["{", "[]", "5", "", '{"op": 5, "model": null, "turns": null}'])
def test_nothing_but_keys_is_looked_at(content: str) -> None:
    assert unknown_key(content, Decide) is None
