"""What the protocol's page says about long turns is what the code does."""

from __future__ import annotations

from pathlib import Path

from recalld.models.policy.foreign_text import TAGS_MAX
from recalld.models.policy.save_turn import LINES_MAX, SENT_CHARS_MAX, TURN_CHARS_MAX
from recalld.models.policy.statements.find import TEXT_CHARS_MAX
from recalld.models.policy.turn.references import RECENT_CHARS_MAX, RECENT_TURNS_MAX
from recalld.models.policy.turn_cut import READ_CHARS_MAX

PAGE = Path(__file__).parents[3] / "docs" / "protocol.md"


def test_the_documented_lengths_are_those_in_force() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"Of a turn of more than {READ_CHARS_MAX:,} characters" in page
    assert f"the last {RECENT_CHARS_MAX:,} characters count" in page
    assert (RECENT_TURNS_MAX, "last six earlier turns" in page) == (6, True)


def test_the_documented_lengths_of_observed_turns_are_those_in_force() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert (
        f"its head and its tail are read: {SENT_CHARS_MAX:,} characters as it was sent, {TURN_CHARS_MAX:,} characters "
        f"and {LINES_MAX:,} lines of the user's own words, of which the rules read {TEXT_CHARS_MAX:,}, and no more "
        f"than {TAGS_MAX:,} tags."
    ) in page
