from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.turn_parts import MessagePart
from recalld.models.policy.temporal import find_intervals
from recalld.models.policy.turn.directions import GateCause
from recalld.models.policy.turn.model_answer import ModelAnswer
from recalld.models.policy.turn.probe import ProbeResult, TermPostings
from recalld.models.policy.turn.turn_input import NOT_SUPPLIED, NotSupplied, TurnInput
from recalld.models.policy.turn_gate import decide, decide_again

WORDS = ("and", "that", "the", "kettle", "deploy", "again", "it", "yesterday", "`auth_token`", "wie", "plan", "so", "?")
RECENT: tuple[tuple[str, ...] | NotSupplied, ...] = (NOT_SUPPLIED, (), ("I boil the kettle", "Noted."))


def turn(text: str, recent: tuple[str, ...] | NotSupplied, probe: ProbeResult | GateCause | None = None) -> TurnInput:
    return TurnInput(
        parts=(MessagePart(text=text),),
        recent=recent,
        now=datetime(2026, 5, 6, 12, tzinfo=UTC),
        zone=ZoneInfo("UTC"),
        probe=probe,
    )


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join),
    st.sampled_from(RECENT),
    st.sampled_from([(), ("kettle",), ("kettle", "deploy", "plan"), GateCause.TIMEOUT]),
)
def test_to_decide_again_is_to_decide(
    text: str, recent: tuple[str, ...] | NotSupplied, posted: tuple[str, ...] | GateCause
) -> None:
    before = decide(turn(text, recent), find_times=find_intervals)
    if not before.is_open:
        return
    probe = (
        posted
        if isinstance(posted, GateCause)
        else ProbeResult(terms=tuple(TermPostings(term=term, postings=1) for term in posted))
    )
    asked = turn(text, recent, probe)
    assert decide_again(asked, before) == decide(asked, find_times=find_intervals)


@pytest.mark.parametrize("run", [True, False])
def test_a_models_answer_counts_as_it_does_the_first_time(*, run: bool) -> None:
    message = turn("so what is it then, and how does the kettle do?", NOT_SUPPLIED, ProbeResult())
    answer = ModelAnswer(run=run, query="the kettle" if run else None, reason="r")
    before = decide(message, find_times=find_intervals)
    again = decide_again(message, before, model=answer)
    assert again == decide(message, find_times=find_intervals, model=answer)
    assert again.run is run
