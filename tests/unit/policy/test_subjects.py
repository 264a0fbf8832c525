from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.records import MemoryKind
from recalld.models.policy.gazetteer import gazetteer
from recalld.models.policy.subjects import (
    MENTION_GENERAL,
    MENTION_NEAR,
    MENTION_WHOLE,
    SUBJECTS_MAX,
    QueryWords,
    holders,
    is_rejected,
    mention,
    subjects_in,
)


def named(query: str, text: str, *cues: str, kind: MemoryKind = MemoryKind.CONVENTION) -> float:
    return mention(QueryWords(query), subjects_in(text, kind, cues))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("how should I lay out the SvelteJS routes here?", "Web client is Svelte 5 with Vite and Playwright"),
        ("k8s?", "Deploys services to a Kubernetes cluster"),
        ("should I write a Jenkinsfile?", "CI moved from Jenkins to Buildkite"),
        ("tune POSTGRES for me", "The database is PostgreSQL 16"),
    ],
)
def test_a_well_known_name_is_mentioned_in_any_of_its_spellings(query: str, text: str) -> None:
    assert named(query, text) == MENTION_WHOLE


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("how do I test a Go service", "Backend code is in Go"),
        ("add a RUST crate", "The CLI project is in Rust"),
        ("reverse a list in python3", "Python projects use uv"),
        ("which Fedora release is it", "Runs Fedora"),
    ],
)
def test_a_language_or_the_like_is_mentioned_in_general(query: str, text: str) -> None:
    assert named(query, text) == MENTION_GENERAL


def test_one_letter_wrong_is_forgiven_in_a_long_name_only() -> None:
    assert named("Postgress tuning", "The database is Postgres") == MENTION_NEAR
    assert named("kuberntes upgrade", "Runs on Kubernetes") == MENTION_NEAR
    assert named("Kubernteesss upgrade", "Runs on Kubernetes") == 0.0
    assert named("a jack of all trades", "Runs on the JAX framework") == 0.0


@pytest.mark.parametrize(
    ("query", "text", "cue"),
    [
        ("which port is it", "The transport layer", "transport"),
        ("let's go home", "Backend code is in Go", ""),
        ("which woodpeckers live in Europe?", "CI moved to Woodpecker", ""),
        ("what are our GPU benchmark numbers for the H100 boxes?", "Four racks, two rows", "GPU rack layout"),
        ("what is a good layout for a poster?", "Four racks, two rows", "GPU rack layout"),
    ],
)
def test_a_part_of_a_word_a_homonym_or_one_word_of_a_heading_is_no_mention(query: str, text: str, cue: str) -> None:
    assert named(query, text, *([cue] if cue else [])) == 0.0


@pytest.mark.parametrize("query", ["rotate auth_token", "rotate the auth tokens", "AUTH-TOKEN expired"])
def test_an_identifier_counts_by_its_parts_and_a_heading_by_its_inflections(query: str) -> None:
    assert named(query, "It lives for a day", "auth token") == MENTION_WHOLE


def test_an_entity_is_known_by_the_name_at_its_head_and_by_abbreviations_in_its_cues() -> None:
    text = "holdq: reservation queue service"
    assert named("restart holdq", text, kind=MemoryKind.ENTITY) == MENTION_WHOLE
    assert named("restart holdq", text, kind=MemoryKind.NOTE) == 0.0
    assert named("when is the SEM free?", "In the basement", "scanning electron microscope (SEM)") == MENTION_WHOLE
    assert named("call the customer", "In Kaltenröth", "Brennhofer Pumpen GmbH (customer)") == 0.0


@pytest.mark.parametrize(
    ("text", "name", "rejected"),
    [
        ("CI moved from Jenkins to Buildkite", "Jenkins", True),
        ("CI moved from Jenkins to Buildkite", "Buildkite", False),
        ("Buildkite instead of Jenkins", "Jenkins", True),
        ("OpenTofu replaces Terraform", "Terraform", True),
        ("We are no longer on Snowflake", "Snowflake", True),
        ("Fully migrating to GCP from AWS", "Amazon Web Services", True),
        ("A dump from Postgres", "PostgreSQL", False),
    ],
)
def test_what_a_text_replaces_or_rejects_is_told_apart(text: str, name: str, *, rejected: bool) -> None:
    (sighting,) = [each for each in gazetteer().find(text) if each.entry.name == name]
    assert is_rejected(text, sighting) is rejected


def test_what_is_replaced_is_a_subject_of_its_replacement_and_marked() -> None:
    subjects = subjects_in("CI moved from Jenkins to Buildkite", MemoryKind.CONVENTION, ())
    assert {each.words[0]: each.is_rejected for each in subjects} == {
        "jenkins": True,
        "jenkinsfile": True,
        "buildkite": False,
    }


def test_holders_counts_records_and_not_spellings() -> None:
    first = subjects_in("Postgres, psql and Postgres", MemoryKind.FACT, ())
    second = subjects_in("The database is MySQL", MemoryKind.FACT, ())
    counts = holders({"a": first, "b": first, "c": second})
    assert counts["postgresql",] == 2
    assert counts["mysql",] == 1


@given(st.text(max_size=200), st.text(max_size=60), st.text(max_size=200), st.sampled_from(MemoryKind))
def test_any_text_has_bounded_subjects_and_a_mention_between_nothing_and_whole(
    text: str, cue: str, query: str, kind: MemoryKind
) -> None:
    subjects = subjects_in(text, kind, (cue,))
    assert len(subjects) <= SUBJECTS_MAX
    assert mention(QueryWords(query), subjects) in {0.0, MENTION_GENERAL, MENTION_NEAR, MENTION_WHOLE}
