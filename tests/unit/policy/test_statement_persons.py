"""Of whom a statement speaks: "you" is the assistant, "we" at work the team, and a remark or a request is no fact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.assistant_person import to_assistant
from recalld.models.policy.statements.wording import instruction
from recalld.models.policy.team_person import to_team


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ask before you delete anything", "ask before it deletes anything"),
        ("keep your answers in one paragraph", "keep its answers in one paragraph"),
        ("date the documents you write for them", "date the documents it writes for them"),
        ("say so when you're unsure", "say so when it is unsure"),
        ("say so when you don't know", "say so when it doesn't know"),
        ("tell them which file you always modify first", "tell them which file it always modifies first"),
        ("say so if you can help it", "say so if it can help it"),
        ("keep what somebody sends you", "keep what somebody sends it"),
        ("check what they ask you for", "check what they ask it for"),
        ("quote `you write` as it is", "quote `you write` as it is"),
        ("read the youth page", "read the youth page"),
        ("repeat yourself never", "repeat itself never"),
    ],
)
def test_what_is_told_to_the_assistant_is_said_of_it(said: str, told: str) -> None:
    assert to_assistant(said) == told


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("Close letters with my initials, I hope that works", "close letters with the user's initials"),
        ("use tabs, since I hate spaces", "use tabs"),
        ("Ask me, and I mean every time", "ask the user, and the user means every time"),
    ],
)
def test_a_remark_behind_an_order_is_no_part_of_it(said: str, statement: str) -> None:
    assert instruction(said) == statement


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("We deploy with Helm from our laptops", "the user's team deploys with Helm from their laptops"),
        ("we're on Terraform", "the user's team is on Terraform"),
        ("We don't review on Fridays", "the user's team doesn't review on Fridays"),
        ("We always pair on migrations", "the user's team always pairs on migrations"),
        ("We moved the builds, they fit us", "the user's team moved the builds, they fit them"),
        ("Our sprints last two weeks", "the user's team's sprints last two weeks"),
        ("We have three cats", "We have three cats"),
        ("Our garden faces south", "Our garden faces south"),
        ("I deploy with Helm", "I deploy with Helm"),
        ("We commit `we are here` first", "the user's team commits `we are here` first"),
        ("Our servers in the US build it", "the user's team's servers in the US build it"),
    ],
)
def test_we_at_work_is_the_team_and_at_home_stays_we(said: str, told: str) -> None:
    assert to_team(said) == told


@given(st.text(st.sampled_from("yowe ur'`\"deploy you we our I,.\n"), max_size=60))
def test_any_text_can_be_said_of_another_person(text: str) -> None:
    for each in (to_assistant(text), to_team(text), instruction(text)):
        assert isinstance(each, str)
