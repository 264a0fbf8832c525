"""Closed fields of requests: whoever sends something else is told what there is."""

from __future__ import annotations

import re
import typing
from collections import defaultdict

import msgspec
import pytest
from wire_examples import REQUESTS

from recalld.protocol.closed_values import closed_fields
from recalld.protocol.codec import decode_request
from recalld.protocol.errors import WireError
from recalld.protocol.messages import Request

Tree = dict[str, typing.Any]
CASES = [
    (message.__struct_config__.tag, path, values)
    for message in typing.get_args(Request)
    for path, values in closed_fields(message)
]


def put(tree: Tree, path: str, value: str) -> None:
    """Set a field of a message by its path; what is not there yet is made, with the required `id` of an entry."""
    name, _, rest = path.partition(".")
    is_list = name.endswith("[0]")
    name = name.removesuffix("[0]")
    if not rest:
        tree[name] = [value] if is_list else value
        return
    if is_list:
        entry: Tree = {"id": "a", "role": "user", "speaker": "user", "text": "t"}
        field = rest.partition(".")[0].partition("[")[0]
        # Where the example has an entry with this field, it is of the kind that has it.
        tree[name] = [next((each for each in tree.get(name, ()) if field in each), entry)]
    put(tree[name][0] if is_list else tree.setdefault(name, {}), rest, value)


@pytest.mark.parametrize(("tag", "path", "values"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_value_that_there_is_not_is_answered_with_those_that_there_are(
    tag: str, path: str, values: tuple[str, ...]
) -> None:
    message: Tree = msgspec.to_builtins(REQUESTS[tag])
    put(message, path, "no-such-value")
    with pytest.raises(WireError) as raised:
        decode_request(msgspec.msgpack.encode(message))
    expected = f"{path}: 'no-such-value' is not one of its values; give one of {', '.join(values)}"
    assert re.sub(r"\[\.\.\.\]", "[0]", raised.value.message) == expected


def test_the_fields_that_a_new_user_got_wrong_are_among_them() -> None:
    paths = {(tag, path) for tag, path, _ in CASES}
    assert {("outcome", "result"), ("set_standing", "action"), ("decide", "explicit[0]")} <= paths


def test_fields_of_one_name_take_the_same_values_everywhere() -> None:
    by_name: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for _, path, values in CASES:
        by_name[path.rpartition(".")[2].partition("[")[0]].add(values)
    assert {name for name, values in by_name.items() if len(values) > 1} == set()
