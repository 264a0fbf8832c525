"""How the ledger's record of a recall is shown to a person: the candidates as a table, then what was measured."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from rich.table import Table
from rich.text import Text

from recalld.daemon.cli.commands.recall_view import SCORES_NOTE, labelled
from recalld.daemon.cli.consoles import table_console
from recalld.daemon.cli.output import printable
from recalld.daemon.cli.words import DROP_REASONS, in_words

_NO_SCORE = "-"
_SCORES = ("relevance", "logit", "cosine", "cue", "ask", "words")


class _Evidence(msgspec.Struct, frozen=True, kw_only=True):
    logit: float | None = None
    cosine: float | None = None
    cue_cosine: float | None = None
    ask_cosine: float | None = None
    lexical: float | None = None


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    memory_id: str
    reason: str = ""
    relevance: float | None = None
    evidence: _Evidence


class RecallRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a recall's ledger row that is shown; fields a newer daemon adds are ignored."""

    items: tuple[_Item, ...]
    dropped: tuple[_Item, ...]
    floor_items: tuple[str, ...]
    threshold: float | None
    calibration_id: str
    discovered: int
    searched: int
    pairs_scored: int
    pairs_cached: int
    total_ms: float
    gate_ms: float

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """All memories it names, those recalled first."""
        return tuple(item.memory_id for item in (*self.items, *self.dropped))


def read_recall_record(body: str) -> RecallRecord | None:
    """The record; None when the body is of another kind or of a version that this command cannot read."""
    try:
        return msgspec.json.decode(body, type=RecallRecord)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None


def write_recall_record(record: RecallRecord, texts: Mapping[str, str]) -> None:
    """Print it.

    Args:
        record: What the ledger holds; it names memories by id alone.
        texts: Their texts, by id, as far as they are known.
    """
    out = table_console()
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("outcome")
    for name in _SCORES:
        table.add_column(name, justify="right")
    table.add_column("memory", overflow="fold", min_width=24)
    for item in (*record.items, *record.dropped):
        outcome = Text(in_words(item.reason, DROP_REASONS)) if item.reason else Text(_kept(item, record), style="bold")
        table.add_row(outcome, *_scores(item), Text(labelled(item.memory_id, texts.get(item.memory_id))))
    if table.row_count:
        out.print(table)
    threshold = "no threshold" if record.threshold is None else f"threshold {record.threshold:.3f}"
    calibration = printable(record.calibration_id) or "not calibrated"
    for line in (
        f"Searched {record.searched} of {record.discovered} memories.",
        (
            f"Gate: {threshold} ({calibration}), {record.pairs_scored} pairs scored, {record.pairs_cached} from the"
            f" cache; the similarity floor alone would have recalled {len(record.floor_items)}."
        ),
        SCORES_NOTE,
        f"Time: {record.total_ms:.0f} ms, gate {record.gate_ms:.0f} ms.",
    ):
        out.print(Text(line, style="dim"), highlight=False)


def _kept(item: _Item, record: RecallRecord) -> str:
    """What is said of a recalled item: only an explicit search lets one through that is below the threshold."""
    if item.relevance is None or record.threshold is None or item.relevance >= record.threshold:
        return "recalled"
    return "less relevant"


def _scores(item: _Item) -> tuple[str, ...]:
    evidence = item.evidence
    values = (
        item.relevance,
        evidence.logit,
        evidence.cosine,
        evidence.cue_cosine,
        evidence.ask_cosine,
        evidence.lexical,
    )
    return tuple(_NO_SCORE if value is None else f"{value:.3f}" for value in values)
