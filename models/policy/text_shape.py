"""The shape of a query: how long it is, and in what form it speaks.

Guards: the meaning of a cosine. A short query is nearer to everything than a long one, and a query that opens with a
question word is nearer to every ask, because asks open so as well: neither says that a memory helps. A query that
speaks of the user ("my", "we") asks for what memories are kept for; knowledge of the world and the affairs of others
are asked for without. No threshold on cosines serves all of these, but a head that knows the shape can allow for it.

Cost: one pass over a query of bounded length. Fails: it cannot; of an empty text everything is zero. The word lists are
English, as the models are.
"""

from __future__ import annotations

import re
from typing import Final

from recalld.models.domain.recall import TextShape
from recalld.models.policy import word_lists
from recalld.models.policy.caps import capped

QUERY_CHARS_MAX: Final = 4_096
"""Characters of a query that are looked at: far beyond the length at which `head_inputs.LOG_WORDS_MAX` stops telling
apart."""
_WORD: Final = re.compile(r"[a-z]+")


def text_shape(query: str) -> TextShape:
    """Look at a query: the message, or one clause of it."""
    seen = capped(query, QUERY_CHARS_MAX)
    words = _WORD.findall(seen.lower())
    return TextShape(
        words=len(seen.split()),
        is_question="?" in seen,
        is_open_question=bool(words) and words[0] in word_lists.words("question_words.en.txt"),
        is_personal=not word_lists.words("first_person.en.txt").isdisjoint(words),
    )
