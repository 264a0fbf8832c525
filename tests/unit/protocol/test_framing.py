from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.protocol.errors import ErrorCode, WireError
from recalld.protocol.framing import Frame, FrameEvent, FrameFault, FrameReader, NeedData, frame


def events_of(reader: FrameReader) -> list[FrameEvent]:
    found: list[FrameEvent] = []
    while not isinstance(event := reader.next_event(), NeedData):
        found.append(event)
        if isinstance(event, FrameFault):
            break
    return found


def read(chunks: list[bytes], frame_bytes_max: int = 1_000) -> list[FrameEvent]:
    reader = FrameReader(frame_bytes_max)
    found: list[FrameEvent] = []
    for chunk in chunks:
        reader.receive(chunk)
        found += events_of(reader)
        if found and isinstance(found[-1], FrameFault):
            break
    return found


@given(bodies=st.lists(st.binary(min_size=1, max_size=50), max_size=5), cuts=st.lists(st.integers(0, 300), max_size=10))
def test_frames_come_out_the_same_however_the_stream_is_cut(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(frame(body) for body in bodies)
    edges = sorted({0, len(stream), *(min(cut, len(stream)) for cut in cuts)})
    chunks = [stream[start:end] for start, end in itertools.pairwise(edges)]
    assert read(chunks) == read([bytes([byte]) for byte in stream]) == [Frame(body) for body in bodies]


@given(data=st.binary(max_size=200))
def test_garbage_gives_the_same_events_whole_and_byte_by_byte(data: bytes) -> None:
    assert read([data], 50) == read([bytes([byte]) for byte in data], 50)


def test_a_length_beyond_the_limit_is_a_fault_before_any_body() -> None:
    assert read([b"\xff\xff\xff"]) == []
    (fault,) = read([b"\xff\xff\xff\xff"])
    assert isinstance(fault, FrameFault)
    assert fault.code is ErrorCode.FRAME_TOO_LARGE
    assert "4294967295" in fault.message


def test_the_limit_itself_is_allowed_and_one_byte_more_is_not() -> None:
    assert read([frame(b"x" * 1_000)]) == [Frame(b"x" * 1_000)]
    assert isinstance(read([(1_001).to_bytes(4, "big")])[0], FrameFault)


def test_a_length_of_zero_is_a_fault() -> None:
    (fault,) = read([bytes(4)])
    assert isinstance(fault, FrameFault)
    assert fault.code is ErrorCode.BAD_FRAME


def test_frames_before_a_fault_still_come_out_and_nothing_after_it() -> None:
    reader = FrameReader()
    reader.receive(frame(b"good") + bytes(4) + frame(b"lost"))
    first, fault = events_of(reader)
    assert first == Frame(b"good")
    reader.receive(frame(b"later"))
    assert events_of(reader) == [fault]
    assert not reader.is_mid_frame


def test_the_need_for_data_says_how_much_is_missing() -> None:
    reader = FrameReader()
    assert reader.next_event() == NeedData(4)
    reader.receive(b"\x00\x00\x00")
    assert reader.next_event() == NeedData(1)
    reader.receive(b"\x05ab")
    assert reader.next_event() == NeedData(3)


def test_the_end_of_the_stream_is_a_fault_only_inside_a_frame() -> None:
    reader = FrameReader()
    assert reader.finish() is None
    reader.receive(frame(b"abc") + b"\x00")
    assert reader.next_event() == Frame(b"abc")
    assert reader.is_mid_frame
    fault = reader.finish()
    assert fault is not None
    assert fault.code is ErrorCode.BAD_FRAME
    assert reader.finish() == fault


def test_memory_grows_with_bytes_received_and_not_with_the_length_announced() -> None:
    reader = FrameReader()
    reader.receive((1 << 20).to_bytes(4, "big") + b"x")
    assert len(reader._buffer) == 5
    assert reader._buffer.__sizeof__() < 1_000


@pytest.mark.parametrize(("body", "code"), [(b"", ErrorCode.BAD_FRAME), (b"x" * 11, ErrorCode.FRAME_TOO_LARGE)])
def test_a_body_that_fits_no_frame_is_refused_when_written(body: bytes, code: ErrorCode) -> None:
    with pytest.raises(WireError) as caught:
        frame(body, 10)
    assert caught.value.code is code
