from __future__ import annotations

import codecs
import gzip
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labelled_rows import make_rows, write_rows

from recalld.daemon.evaluation.sets import UNDATED_MS, builtin_sets, read_sets
from recalld.daemon.own_calibration.labelling import Record, moment_ms
from recalld.daemon.own_calibration.rows import DAY_MS, RowError

ROW: dict[str, object] = {
    "id": "q1",
    "user": "house:ines",
    "query": "What bread do I bake?",
    "query_kind": "direct",
    "nothing_relevant": False,
    "relevant": ["m1"],
    "memories": [{"id": "m1", "text": "The user bakes rye bread", "ts": "2026-03-03T10:00:00Z"}],
}


def write(path: Path, *rows: object) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return path


def test_a_file_is_a_set_and_disputed_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    unclear = ROW | {"id": "q2", "disputed": True, "relevant": []}
    (found,) = read_sets([write(tmp_path / "notes.jsonl", ROW, unclear)], [])
    assert (found.name, len(found.rows), found.disputed) == ("notes", 1, 1)
    (row,) = found.rows
    assert (row.label.row_id, row.label.source, row.label.relevant) == ("q1", "notes", frozenset({"m1"}))
    assert row.now_ms == (moment_ms("2026-03-03T10:00:00Z") or 0) + DAY_MS
    assert [memory.id for memory in row.memories] == ["m1"]


def test_variants_of_a_file_and_files_of_one_name_are_sets_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    mixed = write(tmp_path / "notes.jsonl", ROW | {"variant": "obs"}, ROW | {"variant": "turns"}, ROW)
    again = write(tmp_path / "other" / "notes.jsonl", ROW)
    third = write(tmp_path / "other" / "notes.json", ROW)
    names = [each.name for each in read_sets([mixed, again, third], [])]
    assert names == ["notes/obs", "notes/turns", "notes/no variant", "notes", "notes-2"]


def test_rows_of_one_store_share_a_shelf_unless_they_leave_out_different_memories(tmp_path: Path) -> None:
    stores = write(
        tmp_path / "stores.jsonl",
        {"store": "shed", "id": "m1", "text": "Bread is in the box"},
        {"store": "shed", "id": "m2", "text": "Boats are at the pier"},
    )
    of_store = ROW | {"store": "shed", "memories": []}
    left_out = of_store | {"id": "q3", "exclude": ["m1"], "relevant": [], "nothing_relevant": True}
    (found,) = read_sets([write(tmp_path / "notes.jsonl", of_store, of_store | {"id": "q2"}, left_out, ROW)], [stores])
    one, same, other, own = found.rows
    assert one.shelf == same.shelf != ""
    assert other.shelf not in {"", one.shelf}
    assert own.shelf == ""
    assert [memory.id for memory in other.memories] == ["m2"]
    assert one.now_ms == UNDATED_MS


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"query": 1}, "query"),
        ({"query": "  "}, "query is blank"),
        ({"relevant": []}, "relevant is empty"),
        ({"nothing_relevant": True}, "relevant names memories"),
        ({"memories": []}, "--stores"),
        ({"memories": [], "store": "attic"}, "--stores"),
        ({"memories": [{"id": "m1", "text": "x"}, {"id": "m1", "text": "y"}]}, "m1 is there twice"),
        ({"memories": [{"id": "m1"}]}, r"memories\[0\]"),
        ({"memories": [{"id": "m1", "text": " "}]}, "must not be empty"),
        ({"memories": [{"id": "m1", "text": "x", "ts": "March"}]}, "ts: .*2026-11-30T12:00:00Z"),
        ({"memories": [{"id": "m1", "text": "x", "kind": "thought"}]}, "kind"),
        ({"now": "soon"}, "now: "),
    ],
)
def test_a_wrong_line_is_named_with_file_line_and_field(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = write(tmp_path / "bad.jsonl", ROW, ROW | {"id": "q2"} | change)
    with pytest.raises(RowError, match=rf"bad\.jsonl, line 2: .*{said}") as raised:
        read_sets([path], [])
    assert "\n" not in str(raised.value)


def test_an_empty_file_and_a_broken_store_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RowError, match="there is no row in it"):
        read_sets([write(tmp_path / "empty.jsonl")], [])
    broken = write(tmp_path / "stores.jsonl", {"store": "shed", "id": "m1"})
    with pytest.raises(RowError, match=r"stores\.jsonl, line 1: .*text"):
        read_sets([write(tmp_path / "notes.jsonl", ROW)], [broken])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(field=st.sampled_from(sorted(ROW)), value=VALUES, tail=st.binary(max_size=6))
def test_whatever_a_file_holds_it_is_read_or_refused_in_one_line(
    tmp_path: Path, field: str, value: object, tail: bytes
) -> None:
    path = tmp_path / "any.jsonl"
    path.write_bytes(msgspec.json.encode(ROW | {field: value}) + tail)
    refusal = ""
    try:
        (found,) = read_sets([path], [])
    except RowError as error:
        refusal = str(error)
    if refusal:
        assert refusal.startswith(f"{path}, line ")
        assert "\n" not in refusal
    else:
        assert len(found.rows) + found.disputed >= 1


def test_rows_of_the_calibrate_command_are_rows_of_this_one(tmp_path: Path) -> None:
    (found,) = read_sets([write_rows(tmp_path / "notes.jsonl", make_rows(2, 5))], [])
    assert len(found.rows) == 10


def test_the_sources_of_the_package_are_there_with_their_labels() -> None:
    sets = builtin_sets()
    assert len(sets) == 8
    for each in sets:
        assert len(each.rows) + each.disputed == 110
        known = {memory.id for memory in each.rows[0].memories}
        assert len(known) == 70
        assert all(row.label.relevant <= known for row in each.rows)
        assert all(bool(row.label.relevant) == row.label.is_answerable for row in each.rows)


def test_a_row_that_is_there_twice_is_refused_and_one_that_only_shares_its_id_is_not(tmp_path: Path) -> None:
    row = make_rows(1, 1)[0]
    with pytest.raises(RowError, match="line 2: id: 0-0 is on line 1 word for word"):
        read_sets([write_rows(tmp_path / "twice.jsonl", [row, row])], [])
    other = msgspec.structs.replace(row, query="And my bread?")
    assert len(read_sets([write_rows(tmp_path / "apart.jsonl", [row, other])], [])[0].rows) == 2


def test_a_file_whose_rows_are_all_disputed_has_nothing_to_measure(tmp_path: Path) -> None:
    rows = [msgspec.structs.replace(row, disputed=True) for row in make_rows(1, 3)]
    with pytest.raises(RowError, match="line 1: disputed: all rows of notes are"):
        read_sets([write_rows(tmp_path / "notes.jsonl", rows)], [])


def test_a_compressed_file_is_called_so_and_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    plain = write_rows(tmp_path / "plain.jsonl", make_rows(1, 2)).read_bytes()
    packed, marked = tmp_path / "rows.jsonl.gz", tmp_path / "marked.jsonl"
    packed.write_bytes(gzip.compress(plain))
    marked.write_bytes(codecs.BOM_UTF8 + plain)
    with pytest.raises(RowError, match="the file is compressed; unpack it first"):
        read_sets([packed], [])
    assert len(read_sets([marked], [])[0].rows) == 2


def test_a_row_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RowError, match="line 1: id is blank"):
        read_sets([write(tmp_path / "notes.jsonl", ROW | {"id": " "})], [])


@pytest.mark.parametrize("size", [5_000, 200_000])
def test_long_texts_are_read_whole(tmp_path: Path, size: int) -> None:
    row = make_rows(1, 1)[0]
    long = msgspec.structs.replace(row, memories=(Record(id="long", text="word " * (size // 5)),))
    (read,) = read_sets([write_rows(tmp_path / "notes.jsonl", [long])], [])
    assert len(read.rows[0].memories[0].text) == size
