"""Sentences that deny, limit, quote, ask or tell of somebody else: nothing of them is stated of the user or the team.

What such a record gets by itself would be found as if it said the opposite, so no cue is better than a false one.
"""

from __future__ import annotations

import pytest

from recalld.models.domain.records import MemoryKind
from recalld.models.policy.enrichment import enrich

DENIED = [
    "We use Redis no more",
    "We use Redis (not any more since May).",
    "The database was Postgres until we left it in May",
    "We don't use Redis anymore",
    "We stopped using Redis last year",
    "Redis is not used here",
    "Redis: removed in v2",
    "We use neither Redis nor Memcached",
    "We never used Docker",
    "Use of Docker is forbidden here",
    "Nobody here uses Vim",
    "We use Kafka no longer",
    "We use Kafka, but not any longer",
    "We used to use Kafka",
    "We use Jenkins (no longer)",
    "We use Jenkins (until last year)",
    "The editor was Emacs until 2019",
    "CI was Jenkins before we left it",
    "We have stopped using Terraform",
    "We gave up on Terraform in spring",
    "Terraform is no longer used",
    "Terraform: retired in 2023",
    "Kubernetes is banned here",
    "Use of Slack is not allowed",
    "No one on the team uses Emacs",
    "None of us uses Docker",
    "We use no Docker",
    "We hardly use Docker",
    "We got rid of Jenkins last year",
    "We decided against Kafka",
    "Kafka was rejected",
    "If only we used Redis",
    "It is false that we use Redis",
]
QUOTED = [
    "From Priya's mail:\nI live in Rome.",
    "Tomas wrote: hello. I work at Google.",
    "Priya said to me; I use Emacs",
    "In my novel the hero lives in Paris. I am a pilot, he says.",
    "Priya's message:\nI am vegetarian.",
    "Marta wrote:\nI live in Lyon.",
    "Ines told us: the deadline is soon. I work at Initech.",
    "Quote from the talk:\nWe use Redis.",
    "> I live in Rome.",
    "In the film a woman moves. I live in Paris, she says.",
    '"I live in Rome," said Priya.',
    "Subject: hello\nFrom: Priya\nI work at Google.",
    "Her manager wrote: we use Redis",
    "I live in Rome, says the sign",
    "Email from Tomas:\nI work at Google",
    "They told me that I work at Google. I use Emacs.",
]
OTHER = [
    "I'm a doctor's assistant's son.",
    "I'm a doctor's son.",
    "I'm a nurse's husband",
    "My birthday is boring.",
    "My birthday is always fun",
    "I'm vegetarian on Fridays only.",
    "I'm vegan only at home",
    "I am vegetarian during Lent",
    "My cat is called Python.",
    "My dog is called Docker",
    "Our cat is called Redis",
]
ASKED = [
    "Do we use Redis",
    "Are we on AWS",
    "Should we use Docker",
    "Why do we use Redis",
    "We might use Redis",
    "We could use Redis one day",
]
STATED = [
    ("We use Redis", "Redis: cache"),
    ("We use Redis for sessions, not for jobs", "Redis: cache"),
    ("We use Redis 7.2.", "Redis: cache"),
    ("Our database is MySQL", "Database: MySQL"),
    ("The database is Postgres 16", "Database: PostgreSQL"),
    ("We use Docker", "Docker"),
    ("CI moved from Jenkins to Buildkite", "CI system: Buildkite"),
    ("CI runs on GitHub Actions", "CI system: GitHub Actions"),
    ("I use Emacs", "Emacs"),
    ("We are on AWS", "Cloud provider: "),
    ("We use Terraform", "Terraform: infrastructure tool"),
    ("I live in Rome.", "Where the user lives"),
    ("I work at Google.", "The user's employer"),
    ("I am a pilot", "The user's job"),
    ("I'm a nurse", "The user's job"),
    ("My birthday is 9 March", "The user's birthday"),
    ("The user is vegetarian", "What the user eats"),
    ("I'm a strict vegan", "What the user eats"),
    ("We use Jira", "Issue tracker: Jira"),
    ("Keeps notes in Obsidian", ": Obsidian"),
    ("The session store is Valkey", "Valkey"),
    ("We use MySQL, no longer Postgres", "MySQL"),
    ("The user said that they live in Berlin; they use Emacs", "Emacs"),
    ("Says so on the door: we use Docker", "Docker"),
    ("The cake is not returned unless Hesper says so, and we use Docker", "Docker"),
    ("Redis is not shared between teams", "Redis"),
    ("Push to GitHub until noon", "GitHub"),
    ("Do it with Terraform", "Terraform"),
    ("When releasing, do it on Kubernetes", "Kubernetes"),
    ("In our game we use Godot", "Godot"),
]


@pytest.mark.parametrize("text", [*DENIED, *QUOTED, *OTHER, *ASKED])
def test_what_is_denied_quoted_limited_or_asked_gets_no_cue_and_no_question(text: str) -> None:
    enriched = enrich(text, MemoryKind.FACT)
    assert (enriched.cues, enriched.asks) == ((), ())


@pytest.mark.parametrize(("text", "cue"), STATED)
def test_what_is_stated_still_gets_its_heading(text: str, cue: str) -> None:
    assert any(cue in each for each in enrich(text, MemoryKind.FACT).cues)


@pytest.mark.parametrize("text", ["Our database isn't Postgres but MySQL", "Our database is MySQL, not Postgres"])
def test_only_what_is_used_becomes_the_heading(text: str) -> None:
    headings = enrich(text, MemoryKind.FACT).cues
    assert not any("Postgre" in each for each in headings)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("We use Terraform", "tf cloud"),
        ("The database is Postgres", "psql"),
        ("We use Redis", "redis-cli"),
        ("We use MySQL", "mysqldump"),
        ("We deploy to Kubernetes", "kubectl"),
        ("We use SQLite", "sqlite-utils"),
    ],
)
def test_a_tool_of_a_thing_is_not_shown_as_its_name(text: str, tool: str) -> None:
    cues = enrich(text, MemoryKind.FACT).cues
    assert cues
    assert not any(f"({tool})" in each for each in cues)
