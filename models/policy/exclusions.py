"""What a recall leaves out whatever its relevance: not live, out of scope, excluded, visible, the asker's own words."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import Candidate, DroppedItem, RecallQuery
from recalld.models.domain.records import MEMORY_CHARS_MAX, Memory
from recalld.models.policy.duplicates import fold

LENGTH_RATIO_MAX = 6
"""Folding makes a text at most this many times longer: twice by compatibility forms, three times by case folding."""
OWN_CHARS_MAX = 2 * MEMORY_CHARS_MAX
"""A longer text is nobody's memory: typed with white space or accents of its own, one may be twice as long."""
FOLDED_AWAY_CHARS_MAX = 32
"""White space, quotes and stops around a text, which folding takes away."""


class ExclusionRules(msgspec.Struct, frozen=True, kw_only=True):
    """What one recall excludes."""

    visible: frozenset[str]
    """Ids of what this session has been given already and still sees."""
    excluded: frozenset[str]
    """Ids that the caller named."""
    own_text: str
    """The query, folded; empty when it folds to nothing."""
    scope: str | None
    """None: every scope."""
    now_ms: int


class ExclusionSplit(msgspec.Struct, frozen=True, kw_only=True):
    """What is left, order kept, and what was left out with its reason."""

    kept: tuple[Candidate, ...]
    dropped: tuple[DroppedItem, ...]


def exclusion_rules(
    query: RecallQuery, *, visible: frozenset[str], now_ms: int, own_text: str | None = None
) -> ExclusionRules:
    """The rules of one recall.

    Args:
        query: The request.
        visible: Ids that its session still sees.
        now_ms: Present time.
        own_text: From `own_text_of`; None: of the query's text.
    """
    return ExclusionRules(
        visible=visible,
        excluded=frozenset(query.exclude),
        own_text=own_text_of(query.text) if own_text is None else own_text,
        scope=query.scope,
        now_ms=now_ms,
    )


def own_text_of(text: str) -> str:
    """The asker's own words, folded for comparison; empty for a text that is longer than any memory."""
    return fold(text) if len(text) <= OWN_CHARS_MAX else ""


def exclusion_reason(memory: Memory, rules: ExclusionRules) -> DropReason | None:
    """Why the memory is left out of this recall, or None; the first reason that holds, gravest first."""
    if not memory.is_live(rules.now_ms):
        return DropReason.NOT_LIVE
    if not is_in_scope(memory.scope, rules.scope):
        return DropReason.WRONG_SCOPE
    if memory.id in rules.excluded:
        return DropReason.EXCLUDED_BY_CALLER
    if memory.id in rules.visible:
        return DropReason.ALREADY_VISIBLE
    return DropReason.OWN_TEXT if _is_own_text(memory.text, rules.own_text) else None


def _is_own_text(text: str, own_text: str) -> bool:
    """Whether a memory says just what was asked. Texts of very different lengths never do, and are not folded."""
    if not own_text or len(text) > LENGTH_RATIO_MAX * (len(own_text) + FOLDED_AWAY_CHARS_MAX):
        return False
    return len(own_text) <= LENGTH_RATIO_MAX * len(text) and _may_begin(text, own_text) and fold(text) == own_text


def _may_begin(text: str, folded: str) -> bool:
    """Whether a text, once folded, may begin as `folded` does: folding whole texts to find out takes far longer.

    Of plain ASCII, folding takes white space and quotes away at the front, and makes the rest lower case.
    """
    return not text.isascii() or text.lstrip(_FOLDED_AWAY_IN_FRONT)[:1].lower() == folded[0]


_FOLDED_AWAY_IN_FRONT = " \t\n\r\f\v\x1c\x1d\x1e\x1f\"'"


def is_in_scope(memory_scope: str, wanted: str | None) -> bool:
    """Whether `memory_scope` is visible from `wanted`: no scope wanted, the same scope, or a global memory."""
    return wanted is None or memory_scope in {"", wanted}


def apply_exclusions(candidates: Sequence[Candidate], rules: ExclusionRules) -> ExclusionSplit:
    """Split candidates into those that stay and those that are left out."""
    reasons = [(candidate, exclusion_reason(candidate.memory, rules)) for candidate in candidates]
    return ExclusionSplit(
        kept=tuple(candidate for candidate, reason in reasons if reason is None),
        dropped=tuple(
            DroppedItem(memory_id=candidate.memory.id, reason=reason, evidence=candidate.evidence)
            for candidate, reason in reasons
            if reason is not None
        ),
    )
