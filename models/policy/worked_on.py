"""How far the words reach that a user gives to be worked on, as in "Correct my English: …".

Guards: sentences to translate or correct from being taken for the user's, and what the user says behind them from being
lost. Cost: a look at one paragraph. Fails: closed, to the end of the paragraph, or of the turn where nothing but the
request stands in that.
"""

from __future__ import annotations

from recalld.models.policy.protected_spans import MASK
from recalld.models.policy.save_turn import SaveTurn


def worked_on_end(turn: SaveTurn, position: int) -> int:
    """Where the words end that are to be reworked.

    That is with the sentence that quotes them, with the paragraph, or with the turn where the request fills its
    paragraph.

    Args:
        turn: The user's own words.
        position: Where the request's own phrase ends.
    """
    sentence_end, paragraph_end = turn.sentence_end(position - 1), turn.paragraph_end(position)
    if MASK in turn.masked[position:sentence_end]:
        return sentence_end
    has_words = sentence_end < paragraph_end or ":" in turn.masked[position:sentence_end].rstrip().rstrip(":")
    return paragraph_end if has_words else len(turn.text)
