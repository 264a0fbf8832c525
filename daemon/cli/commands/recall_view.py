"""How a recall is shown to a person."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recalld.daemon.cli.consoles import table_console
from recalld.daemon.cli.output import printable
from recalld.daemon.cli.words import (
    DEGRADED_REASONS,
    DROP_REASONS,
    MODES,
    RECALL_REASONS,
    age_in_words,
    in_words,
)
from recalld.models.domain.reasons import RecallReason
from recalld.protocol.items import DroppedItem, RecalledItem
from recalld.protocol.replies import Recalled

_SCORES = ("relevance", "logit", "cosine", "cue", "ask", "words")
_NO_SCORE = "-"
_NO_TEXTS: Final[Mapping[str, str]] = MappingProxyType({})
_TEXT_CHARS_MAX: Final = 90
_LESS_RELEVANT: Final = "below_threshold"
"""What an item's `why` says when only an explicit search lets it through."""
_FOUND: Final = frozenset({RecallReason.RELEVANT, RecallReason.PASSED_FLOOR})
SCORES_NOTE: Final = "Relevance is a score to compare with the threshold, not a probability."
_NONE_HANDED_OVER: Final = "Something was found, but none of it was handed over."


def write_recalled(
    recalled: Recalled, *, is_explained: bool, texts: Mapping[str, str] = _NO_TEXTS, console: Console | None = None
) -> None:
    """Print what was recalled, or why nothing was, in words.

    Args:
        recalled: The daemon's answer.
        is_explained: Also show the scores and the dropped candidates.
        texts: Texts of dropped candidates, by id, as far as they are known.
        console: Where to print; standard output by default.
    """
    out = console or table_console()
    out.print(Text(_headline(recalled)), highlight=False)
    if is_explained:
        _write_candidates(recalled, texts, out)
    else:
        for item in recalled.items:
            out.print(Text(_item_line(item)), highlight=False)
    for line in _footnotes(recalled, texts, is_explained=is_explained):
        out.print(Text(line, style="dim"), highlight=False)


def _headline(recalled: Recalled) -> str:
    count = len(recalled.items)
    if not count:
        return _NONE_HANDED_OVER if recalled.reason in _FOUND else in_words(recalled.reason, RECALL_REASONS)
    noun = "memory" if count == 1 else "memories"
    less_relevant = sum(1 for item in recalled.items if item.why == _LESS_RELEVANT)
    if not less_relevant:
        return f"{count} {noun}, {in_words(recalled.reason, RECALL_REASONS)}:"
    relevant = count - less_relevant
    return f"{count} {noun}, {relevant or 'none'} of them judged relevant, {less_relevant} less so:"


def _item_line(item: RecalledItem) -> str:
    score = f"{item.relevance:.2f}" if item.relevance is not None else _NO_SCORE.rjust(4)
    place = f" ({printable(item.scope)})" if item.scope else ""
    return f"  {score}  {printable(item.text)}  [{item.kind}{place}, {age_in_words(item.age_s)}, {item.id}]"


def _write_candidates(recalled: Recalled, texts: Mapping[str, str], out: Console) -> None:
    if not recalled.items and not recalled.dropped:
        return
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("outcome")
    for name in _SCORES:
        table.add_column(name, justify="right")
    table.add_column("memory", overflow="fold", min_width=24)
    for item in recalled.items:
        outcome = "less relevant" if item.why == _LESS_RELEVANT else "recalled"
        table.add_row(Text(outcome, style="bold"), *_scores(item), Text(f"{printable(item.text)} [{item.id}]"))
    for dropped in recalled.dropped:
        memory = Text(labelled(dropped.id, texts.get(dropped.id)))
        table.add_row(Text(in_words(dropped.reason, DROP_REASONS)), *_scores(dropped), memory)
    out.print(table)


def labelled(memory_id: str, text: str | None) -> str:
    """A memory in one cell: the start of its text if that is known, and its id."""
    return f"{printable(text, chars_max=_TEXT_CHARS_MAX)} [{printable(memory_id)}]" if text else printable(memory_id)


def _scores(item: RecalledItem | DroppedItem) -> tuple[str, ...]:
    values = (item.relevance, item.logit, item.cosine, item.cue_cosine, item.ask_cosine, item.lexical)
    return tuple(_NO_SCORE if value is None else f"{value:.3f}" for value in values)


def _footnotes(recalled: Recalled, texts: Mapping[str, str], *, is_explained: bool) -> list[str]:
    lines = []
    if recalled.degraded_reason:
        detail = f" ({printable(recalled.degraded_detail)})" if recalled.degraded_detail else ""
        words = in_words(recalled.degraded_reason, DEGRADED_REASONS)
        lines.append(f"Degraded, {in_words(recalled.mode, MODES)}: {words}{detail}.")
    if is_explained:
        lines.extend(_measurements(recalled))
        lines.append(SCORES_NOTE)
        if any(item.id not in texts for item in recalled.dropped):
            lines.append("`recalld get ID` shows the memories listed by id alone.")
    lines.append(f"{recalled.timings.total_ms:.0f} ms; `recalld explain {recalled.recall_id}` shows the decision.")
    return lines


def _measurements(recalled: Recalled) -> list[str]:
    coverage, gate, timings = recalled.coverage, recalled.gate, recalled.timings
    threshold = f"threshold {gate.threshold:.3f}" if gate.threshold is not None else "no threshold"
    return [
        (
            f"Searched {coverage.searched} of {coverage.discovered} memories"
            f" ({coverage.skipped_wrong_scope} in other scopes, {coverage.pending_embedding} not embedded yet)."
        ),
        (
            f"Gate: {threshold}, {gate.pairs_scored} pairs scored, {gate.pairs_cached} from the cache;"
            f" the similarity floor alone would have recalled {len(recalled.floor_items)}."
        ),
        (
            f"Time: embedding {timings.embed_ms:.0f} ms, search {timings.search_ms:.0f} ms,"
            f" gate {timings.gate_ms:.0f} ms (of it waiting {timings.queue_ms:.0f} ms)."
        ),
    ]
