"""The local judge at work: embeds the sentences of a turn and applies its calibration record.

Fails: towards nothing found. An embedder that is down, slow or another one than the record was fitted for costs what
the judge would have found, and nothing else.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from recalld.actors.embedder import EmbedderMessage, EmbedText, EmbedTexts, TextsEmbedded
from recalld.actors.kernel import Address, AskError
from recalld.actors.text_work import TextWork
from recalld.models.domain.facts import FactCandidate
from recalld.models.policy.judge.find import JudgeTexts, JudgeThresholds, judge_sentences, judge_texts
from recalld.models.policy.judge.model import Judge
from recalld.models.policy.save_turn import SaveTurn

ANSWER_GRACE_S = 0.005
"""What the embedder is given beyond its own deadline for its answer to travel back."""


class EmbeddingJudge:
    """Finds facts in sentences by their embedding; a `SentenceJudge`.

    Args:
        embedder: Makes the vectors.
        text_work: Where texts are read.
        judge: The model.
        thresholds: What counts as a find.
        embedder_key: What the model was fitted with.
        record_id: Names the calibration record in the ledger.
    """

    def __init__(
        self,
        *,
        embedder: Address[EmbedderMessage],
        text_work: TextWork,
        judge: Judge,
        thresholds: JudgeThresholds,
        embedder_key: str,
        record_id: str,
    ) -> None:
        self._embedder = embedder
        self._text_work = text_work
        self._judge = judge
        self._thresholds = thresholds
        self._embedder_key = embedder_key
        self._record_id = record_id

    async def judge(self, turn: SaveTurn, *, user: str, deadline_s: float) -> tuple[FactCandidate, ...]:
        """See `SentenceJudge.judge`."""
        texts = await self._text_work.run(partial(judge_texts, turn), chars=len(turn.text))
        vectors = await self._embed(texts, user, deadline_s)
        if not vectors:
            return ()
        work = partial(judge_sentences, turn, vectors, self._judge, self._thresholds, texts=texts, rule=self._record_id)
        return await self._text_work.run(work, chars=len(turn.text))

    async def _embed(self, texts: JudgeTexts, user: str, deadline_s: float) -> tuple[NDArray[np.float32], ...]:
        """The vectors of all texts in order; none where one is missing."""
        if not texts.segments:
            return ()
        try:
            embedded: TextsEmbedded = await self._embedder.ask(
                lambda reply: EmbedTexts(
                    texts=tuple(EmbedText(text=text, is_query=False) for text in texts.texts),
                    deadline_s=deadline_s,
                    owner=user,
                    reply=reply,
                ),
                deadline_s=deadline_s + ANSWER_GRACE_S,
            )
        except AskError:
            return ()
        if embedded.failure is not None or embedded.embedder_key != self._embedder_key:
            return ()
        vectors = tuple(vector for vector in embedded.vectors if vector is not None)
        return vectors if len(vectors) == len(texts.texts) else ()
