"""A value no daemon would take is refused by the name of its option, with what is wrong and what to do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_in_daemon import Run, StandIn

from recalld.daemon.cli import parameters
from recalld.protocol import fields

LONG = "x" * 300


@pytest.mark.parametrize("option", ["--user", "--socket", "--config", "--cursor"])
@pytest.mark.parametrize("command", ["list"])
def test_an_empty_value_is_refused_and_never_taken_for_the_default(
    daemon: StandIn, run: Run, command: str, option: str
) -> None:
    ended = run(command, option, "")
    assert ended.code == 64
    assert ended.err.startswith(f"recalld: {option}: is empty; ")
    assert daemon.seen == []


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("serve", "--data-dir", ""), "--data-dir"),
        (("doctor", "--model-dir", ""), "--model-dir"),
        (("models", "list", "--model-dir", ""), "--model-dir"),
        (("models", "import", ""), "FILE"),
        (("events", "--user", ""), "--user"),
        (("forget", ""), "IDS"),
        (("forget", "mem_1", ""), "IDS"),
        (("forget", "--query", ""), "--query"),
        (("explain", ""), "ID"),
        (("get", ""), "ID"),
        (("remember", "x", "--cue", ""), "--cue"),
        (("remember", "x", "--ask", ""), "--ask"),
        (("remember", "x", "--expires-at", ""), "--expires-at"),
        (("remember", "x", "--time-zone", ""), "--time-zone"),
    ],
)
def test_nothing_is_not_a_value_of_any_option_or_argument_that_names_something(
    run: Run, arguments: tuple[str, ...], name: str
) -> None:
    ended = run(*arguments)
    assert ended.code == 64
    assert ended.err.startswith(f"recalld: {name}: is empty; ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("list", "--user", LONG), "--user: has 300 characters; shorten it to 256."),
        (("list", "--user", "é" * 200), "--user: has 400 bytes; shorten it to 256."),
        (("list", "--scope", LONG), "--scope: has 300 characters; shorten it to 256."),
        (("list", "--scope", "  "), "--scope: is blank; "),
        (("list", "--contains", "x" * 1_001), "--contains: has 1001 characters; shorten it to 1000."),
        (("recall", "x", "--session", LONG), "--session: has 300 characters; shorten it to 256."),
        (("remember", "x", "--cue", "x" * 200), "--cue: has 200 characters; shorten it to 120."),
        (("remember", "x", "--ask", LONG), "--ask: has 300 characters; shorten it to 240."),
        (("remember", "x", "--cue", "\udcff"), "--cue: is not valid UTF-8; write it in UTF-8."),
        (("forget", LONG), "IDS: has 300 characters; shorten it to 64."),
        (("list", "--limit", "abc"), "--limit: 'abc' is not a whole number; give one from 1 to 100."),
        (("list", "--limit", "1000"), "--limit: '1000' is out of range; give one from 1 to 100."),
        (("recall", "x", "--budget-ms", "0"), "--budget-ms: '0' is out of range; give one from 1 to 60000."),
        (("events", "--count", "0"), "--count: '0' is out of range; give 1 or more."),
        (("events", "--timeout", "soon"), "--timeout: 'soon' is not a number of seconds above 0; "),
        (("events", "--timeout", "inf"), "--timeout: 'inf' is not a number of seconds above 0; "),
        (("remember", "x", "--expires-at", "9" * 20), "--expires-at: 99999999999999999999 milliseconds lie beyond"),
        (("remember", "x", "--expires-at", "9" * 65), "--expires-at: has 65 characters; shorten it to 64."),
    ],
)
def test_every_refusal_names_option_fault_and_remedy(
    daemon: StandIn, run: Run, arguments: tuple[str, ...], said: str
) -> None:
    ended = run(*arguments)
    assert ended.code == 64
    assert ended.err.startswith(f"recalld: {said}")
    assert ended.err.count("\n") == 1
    assert daemon.seen == []


@pytest.mark.parametrize(("value", "fault"), [(" ", "is blank"), ("x" * 257, "has 257 characters")])
def test_a_user_from_the_environment_is_held_to_the_same_rule(
    run: Run, monkeypatch: pytest.MonkeyPatch, value: str, fault: str
) -> None:
    monkeypatch.setenv("RECALLD_USER", value)
    ended = run("list")
    assert ended.code == 64
    assert ended.err.startswith(f"recalld: RECALLD_USER: {fault}")


@given(st.text(max_size=fields.CUE_CHARS_MAX + 20))
def test_what_a_rule_lets_through_fits_the_protocol(value: str) -> None:
    if not parameters.CUE.problem(value):
        assert 0 < len(value) <= fields.CUE_CHARS_MAX
        assert value.strip()
        value.encode()
