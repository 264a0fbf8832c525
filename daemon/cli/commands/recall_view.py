"""How a recall is shown to a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from rich.console import Console
from rich.text import Text

from recalld.daemon.cli.commands.candidates_table import REST_MAX, CandidateLine, chosen, write_candidates
from recalld.daemon.cli.commands.shadow_view import shadow_headline
from recalld.daemon.cli.consoles import table_console
from recalld.daemon.cli.output import printable
from recalld.daemon.cli.words import (
    DEGRADED_REASONS,
    DROP_REASONS,
    MODES,
    RECALL_LIMITS,
    RECALL_REASONS,
    SPECIAL_WAYS_IN,
    WAYS_IN,
    age_in_words,
    in_words,
)
from recalld.models.domain.reasons import RecallReason
from recalld.models.domain.recall import RecallLimit
from recalld.protocol.items import DroppedItem, RecalledItem
from recalld.protocol.replies import Recalled

_NO_SCORE = "-"
_NO_TEXTS: Final[Mapping[str, str]] = MappingProxyType({})
_TOLD_APART: Final = frozenset({"below_threshold", "by_evidence", "mentioned", "brought_along"})
"""What an item's `why` says when the reason of the recall does not fit it."""
_NOT_ALL_JUDGED: Final = frozenset({RecallLimit.BUDGET, RecallLimit.CANDIDATES_MAX})
_FOUND: Final = frozenset({RecallReason.RELEVANT, RecallReason.PASSED_FLOOR, RecallReason.IN_INTERVAL})
SCORES_NOTE: Final = "Relevance is a score to compare with the threshold, not a probability."
ITEM_CHARS_MAX: Final = 300
"""Characters of an item that a person is shown; `recalld get` shows all of it."""
_NO_TIME_NAMED: Final = "TEXT names no time that is understood, so --only-then left nothing out."
_NONE_HANDED_OVER: Final = "Something was found, but none of it was handed over."


def write_recalled(
    recalled: Recalled,
    *,
    is_explained: bool,
    is_all: bool = False,
    is_only_then: bool = False,
    user: str = "",
    texts: Mapping[str, str] = _NO_TEXTS,
    console: Console | None = None,
) -> None:
    """Print what was recalled, or why nothing was, in words.

    Args:
        recalled: The daemon's answer.
        is_explained: Also show the scores and the dropped candidates.
        is_all: Show every candidate, also all that never came to the gate.
        is_only_then: Only memories of a time that the turn names were asked for.
        user: Whose memories were asked for; empty: not said.
        texts: Texts of dropped candidates, by id, as far as they are known.
        console: Where to print; standard output by default.
    """
    out = console or table_console()
    out.print(Text(_headline(recalled, user)), highlight=False)
    if is_explained:
        rest_max = None if is_all else REST_MAX
        write_candidates(_candidates(recalled, texts), out, rest_max=rest_max, all_option="--explain --all")
    else:
        for item in recalled.items:
            out.print(Text(_item_line(item)), highlight=False)
    if is_only_then and recalled.coverage.is_time_filtered is False:
        out.print(Text(_NO_TIME_NAMED), highlight=False)
    for line in _footnotes(recalled, texts, is_explained=is_explained, is_all=is_all):
        out.print(Text(line, style="dim"), highlight=False)


def _headline(recalled: Recalled, user: str) -> str:
    count = len(recalled.items)
    if recalled.shadow is not None and recalled.reason == RecallReason.SHADOW:
        return shadow_headline(recalled.shadow, count)
    if not count and user and recalled.reason == RecallReason.NOTHING_STORED:
        return f"Nothing is stored yet for {printable(user)}."
    if not count:
        return _NONE_HANDED_OVER if recalled.reason in _FOUND else _silence(recalled)
    noun = "memory" if count == 1 else "memories"
    ways = Counter(item.why for item in recalled.items)
    if len(ways) == 1 and next(iter(ways)) not in _TOLD_APART:
        return f"{count} {noun}, {in_words(recalled.reason, RECALL_REASONS)}:"
    ordered = sorted(ways, key=_place)
    kinds = ", ".join(f"{ways[way]} {in_words(way, WAYS_IN)}" for way in ordered)
    return f"{count} {noun} ({kinds}):"


def _silence(recalled: Recalled) -> str:
    """Why nothing was handed over; whether all that came near was judged is part of the answer."""
    if recalled.reason == RecallReason.GATED and not _NOT_ALL_JUDGED.isdisjoint(recalled.coverage.limited_by):
        return "Some memories come near, but none of those that could be judged is relevant to this."
    return in_words(recalled.reason, RECALL_REASONS)


def _place(way: str) -> tuple[int, str]:
    """Where a way in stands in the list of them; one of a newer daemon comes last."""
    known = list(WAYS_IN)
    return (known.index(way) if way in WAYS_IN else len(known), way)


def _item_line(item: RecalledItem) -> str:
    score = f"{item.relevance:.2f}" if item.relevance is not None else _NO_SCORE.rjust(4)
    place = f" ({printable(item.scope)})" if item.scope else ""
    return f"  {score}  {_beginning(item)}  [{item.kind}{place}, {age_in_words(item.age_s)}, {item.id}]"


def _beginning(item: RecalledItem) -> str:
    """The text, or as much of a long one as can be read at a glance, and how to see the rest."""
    if len(item.text) <= ITEM_CHARS_MAX:
        return printable(item.text)
    start = printable(item.text[:ITEM_CHARS_MAX])
    return f"{start}… ({len(item.text):,} characters; `recalld get {printable(item.id)}`)"


def ids_to_name(recalled: Recalled, *, is_all: bool) -> list[str]:
    """Dropped memories that an explained recall shows: their texts are not in the reply."""
    shown = chosen(_candidates(recalled, _NO_TEXTS), rest_max=None if is_all else REST_MAX)
    return [each.line.memory_id for each in shown if not each.line.text]


def _candidates(recalled: Recalled, texts: Mapping[str, str]) -> list[CandidateLine]:
    """All candidates, those handed over first."""
    threshold = recalled.gate.threshold
    found = [
        _line(item, item.text, in_words(item.why, SPECIAL_WAYS_IN) if item.why in SPECIAL_WAYS_IN else "recalled")
        for item in recalled.items
    ]
    found += [
        _line(dropped, texts.get(dropped.id, ""), f"dropped, {in_words(dropped.reason, DROP_REASONS)}")
        for dropped in recalled.dropped
    ]
    return [msgspec.structs.replace(line, threshold=None if line.relevance is None else threshold) for line in found]


def _line(item: RecalledItem | DroppedItem, text: str, verdict: str) -> CandidateLine:
    return CandidateLine(
        memory_id=item.id,
        text=text,
        verdict=verdict,
        is_recalled=isinstance(item, RecalledItem),
        cosine=item.cosine,
        cue=item.cue_cosine,
        ask=item.ask_cosine,
        words=item.lexical,
        mention=item.mention,
        logit=item.logit,
        relevance=item.relevance,
    )


def _footnotes(recalled: Recalled, texts: Mapping[str, str], *, is_explained: bool, is_all: bool) -> list[str]:
    lines = list(_lag(recalled))
    if recalled.degraded_reason:
        detail = f" ({printable(recalled.degraded_detail)})" if recalled.degraded_detail else ""
        words = in_words(recalled.degraded_reason, DEGRADED_REASONS)
        lines.append(f"Degraded, {in_words(recalled.mode, MODES)}: {words}{detail}.")
    if is_explained:
        lines.extend(_measurements(recalled))
        lines.append(SCORES_NOTE)
        if any(memory_id not in texts for memory_id in ids_to_name(recalled, is_all=is_all)):
            lines.append("`recalld get ID` shows the memories listed by id alone.")
    lines.append(f"{recalled.timings.total_ms:.0f} ms; `recalld explain {recalled.recall_id}` shows the decision.")
    return lines


def _lag(recalled: Recalled) -> list[str]:
    """What to know first where something may have been missed because it cannot be found by its meaning yet."""
    coverage = recalled.coverage
    lines = []
    if coverage.pending_embedding and recalled.reason != RecallReason.EMBEDDING_PENDING:
        lines.append(
            f"{coverage.pending_embedding} of {coverage.searched} memories are not embedded yet: only their words could"
            " find them. Ask again in a moment."
        )
    if 0 < coverage.index_seq < coverage.store_seq:
        lines.append("The vector index lags behind the newest changes; ask again in a moment.")
    return lines


def _measurements(recalled: Recalled) -> list[str]:
    coverage, gate, timings = recalled.coverage, recalled.gate, recalled.timings
    threshold = f"threshold {gate.threshold:.3f}" if gate.threshold is not None else "no threshold"
    return [
        (
            f"Searched {coverage.searched} of {coverage.discovered} memories"
            f" ({coverage.skipped_wrong_scope} in other scopes, {coverage.skipped_out_of_interval} of other times,"
            f" {coverage.skipped_unreadable} unreadable; {coverage.pending_embedding} not embedded yet)."
        ),
        *(f"Limited: {in_words(limit, RECALL_LIMITS)}." for limit in coverage.limited_by),
        (
            f"Gate: {threshold}, {gate.pairs_scored} pairs scored, {gate.pairs_cached} from the cache;"
            f" the similarity floor alone would have recalled {len(recalled.floor_items)}."
        ),
        (
            f"Time: turn gate {timings.turn_ms:.0f} ms, embedding {timings.embed_ms:.0f} ms,"
            f" search {timings.search_ms:.0f} ms, gate {timings.gate_ms:.0f} ms"
            f" (of it waiting {timings.queue_ms:.0f} ms)."
        ),
    ]
