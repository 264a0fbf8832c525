"""Quotations: pasted mail, logs, documents, code, and what stands in quotation marks.

Guards: the store against other people's words inside the user's message. Cost: a look at the quote's characters. Fails:
closed, but only for what is mostly quoted: the user's own sentence may quote a word ("stop opening with "Great
question"").
"""

from __future__ import annotations

from typing import Final

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.admission.quoted_words import find_literally
from recalld.models.policy.protected_spans import MASK

MASKED_SHARE_MAX: Final = 0.5
"""Share of a quote's characters inside quotation marks or code from which on it is not the user's own."""
OWN_WORDS_MIN: Final = 3
"""Words beside the quoted ones that make it the user's own sentence about them: "we keep it in `infra/main.tf`"."""
ANSWER_WORDS_MIN: Final = 4
"""Words of a quote from which on finding it in the assistant's answer means that it was copied from there."""


def find_quotation(scene: Scene) -> Finding | None:
    """`quotation` for what is foreign text, mostly quoted, or copied from the assistant's last answer."""
    turn = scene.context.turn
    masked = turn.masked[scene.start : scene.end]
    is_foreign = turn.foreign.hold(scene.start) or turn.foreign.cut_into(scene.start, scene.end)
    if is_foreign or _is_mostly_quoted(masked):
        return Finding(reason=AdmissionReason.QUOTATION)
    quote = turn.text[scene.start : scene.end]
    is_long = len(quote.split()) >= ANSWER_WORDS_MIN
    if is_long and find_literally(quote, scene.context.previous_answer) is not None:
        return Finding(reason=AdmissionReason.QUOTATION)
    return None


def _is_mostly_quoted(masked: str) -> bool:
    own_words = masked.replace(MASK, " ").split()
    return masked.count(MASK) > MASKED_SHARE_MAX * len(masked) and len(own_words) < OWN_WORDS_MIN
