from __future__ import annotations

import pytest

from recalld.models.policy.judge.flag_words import (
    FlagWordsError,
    WordFlag,
    lists_of,
    parse_lists,
    word_flags,
    words_of,
)
from recalld.models.policy.judge.flags import FLAG_NAMES, read_flags, turn_language
from recalld.models.policy.judge.segments import split_segments
from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.stop_words import LANGUAGES


def flags(text: str) -> list[dict[str, float]]:
    turn = prepare_turn(text)
    return [dict(zip(map(str, FLAG_NAMES), row, strict=True)) for row in read_flags(turn, split_segments(turn))]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("flag", WordFlag)
def test_every_entry_of_every_list_is_found(language: str, flag: WordFlag) -> None:
    entries = lists_of(language)[flag]
    assert entries
    for entry in entries:
        assert flag in word_flags(words_of(entry), language), entry


def test_emptying_a_list_leaving_it_out_or_misspelling_it_is_refused() -> None:
    whole = {flag: ["word"] for flag in WordFlag}
    content = "\n".join(f'{flag} = ["word"]' for flag in WordFlag)
    assert set(parse_lists(content, "xx.toml")) == set(whole)
    for bad, problem in (
        (content.replace('kin = ["word"]', "kin = []"), "kin"),
        (content.replace('kin = ["word"]', ""), "kin"),
        (content + '\nkith = ["word"]', "kith"),
        (content.replace('kin = ["word"]', 'kin = ["Word"]'), "lower case"),
        (content.replace('kin = ["word"]', 'kin = ["word", "word"]'), "each once"),
    ):
        with pytest.raises(FlagWordsError, match=problem):
            parse_lists(bad, "xx.toml")


def test_lists_of_another_language_are_not_read() -> None:
    with pytest.raises(FlagWordsError, match="no word lists"):
        lists_of("xx")
    assert WordFlag.NEGATION not in word_flags(["nicht"], "en")


def test_openers_count_at_the_start_alone() -> None:
    assert WordFlag.OPENER_QUESTION in word_flags(["do", "we"], "en")
    assert WordFlag.OPENER_QUESTION not in word_flags(["we", "do"], "en")


def test_a_flag_is_told_of_the_segment_of_its_turn_and_of_what_stands_before() -> None:
    first, second = flags("Suppose it rains. We use Kafka.")
    assert (first["hypothetical"], first["turn_hypothetical"], first["is_first"]) == (1.0, 0.0, 1.0)
    assert (second["hypothetical"], second["turn_hypothetical"], second["before_hypothetical"]) == (0.0, 1.0, 1.0)
    assert (second["first_plural"], second["known_name"], second["is_last"]) == (1.0, 1.0, 1.0)


def test_question_marks_and_colons_are_told_of_the_neighbours() -> None:
    lead, asked, after = flags("Translate this:\nDo you live here?\nI do not know.")
    assert (lead["ends_in_colon"], asked["follows_colon"]) == (1.0, 1.0)
    assert (asked["question_mark"], lead["before_question"], after["after_question"]) == (1.0, 1.0, 1.0)


def test_the_language_of_a_turn_chooses_its_lists() -> None:
    turn = prepare_turn("Wir nutzen das nicht, weil es uns zu langsam ist.")
    assert turn_language(turn) == "de"
    assert flags(turn.text)[0]["language_de"] == 1.0
