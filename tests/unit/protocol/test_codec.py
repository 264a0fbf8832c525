from __future__ import annotations

import itertools
import re
import time
import typing
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.models.domain import records
from recalld.models.domain.errors import RETRYABLE_CODES as DOMAIN_RETRYABLE_CODES
from recalld.models.domain.errors import ErrorCode as DomainErrorCode
from recalld.protocol import fields, replies, requests
from recalld.protocol.codec import decode_reply, decode_request, encode_message
from recalld.protocol.errors import RETRYABLE_CODES, ErrorCode, WireError
from recalld.protocol.messages import Request

HEADER = b"\xa4type\xa6recall\xa2id\x07\xa4user\xa1u\xa7session\xa1s"
"""The fields of a good recall, without the byte that says how many there are."""


def packed(**extra: Any) -> bytes:
    return msgspec.msgpack.encode({"type": "recall", "id": 7, "user": "u", "session": "s", **extra})


def refusal(body: bytes) -> WireError:
    with pytest.raises(WireError) as caught:
        decode_request(body)
    return caught.value


def outcome(decode: Callable[[bytes], object], body: bytes) -> ErrorCode | None:
    """The code of the refusal, or None when the body was read; any other exception fails the test."""
    try:
        decode(body)
    except WireError as error:
        return error.code
    return None


text = st.text(max_size=20)
recalls = st.builds(
    requests.Recall,
    id=st.integers(0, fields.REQUEST_ID_MAX),
    user=st.text(min_size=1, max_size=20),
    session=text,
    text=text,
    scope=st.none() | text,
    exclude=st.lists(st.text(min_size=1, max_size=9), max_size=3).map(tuple),
    budget_ms=st.none() | st.integers(1, fields.BUDGET_MS_MAX),
    mode=st.sampled_from(["auto", "search"]),
    now=st.none() | text | st.integers(0, fields.EPOCH_MS_MAX),
    explain=st.booleans(),
)
saves = st.builds(
    requests.Remember,
    id=st.integers(0, fields.REQUEST_ID_MAX),
    user=st.text(min_size=1, max_size=20),
    text=st.text(min_size=1, max_size=50),
    kind=st.sampled_from([kind.value for kind in records.MemoryKind]),
    cues=st.lists(text, max_size=3).map(tuple),
    expires_at=st.none() | text | st.integers(0, fields.EPOCH_MS_MAX),
)


@given(request=recalls | saves)
def test_a_request_comes_back_as_it_was_sent(request: Request) -> None:
    assert decode_request(encode_message(request)[4:]) == request


@given(body=st.binary(max_size=300))
@settings(max_examples=300)
def test_garbage_raises_nothing_but_the_typed_error(body: bytes) -> None:
    for decode in (decode_request, decode_reply):
        assert outcome(decode, body) in (None, ErrorCode.BAD_FRAME, ErrorCode.BAD_REQUEST)


json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=9)
    | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=8,
)


@given(extra=st.dictionaries(st.sampled_from(["id", "user", "text", "parts", "exclude", "now", "new"]), json_like))
def test_well_formed_maps_with_wrong_values_raise_nothing_but_the_typed_error(extra: dict[str, Any]) -> None:
    assert outcome(decode_request, packed(**extra)) in (None, ErrorCode.BAD_REQUEST)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"user": ""}, "user: is empty; give at least 1 character"),
        ({"user": "x" * 257}, "user: is longer than 256 characters; shorten it"),
        ({"text": 5}, "text: is an integer; give text"),
        ({"text": "x" * 65_537}, "text: is longer than 65536 characters; shorten it"),
        ({"exclude": ["a", 5]}, "exclude[1]: is an integer; give text"),
        ({"exclude": ["a"] * 1_001}, "exclude: has more than 1000 entries; send fewer"),
        ({"budget_ms": 0}, "budget_ms: is too small; give at least 1"),
        ({"budget_ms": 1.5}, "budget_ms: is a number; give an integer or null"),
        ({"max_items": 21}, "max_items: is too large; give at most 20"),
        ({"explain": None}, "explain: is null; give true or false"),
        ({"mode": "guess"}, "mode: 'guess' is not one of its values; give one of auto, search"),
        (
            {"parts": [{"role": "robot", "text": ""}]},
            "parts[0].role: 'robot' is not one of its values; give one of host, synthetic, user",
        ),
        ({"parts": [5]}, "parts[0]: is an integer; give a map"),
        (
            {"type": "remember", "text": "x", "cues": ["a", "b" * 121]},
            "cues[1]: is longer than 120 characters; shorten it",
        ),
        ({"type": "hello", "protocol": [1]}, "protocol: has not exactly 2 entries; send 2"),
    ],
)
def test_a_wrong_field_is_named_with_its_path_and_remedy_and_the_request_with_its_id(
    extra: dict[str, Any], message: str
) -> None:
    error = refusal(packed(**extra))
    assert (error.code, error.request_id, error.message) == (ErrorCode.BAD_REQUEST, 7, message)


def test_a_message_of_an_unknown_type_is_refused_by_its_type() -> None:
    error = refusal(packed(type="telepathy"))
    assert (error.code, error.request_id) == (ErrorCode.BAD_REQUEST, 7)
    assert error.message.startswith("type: 'telepathy' is no such message")


def test_no_refusal_of_a_wrong_value_is_in_the_words_of_the_decoder() -> None:
    wrong: tuple[object, ...] = (None, True, -1, 2**40, 1.5, "x" * 100_000, b"x", ["x", 5], [{}], {"x": 1})
    for cls in typing.get_args(Request):
        tag = str(cls.__struct_config__.tag)
        good: dict[str, object] = {"user": "u", "session": "s", "text": "x", "turn_id": "t", "speaker": "user"}
        good |= {"memory_id": "m", "decision_id": "d", "event": "ended", "batch_id": "b"}
        good |= {"op": "recall", "action": "pin", "result": "used"}
        good |= {"sample_id": "smp", "answer": "yes"}
        good |= {"observation_id": "o", "accept": True, "records": []}
        for name, value in itertools.product(cls.__struct_fields__, wrong):
            try:
                decode_request(msgspec.msgpack.encode({**good, "type": tag, name: value}))
            except WireError as error:
                assert re.match(rf"{name}[^:]*: ", error.message), error.message  # noqa: PT017 - most are refused
                assert not re.search(r"`|\$|Expected|Object|Invalid", error.message), error.message  # noqa: PT017


@pytest.mark.parametrize(
    ("fields_sent", "message"),
    [
        ({"type": "recall", "session": "s"}, "user: is missing; give it"),
        ({"type": "recall"}, "user and session: are missing; give them"),
        ({"type": "observe"}, "user, session, turn_id and speaker: are missing; give them"),
        ({"user": "u"}, "type: is missing; give it"),
        (
            {"type": "recall", "user": "u", "turns": [{"speaker": "x", "text": ""}, {"speaker": "x"}]},
            "session and turns[1].text: are missing; give them",
        ),
        (
            {"type": "recall", "user": "u", "session": "s", "parts": [{"role": "user"}]},
            "parts[0].text: is missing; give it",
        ),
    ],
)
def test_every_missing_field_is_named_nested_ones_too(fields_sent: dict[str, object], message: str) -> None:
    error = refusal(msgspec.msgpack.encode({"id": 7, **fields_sent}))
    assert (error.code, error.request_id, error.message) == (ErrorCode.BAD_REQUEST, 7, message)


def test_of_very_many_missing_fields_the_first_are_named_and_the_others_counted() -> None:
    message = refusal(packed(parts=[{}] * 64)).message
    assert message.startswith("parts[0].role, parts[0].text, parts[1].role, ")
    assert message.endswith(" and 118 more: are missing; give them")


@pytest.mark.parametrize("request_id", [-1, 2**32, 1.5, "7", None, [7]])
def test_an_id_that_cannot_be_read_is_refused_without_one(request_id: object) -> None:
    error = refusal(packed(id=request_id))
    assert (error.code, error.request_id) == (ErrorCode.BAD_REQUEST, None)
    assert error.message.startswith("id: ")


def test_a_message_quoted_in_an_error_is_cut_short() -> None:
    error = refusal(packed(mode="x" * 500_000))
    assert len(error.message) < 1_000
    assert error.message.startswith("mode: 'xxx")
    assert error.message.endswith("give one of auto, search")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"\xc1", ErrorCode.BAD_FRAME),
        (b"\x85" + HEADER, ErrorCode.BAD_FRAME),  # one field is missing
        (b"\x84" + HEADER + b"\x00", ErrorCode.BAD_FRAME),  # one byte too many
        (b"\x85" + HEADER + b"\xa4text\xa3\xed\xa0\x80", ErrorCode.BAD_FRAME),  # a surrogate, encoded
        (b"\x85" + HEADER + b"\xa4text\xdb\xff\xff\xff\xffab", ErrorCode.BAD_FRAME),
        (b"", ErrorCode.BAD_FRAME),
        (b"\x90", ErrorCode.BAD_FRAME),
        (b"\x93\x01\x02\x03", ErrorCode.BAD_FRAME),
        (b"\xdc\x00\x00", ErrorCode.BAD_FRAME),
        (b"\xc0", ErrorCode.BAD_FRAME),
        (b"\x07", ErrorCode.BAD_FRAME),
        (b"\xa4ping", ErrorCode.BAD_FRAME),
        (b"\x80", ErrorCode.BAD_REQUEST),
        (b"\xde\x00\x00", ErrorCode.BAD_REQUEST),
        (b"\xdf\x00\x00\x00\x00", ErrorCode.BAD_REQUEST),
        (b"\x81\x01\x02", ErrorCode.BAD_REQUEST),
        (b"\x85" + HEADER + b"\xa7exclude\xdd\xff\xff\xff\xff", ErrorCode.BAD_REQUEST),
        (b"\x85" + HEADER + b"\xa3new" + b"\x91" * 100_000 + b"\xc0", ErrorCode.BAD_REQUEST),
        (b"\x85" + HEADER + b"\xa5parts" + b"\x91" * 100_000 + b"\xc0", ErrorCode.BAD_REQUEST),
    ],
)
def test_malformed_and_hostile_bodies_are_mapped(body: bytes, code: ErrorCode) -> None:
    assert refusal(body).code is code


def bomb(name: str, element: bytes) -> bytes:
    count = (fields.FRAME_BYTES_MAX - 100) // len(element)
    key = bytes([0xA0 + len(name)]) + name.encode()
    return b"\x85" + HEADER + key + b"\xdd" + count.to_bytes(4, "big") + element * count


@pytest.mark.parametrize("name", ["new", "parts", "exclude", "turns", "text"])
@pytest.mark.parametrize("element", [b"\x90", b"\xc0", b"\x80", b"\xa0", b"\x91\xc0"])
def test_a_full_frame_of_small_values_is_read_or_refused_at_once(name: str, element: bytes) -> None:
    body = bomb(name, element)
    began_s = time.process_time()
    assert outcome(decode_request, body) in (None, ErrorCode.BAD_REQUEST)
    # An untyped decode of the same bytes takes hundreds of milliseconds and as many megabytes.
    assert time.process_time() - began_s < 0.1


def test_a_lone_surrogate_is_refused_when_written() -> None:
    with pytest.raises(WireError, match="lone surrogate at position 1") as caught:
        encode_message(requests.Recall(id=4, user="u", session="s", text="a\ud800"))
    assert (caught.value.code, caught.value.request_id) == (ErrorCode.BAD_REQUEST, 4)


def test_an_integer_beyond_64_bits_is_refused_when_written() -> None:
    with pytest.raises(WireError, match="64 bits"):
        encode_message(replies.Event(id=1, name="x", at_ms=2**70))


def test_an_object_that_messagepack_cannot_carry_is_refused_when_written() -> None:
    with pytest.raises(WireError, match="cannot be sent") as caught:
        encode_message(requests.Recall(id=4, user="u", session="s", text=object()))  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.request_id) == (ErrorCode.BAD_REQUEST, 4)


def test_a_message_beyond_the_frame_is_refused_when_written() -> None:
    with pytest.raises(WireError) as caught:
        encode_message(
            replies.Explanation(
                id=6,
                decision_id="d",
                user="u",
                session="",
                op="recall",
                at_ms=0,
                decision="",
                reason="",
                body="x" * (1 << 20),
            )
        )
    assert (caught.value.code, caught.value.request_id) == (ErrorCode.FRAME_TOO_LARGE, 6)


def test_the_codes_are_those_of_the_domain() -> None:
    assert [code.value for code in ErrorCode] == [code.value for code in DomainErrorCode]
    assert {code.value for code in RETRYABLE_CODES} == {code.value for code in DOMAIN_RETRYABLE_CODES}


def test_the_limits_and_kinds_of_a_memory_are_those_of_the_domain() -> None:
    assert fields.MEMORY_CHARS_MAX == records.MEMORY_CHARS_MAX
    assert (fields.CUES_MAX, fields.CUE_CHARS_MAX) == (records.CUES_MAX, records.CUE_CHARS_MAX)
    assert (fields.ASKS_MAX, fields.ASK_CHARS_MAX) == (records.ASKS_MAX, records.ASK_CHARS_MAX)
    assert fields.SCOPE_CHARS_MAX == records.SCOPE_CHARS_MAX
    for kind in records.MemoryKind:
        assert decode_request(encode_message(requests.Remember(user="u", text="x", kind=kind.value))[4:])


def test_a_full_recall_of_the_longest_memories_fits_a_frame() -> None:
    wide = "𝄞"
    item = replies.i.RecalledItem(
        id="m" * fields.ID_CHARS_MAX,
        text=wide * fields.MEMORY_CHARS_MAX,
        kind="preference",
        scope=wide * fields.SCOPE_CHARS_MAX,
    )
    answer = replies.Recalled(
        recall_id="r", decision="inject", mode="gated", reason="relevant", items=(item,) * fields.RECALL_ITEMS_MAX
    )
    assert len(encode_message(answer)) < fields.FRAME_BYTES_MAX
