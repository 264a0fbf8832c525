"""Between nominating and judging: which candidates the query names by their subject."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.actors.recall.subject_memo import SubjectMemo
from recalld.actors.text_work import TextWork
from recalld.models.domain.recall import Candidate
from recalld.models.policy.mentions import mentions
from recalld.models.policy.subjects import QueryWords


async def with_mentions(
    candidates: Sequence[Candidate], text: str, *, memo: SubjectMemo, text_work: TextWork
) -> tuple[Candidate, ...]:
    """The candidates with `Evidence.mention` filled in, order kept.

    Args:
        candidates: Everything that was nominated: how many of them hold a subject decides what it is worth.
        text: The user's own words.
        memo: Knows the subjects of memories seen before.
        text_work: Reads the others, and a long text.
    """
    if not candidates:
        return ()
    subjects = await memo.learn([candidate.memory for candidate in candidates], text_work)
    named = await text_work.run(lambda: mentions(QueryWords(text), subjects), chars=len(text))
    return tuple(
        msgspec.structs.replace(
            candidate, evidence=msgspec.structs.replace(candidate.evidence, mention=named[candidate.memory.id])
        )
        for candidate in candidates
    )
