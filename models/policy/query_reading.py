"""Everything a recall takes from the words of its turn, in one pass before anything is searched.

Guards: the others' time. For a pasted text this is most of a recall's work, so it is one function of the text alone,
which can run wherever it holds up nobody.
Cost: 0.3 ms for an ordinary turn, up to about 100 ms for a hostile one of the greatest length.
"""

from __future__ import annotations

import msgspec

from recalld.models.domain.reasons import RecallReason
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.exclusions import own_text_of
from recalld.models.policy.language import is_english
from recalld.models.policy.terms import query_terms
from recalld.models.policy.turn_gate import decide_turn
from recalld.models.policy.visible import has_searchable


class QueryReading(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn says.

    Attributes:
        skip: Why there is nothing to search for; then the rest is empty. None: search.
        text: The user's own words, host text removed and apostrophes straight.
        terms: Their searchable terms.
        is_english: Whether the relevance models can read them.
        own_text: The words folded, to be compared with memories that only say the same; empty in a search on purpose,
            which wants to find those too.
    """

    skip: RecallReason | None = None
    text: str = ""
    terms: tuple[str, ...] = ()
    is_english: bool = True
    own_text: str = ""


def read_query(text: str, *, is_search: bool) -> QueryReading:
    """Read a turn.

    Args:
        text: As the runtime sent it.
        is_search: Whether the user asked to look something up: then whatever can be searched for is.
    """
    turn = decide_turn(text)
    if turn.reason is not None and not is_search:
        return QueryReading(skip=turn.reason)
    own = straight_apostrophes(turn.user_text or text)
    if not has_searchable(own):
        # Not even a search on purpose has anything to go by: what is near to punctuation is near to everything.
        return QueryReading(skip=RecallReason.NO_SEARCHABLE_TERMS)
    return QueryReading(
        text=own,
        terms=tuple(query_terms(own)),
        is_english=is_english(own),
        own_text="" if is_search else own_text_of(own),
    )
