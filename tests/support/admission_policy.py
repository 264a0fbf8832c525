"""Ruling on a quote in a turn, for the tables of cases of the admission policy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from recalld.models.domain.admission import Speaker
from recalld.models.domain.facts import FactCandidate, Generator, Ruling
from recalld.models.domain.position import Position
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.admission.pipeline import rule_on
from recalld.models.policy.admission.secrets import redact
from recalld.models.policy.save_turn import prepare_turn

SAID_AT = datetime(2026, 4, 15, 12, 0, tzinfo=UTC)
"""A Wednesday."""


def to_ms(moment: datetime) -> int:
    """Unix epoch milliseconds of an aware datetime."""
    return int(moment.timestamp() * 1000)


def context(
    text: str,
    *,
    speaker: Speaker = Speaker.USER,
    said_at: datetime = SAID_AT,
    now: datetime | None = None,
    zone: str = "Europe/Rome",
    injected: Mapping[str, str] | None = None,
    previous_answer: str = "",
    position: Position = Position.OPEN,
    judge_strict: float | None = None,
) -> AdmissionContext:
    """A turn as the pipeline gets it, secrets redacted."""
    said = redact(text).text
    return AdmissionContext(
        turn=prepare_turn(said),
        speaker=speaker,
        said=said,
        at_ms=to_ms(said_at),
        now_ms=to_ms(now or said_at),
        zone=zone,
        injected=injected or {},
        previous_answer=previous_answer,
        position=position,
        judge_strict=judge_strict,
    )


def candidate(
    quote: str, *, generator: Generator = Generator.RULE, statement: str = "", **rest: object
) -> FactCandidate:
    """A fact that quotes the turn; its statement is the quote unless given."""
    return FactCandidate(statement=statement or quote, quote=quote, generator=generator, rule="test", **rest)  # type: ignore[arg-type] # any field of it


def ruling(marked: str, *, generator: Generator = Generator.RULE, **given: object) -> Ruling:
    """Rule on the quote between braces in a turn, or on the whole turn: `ruling("if {we use tabs}, …")`."""
    before, _, rest = marked.partition("{")
    quote, _, after = rest.partition("}")
    text = before + quote + after if rest else marked
    fields = {name: given.pop(name) for name in list(given) if name in FactCandidate.__struct_fields__}
    scene = context(text, **given)  # type: ignore[arg-type] # any argument of it
    own = quote if rest else scene.turn.text.strip()
    return rule_on(candidate(own, generator=generator, **fields), scene)
