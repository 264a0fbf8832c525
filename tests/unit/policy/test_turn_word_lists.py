"""Every list of the turn gate is necessary, and is written as it is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest

from recalld.models.policy import stop_words, word_lists
from recalld.models.policy.turn import cues, lists, skips
from recalld.models.policy.turn.cues import CueFamily, find_cues
from recalld.models.policy.turn.lists import SHIPPED, UNSPACED_LANGUAGES, ListKind, file_name, likely_languages
from recalld.models.policy.turn.probe import ProbeResult, TermPostings
from recalld.models.policy.turn.turn_input import NOT_SUPPLIED, MessagePart, TurnInput
from recalld.models.policy.turn.verdict import TurnGateVerdict, TurnRule
from recalld.models.policy.turn.words import read_words
from recalld.models.policy.turn_gate import TurnGateSettings, decide, decide_turn

CASES_FILE = Path(__file__).resolve().parents[2] / "data" / "turn_gate" / "word_list_turns.json"


class ListCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A turn that is decided as it should be only while one list has its words."""

    list: str
    text: str
    recent: tuple[str, ...] | None
    decided_by: TurnRule
    family: CueFamily | None = None
    postings: dict[str, int] | None = None

    def holds(self) -> bool:
        verdict = self.decide(TurnGateSettings())
        found = tuple(cue.family for cue in verdict.evidence.cues)
        return verdict.decided_by is self.decided_by and found == (() if self.family is None else (self.family,))

    def decide(self, settings: TurnGateSettings) -> TurnGateVerdict:
        probe = None
        if self.postings is not None:
            probe = ProbeResult(terms=tuple(TermPostings(term=t, postings=n) for t, n in self.postings.items()))
        recent = NOT_SUPPLIED if self.recent is None else self.recent
        return decide(TurnInput(parts=(MessagePart(text=self.text),), recent=recent, probe=probe), settings=settings)


CASES = msgspec.json.decode(CASES_FILE.read_bytes(), type=tuple[ListCase, ...])
CUE_CASES = tuple(case for case in CASES if case.family is not None)
FILES = tuple(file_name(kind, language) for kind in ListKind for language in SHIPPED[kind])
CACHES = (lists.phrases, cues._cue_list, skips._person_words, stop_words.stop_words, word_lists.words)


def clear_caches() -> None:
    for cached in CACHES:
        cached.cache_clear()


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    clear_caches()
    yield
    clear_caches()


@pytest.fixture
def shorten(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[str], bool]], None]:
    """Take entries out of one list."""
    read = word_lists.entries

    def take_out(name: str, is_kept: Callable[[str], bool]) -> None:
        def entries(asked: str) -> tuple[str, ...]:
            return tuple(filter(is_kept, read(asked))) if asked == name else read(asked)

        clear_caches()
        monkeypatch.setattr(word_lists, "entries", entries)

    return take_out


def test_the_files_are_those_that_are_read() -> None:
    folder = files("recalld.models.policy").joinpath("data", "turn")
    assert {f"turn/{item.name}" for item in folder.iterdir()} == set(FILES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.list} {case.text}")
def test_each_labelled_turn_is_decided_by_its_rule(case: ListCase) -> None:
    assert case.holds(), case.decide(TurnGateSettings())


@pytest.mark.parametrize("name", FILES)
def test_emptying_a_list_changes_a_labelled_turn(
    name: str, shorten: Callable[[str, Callable[[str], bool]], None]
) -> None:
    shorten(name, lambda _: False)
    failing = {case.list for case in CASES if not case.holds()}
    assert failing == {name.removeprefix("turn/").removesuffix(".txt")}


@pytest.mark.parametrize("case", CUE_CASES, ids=lambda case: f"{case.list} {case.family}")
def test_emptying_one_family_of_cues_changes_its_turn_and_no_other(
    case: ListCase, shorten: Callable[[str, Callable[[str], bool]], None]
) -> None:
    shorten(f"turn/{case.list}.txt", lambda entry: not entry.startswith(f"{case.family}:"))
    assert [each for each in CASES if not each.holds()] == [case]


@pytest.mark.parametrize("case", CUE_CASES, ids=lambda case: f"{case.list} {case.family}")
def test_a_family_that_is_switched_off_is_silent(case: ListCase) -> None:
    assert case.family is not None
    off = case.decide(TurnGateSettings(cues_off=frozenset({case.family})))
    assert off.evidence.cues == ()
    assert off.decided_by is TurnRule.DEFAULT
    others = frozenset(CueFamily) - {case.family}
    assert case.decide(TurnGateSettings(cues_off=others)).decided_by is TurnRule.HISTORY_CUE


def test_every_family_has_a_turn_in_every_language() -> None:
    languages = {case.list.rpartition(".")[2] for case in CUE_CASES}
    assert languages == set(SHIPPED[ListKind.HISTORY_CUES])
    assert {(case.list.rpartition(".")[2], case.family) for case in CUE_CASES} == {
        (language, family) for language in languages for family in CueFamily
    }


@pytest.mark.parametrize("language", SHIPPED[ListKind.ACKNOWLEDGEMENTS])
def test_every_acknowledgement_is_skipped_as_written(language: str) -> None:
    for entry in lists.list_entries(ListKind.ACKNOWLEDGEMENTS, language):
        assert decide_turn(entry).decided_by is TurnRule.ACKNOWLEDGEMENT, entry


@pytest.mark.parametrize("language", SHIPPED[ListKind.HISTORY_CUES])
def test_every_cue_is_found_as_written_and_no_exception_is(language: str) -> None:
    for entry in lists.list_entries(ListKind.HISTORY_CUES, language):
        family, _, phrase = entry.partition(": ")
        said = phrase.replace("*", "xyz").replace("$", "")
        found = [(cue.family, cue.phrase) for cue in find_cues(read_words(said), (language,))]
        assert found == ([] if family == "not" else [(CueFamily(family), phrase)]), entry


@pytest.mark.parametrize("kind", [ListKind.PRONOUNS, ListKind.CONJUNCTIONS, ListKind.LOCAL_REFERENCES])
def test_every_phrase_is_found_as_written(kind: ListKind) -> None:
    for language in SHIPPED[kind]:
        for entry in lists.list_entries(kind, language):
            assert lists.phrases(kind, language).longest_at(read_words(entry), 0) is not None, entry


def test_a_kind_without_a_list_for_a_language_has_no_phrases() -> None:
    assert lists.list_entries(ListKind.PERSON_WORDS, "zh") == ()
    assert lists.phrases(ListKind.PERSON_WORDS, "zh").by_first == {}


def test_lists_of_two_languages_never_combine() -> None:
    # "passt" agrees in German, "vale" in Spanish: each alone is an acknowledgement, together they are neither's.
    assert not decide_turn("passt").run
    assert not decide_turn("vale").run
    assert decide_turn("passt vale").run


def test_an_unknown_family_in_a_list_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_lists, "entries", lambda _: ("someday: some day",))
    with pytest.raises(ValueError, match="someday"):
        find_cues(read_words("some day"), ("en",))


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("what did the vendor say about the price", ("en",)),
        ("was hat der Lieferant zum Preis gesagt", ("de",)),
        ("que dit le fournisseur sur son prix", ("fr",)),
        ("que dijo el proveedor sobre su precio", ("es",)),
        ("letztes Mal", ("en", "de", "fr", "es")),
        ("", ("en", "de", "fr", "es")),
        ("上次", ("en", "de", "fr", "es", "zh")),
        ("前回の", ("en", "de", "fr", "es", "ja")),
        ("カタカナ", ("en", "de", "fr", "es", "ja")),
        ("what is the meaning of 上次", ("en", "zh")),
    ],
)
def test_a_message_is_read_with_the_lists_of_its_languages(text: str, languages: tuple[str, ...]) -> None:
    assert likely_languages(read_words(text)) == languages


def test_a_tie_of_two_languages_keeps_all() -> None:
    # Two English and two German stop words.
    assert likely_languages(read_words("of the und ist")) == stop_words.LANGUAGES


def test_every_language_with_lists_is_known() -> None:
    assert set(lists.ALL_LANGUAGES) == {*stop_words.LANGUAGES, *UNSPACED_LANGUAGES}
