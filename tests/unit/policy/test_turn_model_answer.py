from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.reply_json import BROKEN_MAX
from recalld.models.policy.turn.model_answer import (
    ANSWER_CHARS_MAX,
    QUERY_CHARS_MAX,
    REASON_CHARS_MAX,
    AnswerFault,
    ModelAnswer,
    ModelAnswerError,
    parse_model_answer,
)

PLAIN = '{"run": true, "query": "dog\'s name", "reason": "asks for a fact"}'


def fault_of(text: str, *, was_truncated: bool = False) -> AnswerFault:
    answer = parse_model_answer(text, was_truncated=was_truncated)
    assert isinstance(answer, ModelAnswerError), answer
    assert answer.detail
    return answer.fault


def answer_to(text: str) -> ModelAnswer:
    answer = parse_model_answer(text, was_truncated=False)
    assert isinstance(answer, ModelAnswer), answer
    return answer


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"Sure! Here it is:\n{PLAIN}\nAnything else?",
        f"```json\n{PLAIN}\n```",
        f"<think>The user asks about a dog, so {{hm}}.</think>\n{PLAIN}",
        f"<think>I would answer {PLAIN}</think>",
        f'<think>First I thought {{"run": false}}, but no.</think>{PLAIN}',
        f"It's a {{placeholder}} and a {{ brace: {PLAIN}",
        f'{{"confidence": 0.9}}\n{PLAIN}\n{{"done": true}}',
        f'{{"run": false, {PLAIN}',
        f'{{"half a sentence" is no JSON}} {PLAIN}',
        f'{{"run": NaN}} {PLAIN}',
        f'{{"run": false, "note": "\ud800"}} {PLAIN}',
        f"{{}} {PLAIN}",
        '{\n  "run" : "True",\n  "query": "dog\'s name",\n  "reason": "asks for a fact"\n}',
        '{"run": " true ", "query": " dog\'s name ", "reason": "asks for a fact"}',
        '{"reason": "asks for a fact", "query": "dog\'s name", "run": true, "more": {"run": false}}',
    ],
)
def test_the_answer_is_found_inside_whatever_surrounds_it(text: str) -> None:
    assert answer_to(text) == ModelAnswer(run=True, query="dog's name", reason="asks for a fact")


@pytest.mark.parametrize("text", ['{"run": false}', '{"run": "false"}', '{"run": "FALSE", "query": "x"}'])
def test_a_no_may_be_a_boolean_or_its_name(text: str) -> None:
    assert not answer_to(text).run


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", AnswerFault.UNREADABLE),
        ("No memory is needed.", AnswerFault.UNREADABLE),
        ("true", AnswerFault.UNREADABLE),
        ('[{"run": tru', AnswerFault.UNREADABLE),
        ('{"run": true', AnswerFault.UNREADABLE),
        ('{"run": true, "example": {"run": false}', AnswerFault.UNREADABLE),
        ("{'run': true}", AnswerFault.UNREADABLE),
        ("{}", AnswerFault.NO_DECISION),
        ('{"query": "dog"}', AnswerFault.NO_DECISION),
        ('{"Run": true}', AnswerFault.NO_DECISION),
        ('{"answer": {"run": true}}', AnswerFault.NO_DECISION),
        ('{"run": null}', AnswerFault.NO_DECISION),
        ('{"run": true} {"run": null}', AnswerFault.NO_DECISION),
        ('{"run": 1}', AnswerFault.DECISION_NOT_BOOLEAN),
        ('{"run": 0.0}', AnswerFault.DECISION_NOT_BOOLEAN),
        ('{"run": "no"}', AnswerFault.DECISION_NOT_BOOLEAN),
        ('{"run": ""}', AnswerFault.DECISION_NOT_BOOLEAN),
        ('{"run": []}', AnswerFault.DECISION_NOT_BOOLEAN),
        ('{"run": {"value": true}}', AnswerFault.DECISION_NOT_BOOLEAN),
    ],
)
def test_an_unclear_decision_is_an_error_and_never_a_no(text: str, fault: AnswerFault) -> None:
    assert fault_of(text) is fault


def test_a_reply_cut_at_its_token_ceiling_is_an_error_even_if_it_looks_complete() -> None:
    assert fault_of(PLAIN, was_truncated=True) is AnswerFault.TRUNCATED


@pytest.mark.parametrize(
    "query",
    ['""', '" \\n\\u200b"', "null", '"null"', '"None"', "7", '["dog"]', f'"{"x" * (QUERY_CHARS_MAX + 1)}"'],
)
def test_an_unusable_query_leaves_it_to_the_message(query: str) -> None:
    answer = answer_to(f'{{"run": true, "query": {query}}}')
    assert answer.run
    assert answer.query is None


def test_the_longest_query_is_taken_whole_and_a_long_reason_is_cut() -> None:
    query, reason = "q" * QUERY_CHARS_MAX, "r" * (REASON_CHARS_MAX + 1)
    answer = answer_to(f'{{"run": true, "query": "{query}", "reason": "{reason}"}}')
    assert (answer.query, answer.reason) == (query, reason[:-1])


def test_a_reason_that_is_no_text_is_empty() -> None:
    assert answer_to('{"run": true, "reason": 3}').reason == ""


def test_broken_objects_are_put_up_with_up_to_a_cap() -> None:
    assert answer_to('{"draft" ' * BROKEN_MAX + PLAIN).run
    assert fault_of('{"draft" ' * (BROKEN_MAX + 1) + PLAIN) is AnswerFault.UNREADABLE


def test_the_size_is_capped() -> None:
    padding = " " * (ANSWER_CHARS_MAX - len(PLAIN))
    assert answer_to(padding + PLAIN).run
    assert fault_of(padding + " " + PLAIN) is AnswerFault.TOO_LONG


@pytest.mark.parametrize(
    "hostile",
    [
        '{"a":' * (ANSWER_CHARS_MAX // 6),
        '{"a":' + "9" * 5_000 + "}",
    ],
    ids=["nested", "digits"],
)
def test_what_cannot_be_read_at_all_is_an_error(hostile: str) -> None:
    assert fault_of(hostile + PLAIN) is AnswerFault.UNREADABLE


@pytest.mark.parametrize(
    "unit", ["{", "{ ", '{"', '{"\\', '{"a', '{"a": ', '{"a": "', '{"a": 1}', '"{', "{}", '{"run": ']
)
def test_a_hostile_reply_is_read_without_quadratic_work(unit: str) -> None:
    # Linear work on the longest reply takes milliseconds; quadratic work would take minutes.
    parse_model_answer(unit * (ANSWER_CHARS_MAX // len(unit)), was_truncated=False)


pieces = st.sampled_from(
    ["{", "}", '"run"', ":", "true", "false", "null", ",", '"query"', '"', "\\", "<think>", "```", " ", "x", "\ud800"]
)


@given(st.one_of(st.text(st.characters(), max_size=100), st.lists(pieces, max_size=30).map("".join)))
def test_any_reply_gets_an_answer_or_an_error(text: str) -> None:
    answer = parse_model_answer(text, was_truncated=False)
    if isinstance(answer, ModelAnswer):
        assert '"run"' in text or "\\u" in text
        assert answer.query is None or answer.query.strip()


@given(
    st.text(st.characters(exclude_characters='{"'), max_size=50),
    st.text(st.characters(exclude_characters="{"), max_size=50),
)
def test_prose_around_an_answer_never_changes_it(before: str, after: str) -> None:
    assert answer_to(before + PLAIN + after) == answer_to(PLAIN)
