from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.person import to_first_person, to_third_person


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What do I prefer?", "What does the user prefer?"),
        ("I am vegetarian", "The user is vegetarian"),
        ("am I vegan?", "is the user vegan?"),
        ("Am I vegan?", "Is the user vegan?"),
        ("I'm vegan", "The user is vegan"),
        ("I\u2019ve moved", "The user has moved"),
        ("so I'd like tea", "so the user would like tea"),
        ("so I'd better go", "so the user had better go"),
        ("then I'll go", "then the user will go"),
        ("what's my name?", "what's the user's name?"),
        ("My name", "The user's name"),
        ("is it mine?", "is it the user's?"),
        ("Mine is red", "The user's is red"),
        ("tell me about me", "tell the user about the user"),
        ("what about myself", "what about themselves"),
        ("i like tabs", "the user likes tabs"),
        ("im happy", "the user is happy"),
        ("should I use tabs?", "should the user use tabs?"),
        ("where do I work?", "where does the user work?"),
        ("where I work", "where the user works"),
        ("I always use tabs", "The user always uses tabs"),
        ("which do I usually buy", "which does the user usually buy"),
        ("I don't eat meat", "The user doesn't eat meat"),
        ("why don't I sleep", "why doesn't the user sleep"),
        ("have I said", "has the user said"),
        ("I have a cat and I study", "The user has a cat and the user studies"),
        ("what I watch and go", "what the user watches and go"),
        ("I can swim", "The user can swim"),
        ("I moved", "The user moved"),
        ("She and I.", "She and the user."),
        ("Which type I prefer", "Which type the user prefers"),
    ],
)
def test_the_first_person_becomes_the_user(query: str, expected: str) -> None:
    assert to_third_person(query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "I/O error",
        "Type I error",
        "World War I ended",
        "for i in range(3)",
        "is i in the list",
        "i.e. this",
        "i18n and i7",
        "I-95 north",
        "a gold mine",
        "mine",
        "`my` variable",
        "```\nI am code\n```",
        'he said "I am king"',
        "she said \u201cmy way\u201d",
        "he said 'I am king'",
        "my_var and my-app and MySQL",
        "src/my/me.py",
        "our team and we",
        "wo ist mein Auto",
        "",
    ],
)
def test_what_is_no_first_person_stays(query: str) -> None:
    assert to_third_person(query) == query


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("The user prefers tabs", "I prefer tabs"),
        ("The user's name is Ines", "My name is Ines"),
        ("Alice knows the user's name", "Alice knows my name"),
        ("The user is vegan; the user has 2 cats", "I am vegan; I have 2 cats"),
        ("The user doesn't eat meat", "I don't eat meat"),
        ("The user isn't here", "I am not here"),
        ("The user does not fly", "I do not fly"),
        ("The user was born in Lima", "I was born in Lima"),
        ("The user studies law", "I study law"),
        ("The user watches tv", "I watch tv"),
        ("The user lies down", "I lie down"),
        ("The user always goes home", "I always go home"),
        ("The user never pushes on Friday", "I never push on Friday"),
        ("The user moved", "I moved"),
        ("The user can swim", "I can swim"),
        ("Because the user does not read mail", "Because I do not read mail"),
        ("Alice told the user that", "Alice told me that"),
        ("wakes the user at 7", "wakes me at 7"),
        ("For the user.", "For me."),
        ("The user", "I"),
        ("User prefers tea", "I prefer tea"),
    ],
)
def test_the_user_becomes_the_first_person(record: str, expected: str) -> None:
    assert to_first_person(record) == expected


@pytest.mark.parametrize(
    "record",
    [
        "The user interface uses dark mode",
        "User interface is blue",
        "User Alice",
        "the users like it",
        "the user-agent header",
        "the user_id column",
        'Bob wrote "the user is gone"',
        "Their team uses Go",
        "End user licences expire",
        "",
    ],
)
def test_what_is_not_the_user_stays(record: str) -> None:
    assert to_first_person(record) == record


@given(st.text("I'my meu\u2019sr theTi`\"\n.,/", max_size=60))
def test_any_text_is_rewritten_without_failing(text: str) -> None:
    to_third_person(text)
    to_first_person(text)
