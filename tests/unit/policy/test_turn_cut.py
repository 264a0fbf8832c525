"""Of a long message its ends and the sentence that asks are read, and nothing reads more than that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.turn_parts import MessagePart
from recalld.models.policy import query_reading, turn_gate
from recalld.models.policy.temporal import find_intervals
from recalld.models.policy.temporal.find import OPENINGS_MAX
from recalld.models.policy.temporal.phrases import PhraseTree
from recalld.models.policy.temporal.time_span import TimeSpan
from recalld.models.policy.temporal.tokens import Token
from recalld.models.policy.turn import references
from recalld.models.policy.turn.references import RECENT_CHARS_MAX, RECENT_TURNS_MAX, terms_outside
from recalld.models.policy.turn.turn_input import TurnInput
from recalld.models.policy.turn_cut import READ_CHARS_MAX, cut_before, cut_turn
from recalld.models.policy.turn_gate import decide

HOSTILE = {
    "marks": "\u0301" * 65_000,
    "pictures": "\U0001f600" * 65_000,
    "numbers": "1 " * 32_768,
    "backticks": "`x" * 32_768,
    "sum": "1+" * 30_000 + " what?",
    "initials": "a." * 32_768,
    "unspaced": "\u6771\u4eac" * 32_768,
    "lines": "a\n" * 32_768,
}
LOG = "worker 7 restarted after a lost connection to the broker\n" * 1_000
NOW, ZONE = datetime(2026, 1, 5, 12, tzinfo=UTC), ZoneInfo("UTC")

anything = st.text(alphabet="ab .?\n1\u0301\u6771", max_size=60).flatmap(
    lambda piece: st.integers(1, 300).map(lambda times: piece * times)
)


@given(anything)
def test_a_cut_is_short_and_cutting_again_changes_nothing(text: str) -> None:
    cut = cut_turn(text)
    assert len(cut) <= READ_CHARS_MAX
    assert cut_turn(cut) == cut
    assert len(text) > READ_CHARS_MAX or cut == text


def test_head_tail_and_the_sentence_that_asks_are_kept_whole() -> None:
    cut = cut_turn(f"Look at auth_token first. {LOG}Where does the broker run? Thanks.\n{LOG} It was port 7443")
    assert cut.startswith("Look at auth_token first.")
    assert "\nWhere does the broker run?\n" in cut
    assert cut.endswith("It was port 7443")
    assert set(cut.split()) <= set(
        f"Look at auth_token first. {LOG}Where does the broker run? It was port 7443".split()
    )


def test_of_an_earlier_turn_the_end_counts() -> None:
    assert cut_before("short", 10) == "short"
    assert cut_before("alpha beta gamma", 8) == " gamma"
    long = f"nginx {LOG} postgres"
    assert terms_outside(("nginx", "postgres"), [long]) == ("nginx",)


@pytest.mark.parametrize("name", HOSTILE)
def test_every_reader_of_a_turn_is_given_a_bounded_part_of_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given_chars: dict[str, int] = {}

    def watch(module: object, reader: str) -> None:
        original: Callable[..., object] = getattr(module, reader)

        def watched(text: str, *args: object, **options: object) -> object:
            given_chars[reader] = max(given_chars.get(reader, 0), len(text))
            return original(text, *args, **options)

        monkeypatch.setattr(module, reader, watched)

    def find_times(text: str, *, now: datetime, zone: ZoneInfo, language: str) -> Sequence[TimeSpan]:
        given_chars["find_times"] = len(text)
        return find_intervals(text, now=now, zone=zone, language=language)

    for reader in ("plain_no", "mask_code_and_quotes", "read_words", "probe_terms"):
        watch(turn_gate, reader)
    for reader in ("straight_apostrophes", "has_searchable", "query_terms", "is_english", "query_times"):
        watch(query_reading, reader)
    text = f"do it again: {HOSTILE[name]}"
    verdict = decide(TurnInput(parts=(MessagePart(text=text),), now=NOW, zone=ZONE), find_times=find_times)
    reading = query_reading.read_verdict(verdict, text, is_unconditional=False, is_search=False)
    assert given_chars.keys() >= {"plain_no", "read_words", "probe_terms", "find_times", "has_searchable", "is_english"}
    assert max(given_chars.values()) <= READ_CHARS_MAX
    assert reading.skip is None
    assert len(reading.text) <= READ_CHARS_MAX
    assert reading.own_text == ""


def test_earlier_turns_are_read_at_a_bounded_length(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(references, "index_terms", lambda text: read.append(len(text)) or [])
    terms_outside(("port",), [HOSTILE["numbers"]] * 12)
    assert len(read) == RECENT_TURNS_MAX
    assert max(read) <= RECENT_CHARS_MAX


def test_the_terms_of_a_reading_are_those_of_its_text() -> None:
    for text in ("where\u2019s auth_token stored?", f"{LOG} where is auth_token?", "as we discussed"):
        verdict = decide(TurnInput(parts=(MessagePart(text=text),)))
        reading = query_reading.read_verdict(verdict, text, is_unconditional=False, is_search=False)
        assert reading.terms == tuple(query_reading.query_terms(reading.text))


def test_a_table_of_numbers_is_not_tried_for_a_time_at_each(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    longest = PhraseTree.longest

    def counted(tree: PhraseTree, tokens: Sequence[Token], start: int) -> object:
        tried.append(start)
        return longest(tree, tokens, start)

    monkeypatch.setattr(PhraseTree, "longest", counted)
    assert find_intervals("1 " * 2_000, now=NOW, zone=ZONE) == ()
    assert len(tried) <= OPENINGS_MAX
    found = find_intervals("1 " * (OPENINGS_MAX // 2) + "yesterday", now=NOW, zone=ZONE)
    assert [span.text for span in found] == ["yesterday"]
