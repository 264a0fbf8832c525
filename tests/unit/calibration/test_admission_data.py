from __future__ import annotations

import msgspec
import pytest

from recalld.models.calibration.admission_data import (
    STYLES,
    AdmissionDataError,
    AdmissionRow,
    SecondReading,
    StatedFact,
    agreement,
    parse_rows,
    shipped_rows,
    undisputed,
)
from recalld.models.calibration.admission_record import rows_sha256, shipped_admission_record
from recalld.models.calibration.intervals import cohen_kappa
from recalld.models.domain.facts import Span
from recalld.models.domain.records import MemoryKind

FACT = StatedFact(quote="I live in Ghent", kind=MemoryKind.FACT, statement="The user lives in Ghent.")
ROW = AdmissionRow(id="a-1", style="a", text="Hi, I live in Ghent.", facts=(FACT,))


def line(row: AdmissionRow) -> bytes:
    return msgspec.json.encode(row) + b"\n"


def test_the_shipped_rows_are_whole_and_about_half_of_each_style_states_something() -> None:
    rows = shipped_rows()
    assert len({row.id for row in rows}) == len(rows) == 5_067
    for style in STYLES:
        own = [row for row in rows if row.style == style]
        assert 50 < len(own) < 180, style
        assert 0.45 * len(own) <= sum(bool(row.facts) for row in own) <= 0.53 * len(own), style
    assert {row.language for row in rows} == {"en", "de", "fr", "es"}
    assert all(row.second is not None for row in rows)


def test_the_shipped_record_was_fitted_on_the_shipped_rows() -> None:
    from recalld.models.calibration.admission_data import shipped_content

    record = shipped_admission_record()
    assert record.corpus_sha256 == rows_sha256(shipped_content())
    rows = shipped_rows()
    assert (record.n, record.disputed) == (len(undisputed(rows)), len(rows) - len(undisputed(rows)))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (msgspec.structs.replace(ROW, text="Hi."), "quote 'I live in Ghent' is not in the text"),
        (msgspec.structs.replace(ROW, reason="chat"), "either facts or a reason"),
        (msgspec.structs.replace(ROW, facts=()), "either facts or a reason"),
        (msgspec.structs.replace(ROW, text=" "), "text is empty"),
        (msgspec.structs.replace(ROW, second=SecondReading(stores=False)), "disputed must say"),
        (msgspec.structs.replace(ROW, second=SecondReading(stores=True, quotes=("no",))), "quote 'no'"),
    ],
)
def test_a_bad_row_is_refused_by_its_line(row: AdmissionRow, problem: str) -> None:
    with pytest.raises(AdmissionDataError, match=rf"a.jsonl:3: .*{problem}"):
        parse_rows(line(ROW) + b"\n" + line(msgspec.structs.replace(row, id="a-2")), "a.jsonl")


def test_a_repeated_id_and_what_is_no_row_are_refused_by_their_lines() -> None:
    with pytest.raises(AdmissionDataError, match=r"a.jsonl:2: id 'a-1' occurs twice"):
        parse_rows(line(ROW) * 2, "a.jsonl")
    with pytest.raises(AdmissionDataError, match=r"a.jsonl:2: "):
        parse_rows(line(ROW) + b'{"id": 3}\n', "a.jsonl")


def test_quotes_of_both_readers_count_where_the_first_found_a_fact() -> None:
    second = SecondReading(stores=True, quotes=("Hi",))
    row = msgspec.structs.replace(ROW, second=second)
    assert set(row.quoted(row.text)) == {Span(start=4, end=19), Span(start=0, end=2)}
    bare = msgspec.structs.replace(row, facts=(), reason="chat", disputed=True)
    assert bare.quoted(bare.text) == ()


def test_agreement_is_one_where_readers_agree_and_zero_where_only_chance_does() -> None:
    assert cohen_kappa([(True, True), (False, False)]) == pytest.approx(1.0)
    assert cohen_kappa([(True, True), (True, False), (False, True), (False, False)]) == pytest.approx(0.0)
    assert cohen_kappa([(True, True)]) == 1.0
    with pytest.raises(ValueError, match="at least one turn"):
        cohen_kappa([])
    assert agreement([ROW]) is None
