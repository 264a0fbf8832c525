"""Who wrote each cue and ask of a memory, and which of them make room for others.

Guards: that what a person gives always finds room, although slots and lent models write cues and asks as well.
Cost: a few comparisons per change. Fails: towards "given", which is displaced by nothing.

Origins stand beside the texts, one for each; none at all says that all were given.
"""

from __future__ import annotations

from collections.abc import Sequence

from recalld.models.domain.records import TextOrigin
from recalld.models.policy.duplicates import fold

_YIELDS_FIRST = (TextOrigin.RULE, TextOrigin.MODEL)
"""What makes room, in this order: a lent model has read the memory, a rule only recognised it."""


def normal(origins: Sequence[TextOrigin]) -> tuple[TextOrigin, ...]:
    """Origins as they are kept: none at all where everything was given."""
    return () if all(origin is TextOrigin.GIVEN for origin in origins) else tuple(origins)


def added_by_rules(count: int, added: int) -> tuple[TextOrigin, ...]:
    """Origins of `count` texts of which the last `added` come from slots and the gazetteer."""
    return normal((TextOrigin.GIVEN,) * (count - added) + (TextOrigin.RULE,) * added)


def origin_at(origins: Sequence[TextOrigin], place: int) -> TextOrigin:
    """Of the text at a place."""
    return origins[place] if place < len(origins) else TextOrigin.GIVEN


def origins_after(
    after: Sequence[str], before: Sequence[str], origins: Sequence[TextOrigin], new: TextOrigin
) -> tuple[TextOrigin, ...]:
    """Origins after a change: a text that stays keeps its own.

    Args:
        after: The texts now.
        before: The texts before.
        origins: Of the texts before.
        new: Of texts that were not there before.
    """
    known = {text: origin_at(origins, place) for place, text in enumerate(before)}
    return normal([known.get(text, new) for text in after])


def joined(
    present: Sequence[str], origins: Sequence[TextOrigin], more: Sequence[str], count_max: int, *, by: TextOrigin
) -> tuple[str, ...]:
    """Present texts and new ones; while they are too many, the last of those that yield goes.

    Of a rule's texts first, then of a lent model's, but only for what comes from neither. Texts that say the same words
    count once. What was given stays, so the result may still be longer than `count_max`.

    Args:
        present: What the memory has.
        origins: Of these.
        more: What is to come behind them.
        count_max: How many there may be.
        by: Where the new ones come from.
    """
    distinct: dict[str, tuple[str, TextOrigin]] = {}
    for place, text in enumerate(present):
        distinct.setdefault(fold(text), (text, origin_at(origins, place)))
    for text in more:
        distinct.setdefault(fold(text), (text, TextOrigin.GIVEN))
    kept = list(distinct.values())
    for yielding in _YIELDS_FIRST:
        if yielding is by:
            break
        for entry in [each for each in reversed(kept) if each[1] is yielding]:
            if len(kept) > count_max:
                kept.remove(entry)
    return tuple(text for text, _ in kept)
