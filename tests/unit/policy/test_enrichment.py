from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.records import ASKS_MAX, CUE_CHARS_MAX, CUES_MAX, MemoryKind
from recalld.models.policy.enrichment import enrich

SHORT_TEXTS = st.lists(st.text(min_size=1, max_size=20), max_size=3, unique_by=str.casefold)
SOURCES = sorted((Path(__file__).parents[3] / "models" / "calibration" / "data" / "sources").glob("*/records.jsonl"))


class Record(msgspec.Struct):
    text: str
    kind: MemoryKind
    cues: tuple[str, ...]
    asks: tuple[str, ...]


def test_a_record_that_names_something_gets_its_heading_and_a_slot_brings_its_questions() -> None:
    enriched = enrich("Deploys services to a Kubernetes cluster", MemoryKind.FACT)
    assert enriched.cues == ("Deployment target: Kubernetes", "Kubernetes (k8s): container orchestrator")
    assert "Where do we deploy?" in enriched.asks
    assert (enriched.added_cues, enriched.added_asks) == (2, len(enriched.asks))
    assert enriched.sources == ("slot:deploy_target", "gazetteer")
    assert {"kubernet", "k8s"} <= set(enriched.subjects)


def test_what_was_replaced_gets_no_heading() -> None:
    enriched = enrich("CI moved from Jenkins to Buildkite", MemoryKind.CONVENTION)
    assert enriched.cues == ("CI system: Buildkite",)
    assert "jenkin" in enriched.subjects


def test_the_questions_are_those_of_one_slot_and_the_headings_of_all() -> None:
    enriched = enrich("Works at Acme as a data engineer", MemoryKind.FACT)
    assert enriched.cues == ("The user's employer", "The user's job")
    assert enriched.asks == ("Where do I work?", "Which company do I work for?")


def test_a_record_that_comes_with_questions_gets_no_others() -> None:
    given_cues, given_asks = ("my job", "Acme"), ("Where do I earn my money?",)
    enriched = enrich("Works at Acme", MemoryKind.FACT, given_cues, given_asks)
    assert enriched.cues == (*given_cues, "The user's employer")
    assert (enriched.asks, enriched.added_asks) == (given_asks, 0)
    full = enrich("Works at Acme", MemoryKind.FACT, ("a", "b", "c"), ("d?", "e?", "f?", "g?"))
    assert (full.cues, full.asks, full.sources) == (("a", "b", "c"), ("d?", "e?", "f?", "g?"), ())


@pytest.mark.parametrize(
    "text",
    [
        "My son Jonas is allergic to peanuts and cashews.",
        "My daughter Mia plays the cello on Tuesdays.",
        "We no longer use Redis.",
        "I used to live in Rome.",
        "We don't use Kubernetes any more.",
        "We stopped using Redis.",
        "My wife Noor is vegetarian.",
        "Our event bus was Kafka until last year.",
    ],
)
def test_what_is_said_of_others_denied_or_past_gets_no_question_and_no_heading_of_the_user(text: str) -> None:
    enriched = enrich(text, MemoryKind.FACT)
    assert enriched.asks == ()
    assert not any("user" in cue for cue in enriched.cues)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Avoids leather", MemoryKind.PREFERENCE),
        ("Alice works at Acme", MemoryKind.FACT),
        ("The logs are JSON over HTTP", MemoryKind.CONVENTION),
        ("Works at Acme", MemoryKind.NOTE),
        ("Ich arbeite seit gestern mit Kubernetes und das ist auch gut so", MemoryKind.FACT),
        ("Svelte, Vite, Playwright and Prisma are all in the list", MemoryKind.FACT),
    ],
)
def test_what_matches_nothing_is_a_note_or_not_english_gets_nothing(text: str, kind: MemoryKind) -> None:
    enriched = enrich(text, kind)
    assert (enriched.cues, enriched.asks, enriched.added_cues, enriched.added_asks) == ((), (), 0, 0)


@given(st.text(max_size=200), st.sampled_from(MemoryKind), SHORT_TEXTS, SHORT_TEXTS)
def test_additions_follow_what_was_given_and_keep_the_limits(
    text: str, kind: MemoryKind, cues: list[str], asks: list[str]
) -> None:
    enriched = enrich(text, kind, cues, asks)
    assert enriched.cues[: len(cues)] == tuple(cues)
    assert enriched.asks[: len(asks)] == tuple(asks)
    assert enriched.added_cues == len(enriched.cues) - len(cues)
    assert enriched.added_asks == len(enriched.asks) - len(asks)
    assert len(enriched.cues) <= CUES_MAX
    assert len(enriched.asks) <= ASKS_MAX
    assert all(len(cue) <= CUE_CHARS_MAX for cue in enriched.cues[len(cues) :])


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.parent.name)
def test_few_records_of_the_written_sources_are_changed(path: Path) -> None:
    records = [msgspec.json.decode(line, type=Record) for line in path.read_bytes().splitlines()]
    changed = [record for record in records if enrich(record.text, record.kind).added_asks]
    assert len(changed) <= len(records) // 10
