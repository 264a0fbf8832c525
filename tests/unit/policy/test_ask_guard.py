from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import NewMemory
from recalld.models.policy.ask_guard import check_asks, without_stuffing

SOURCES = sorted((Path(__file__).parents[3] / "models" / "calibration" / "data" / "sources").glob("*/records.jsonl"))


class Record(msgspec.Struct):
    text: str
    cues: tuple[str, ...]
    asks: tuple[str, ...]


def check(text: str, *asks: str, cues: tuple[str, ...] = ()) -> None:
    check_asks(NewMemory(user="ines", text=text, cues=cues, asks=asks))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.parent.name)
def test_no_ask_of_the_written_sources_is_refused(path: Path) -> None:
    for line in path.read_bytes().splitlines():
        record = msgspec.json.decode(line, type=Record)
        check(record.text, *record.asks, cues=record.cues)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Avoids leather", ("Which car should I buy?", "What jacket suits me?", "Which sofa is for us?")),
        ("Works at Acme", ("Where do I work?", "What is my job?")),
        ("The user's name is Ines", ("Who am I?",)),
        ("k8s", ("Where do we deploy?", "How do I reach the cluster that runs our services in production?")),
        ("Moved to the Porto office", ("Where do I live?",)),
        ("Rounds down", ("What do you know about the fine rounding bug?", "Tell me about our way to round.")),
    ],
)
def test_honest_asks_pass_whether_or_not_they_share_a_word_with_the_text(text: str, asks: tuple[str, ...]) -> None:
    check(text, *asks)


@pytest.mark.parametrize(
    ("asks", "place", "complaint"),
    [
        (("Which car?", "[SEP] [CLS] question"), 1, "control token"),
        (("Which <|im_start|> car?",), 0, "control token"),
        (("What? Where? Who?",), 0, "several questions"),
        (("What is it?",), 0, "common words"),
        (("Which car?", "What do you know about leather?"), 1, "what is known of one word"),
        (("Tell me about leather.",), 0, "what is known of one word"),
        (("Was wei\u00dft du \u00fcber Leder?",), 0, "what is known of one word"),
        (("Which car should I buy " + "and what about it " * 9 + "?",), 0, "far longer"),
        (("Where do I work?", "What is my name?"), 1, "nothing to do with the text"),
        (("Which car?", "Where do I live?", "What can I eat?"), 2, "nothing to do with the text"),
    ],
)
def test_stuffing_is_refused_with_the_place_and_the_remedy(asks: tuple[str, ...], place: int, complaint: str) -> None:
    with pytest.raises(RecalldError, match=complaint) as caught:
        check("Avoids leather", *asks)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert f"asks[{place}]" in str(caught.value)


def test_what_nobody_gave_is_left_out_where_it_is_stuffing_and_costs_the_memory_nothing() -> None:
    memory = NewMemory(user="ines", text="The user prefers tea over coffee.", asks=("What is it?", "Which tea?"))

    assert without_stuffing(memory).asks == ("Which tea?",)
    assert without_stuffing(memory).text == memory.text


def test_what_is_stuffing_only_together_is_left_out_together() -> None:
    memory = NewMemory(user="ines", text="Avoids leather", asks=("Where do I work?", "What is my name?"))

    assert without_stuffing(memory).asks == ()
