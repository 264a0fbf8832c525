"""How the ledger's record of a recall is shown to a person: the candidates as a table, then what was measured."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from rich.text import Text

from recalld.daemon.cli.commands.candidates_table import REST_MAX, CandidateLine, chosen, write_candidates
from recalld.daemon.cli.commands.recall_view import SCORES_NOTE
from recalld.daemon.cli.commands.shadow_view import shadow_lines
from recalld.daemon.cli.consoles import table_console
from recalld.daemon.cli.output import moment, printable
from recalld.daemon.cli.words import DROP_REASONS, RECALL_LIMITS, in_words


class _Evidence(msgspec.Struct, frozen=True, kw_only=True):
    logit: float | None = None
    cosine: float | None = None
    cue_cosine: float | None = None
    ask_cosine: float | None = None
    lexical: float | None = None
    mention: float | None = None


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    memory_id: str
    reason: str = ""
    relevance: float | None = None
    evidence: _Evidence
    is_mentioned: bool = False
    brought_by: str = ""


class _Interval(msgspec.Struct, frozen=True, kw_only=True):
    rule: str
    start_ms: int | None
    end_ms: int | None
    confidence: float


class _Turn(msgspec.Struct, frozen=True, kw_only=True):
    answer: str
    decided_by: str
    cause: str = ""
    cue_families: tuple[str, ...] = ()
    terms: int = 0
    terms_posted: int | None = None
    intervals: tuple[_Interval, ...] = ()
    is_zone_known: bool = True
    asks_only_for_time: bool = False
    model: str = ""
    query_fallback: bool = False
    is_repeat: bool = False


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
    turn_ms: float = 0.0
    turn: _Turn | None = None
    skipped_wrong_scope: int = 0
    skipped_out_of_interval: int = 0
    skipped_unreadable: int = 0
    pending_embedding: int = 0
    limited_by: tuple[str, ...] = ()
    shadow_mode: str = ""
    served: tuple[str, ...] = ()


def read_recall_record(body: str) -> RecallRecord | None:
    """The record; None when the body is of another kind or of a version that this command cannot read."""
    try:
        return msgspec.json.decode(body, type=RecallRecord)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None


def write_recall_record(record: RecallRecord, texts: Mapping[str, str], *, is_all: bool) -> None:
    """Print it.

    Args:
        record: What the ledger holds; it names memories by id alone.
        texts: Their texts, by id, as far as they are known.
        is_all: Show every candidate, also all that never came to the gate.
    """
    out = table_console()
    write_candidates(_lines(record, texts), out, rest_max=None if is_all else REST_MAX)
    threshold = "no threshold" if record.threshold is None else f"threshold {record.threshold:.3f}"
    calibration = printable(record.calibration_id) or "not calibrated"
    for line in (
        *shadow_lines(record.shadow_mode, [item.memory_id for item in record.items], record.served),
        *turn_lines(record),
        _searched(record),
        *(f"Limited: {in_words(limit, RECALL_LIMITS)}." for limit in record.limited_by),
        (
            f"Gate: {threshold} ({calibration}), {record.pairs_scored} pairs scored, {record.pairs_cached} from the"
            f" cache; the similarity floor alone would have recalled {len(record.floor_items)}."
        ),
        SCORES_NOTE,
        f"Time: {record.total_ms:.0f} ms, turn gate {record.turn_ms:.0f} ms, gate {record.gate_ms:.0f} ms.",
    ):
        out.print(Text(line, style="dim"), highlight=False)


def shown_ids(record: RecallRecord, *, is_all: bool) -> list[str]:
    """The memories that are shown, those recalled first."""
    return [each.line.memory_id for each in chosen(_lines(record, {}), rest_max=None if is_all else REST_MAX)]


def _lines(record: RecallRecord, texts: Mapping[str, str]) -> list[CandidateLine]:
    return [_line(item, record, texts) for item in (*record.items, *record.dropped)]


def turn_lines(record: RecallRecord) -> list[str]:
    """What the turn gate saw, in sentences; none for a record of a daemon that did not keep it."""
    turn = record.turn
    if turn is None:
        return []
    cause = f", because of {turn.cause}" if turn.cause else ""
    repeat = ", as before in this turn" if turn.is_repeat else ""
    lines = [f"Turn gate: {turn.answer}, by the rule {turn.decided_by}{cause}{repeat}."]
    seen = []
    if turn.cue_families:
        seen.append(f"history cues {', '.join(turn.cue_families)}")
    if turn.terms_posted is not None:
        seen.append(f"{turn.terms_posted} of {turn.terms} terms known to the store")
    if turn.model:
        seen.append(f"the runtime's model: {turn.model}{', without a usable query' if turn.query_fallback else ''}")
    if seen:
        lines.append(f"It saw {'; '.join(seen)}.")
    for interval in turn.intervals:
        zone = "" if turn.is_zone_known else ", read in UTC for want of a zone"
        start, end = (_bound(at_ms) for at_ms in (interval.start_ms, interval.end_ms))
        lines.append(f"Time: {start} to {end} ({interval.rule}, confidence {interval.confidence:.2f}{zone}).")
    if turn.asks_only_for_time:
        lines.append("It asks for nothing but that time, so memories from then need not pass the gate.")
    return [printable(line) for line in lines]


def _bound(at_ms: int | None) -> str:
    return "…" if at_ms is None else moment(at_ms)


def _searched(record: RecallRecord) -> str:
    skipped = (
        (record.skipped_wrong_scope, "in other scopes"),
        (record.skipped_out_of_interval, "of other times"),
        (record.skipped_unreadable, "unreadable"),
        (record.pending_embedding, "not embedded yet"),
    )
    details = ", ".join(f"{count} {what}" for count, what in skipped if count)
    return f"Searched {record.searched} of {record.discovered} memories{f' ({details})' if details else ''}."


def _kept(item: _Item, record: RecallRecord) -> str:
    """What is said of a recalled item: why one that is below the threshold, or was not judged, was let through."""
    if item.brought_by:
        return f"brought along by {printable(item.brought_by)}"
    if item.is_mentioned:
        return "mentioned"
    if item.relevance is None or record.threshold is None or item.relevance >= record.threshold:
        return "recalled"
    return "less relevant"


def _line(item: _Item, record: RecallRecord, texts: Mapping[str, str]) -> CandidateLine:
    evidence = item.evidence
    return CandidateLine(
        memory_id=item.memory_id,
        text=texts.get(item.memory_id, ""),
        verdict=f"dropped, {in_words(item.reason, DROP_REASONS)}" if item.reason else _kept(item, record),
        is_recalled=not item.reason,
        cosine=evidence.cosine,
        cue=evidence.cue_cosine,
        ask=evidence.ask_cosine,
        words=evidence.lexical,
        mention=evidence.mention,
        logit=evidence.logit,
        relevance=item.relevance,
        threshold=None if item.relevance is None else record.threshold,
    )
