"""What is looked at of a ledger row. A body that cannot be read leaves what its columns say."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

from recalld.models.domain.drift import DecisionSample
from recalld.models.domain.reasons import Op, RecallMode
from recalld.models.domain.shadow import SHADOW_RULE, WriteMode

T = TypeVar("T")

_STORED: Final = frozenset({"record", "propose"})


class _Turn(msgspec.Struct, frozen=True):
    decided_by: str = ""


class _Item(msgspec.Struct, frozen=True):
    memory_id: str = ""
    relevance: float | None = None


class _Recall(msgspec.Struct, frozen=True):
    is_search: bool = False
    items: tuple[_Item, ...] = ()
    dropped: tuple[_Item, ...] = ()
    calibration_id: str = ""
    turn: _Turn | None = None
    shadow_mode: str = ""
    served: tuple[str, ...] = ()


class _Fact(msgspec.Struct, frozen=True):
    disposition: str = ""
    decided_by: str = ""


class _Observed(msgspec.Struct, frozen=True):
    facts: tuple[_Fact, ...] = ()


_RECALLS: Final = msgspec.json.Decoder(_Recall)
_TURNS: Final = msgspec.json.Decoder(_Observed)


def sample_of(*, op: Op, at_ms: int, decision: str, reason: str, mode: str, body: bytes) -> DecisionSample:
    """A row of a recall or an observed turn, as drift looks at it.

    Args:
        op: What it decided about.
        at_ms: Unix epoch milliseconds.
        decision: As in the row.
        reason: As in the row.
        mode: As in the row: scores of a recall that ran below `gated` say nothing about the gate.
        body: JSON.
    """
    bare = DecisionSample(op=op, at_ms=at_ms, decision=decision, reason=reason)
    if op is not Op.RECALL:
        return _of_turn(bare, _read(body, _TURNS))
    recall = _read(body, _RECALLS)
    if recall is None:
        return bare
    scores = [each.relevance for each in (*recall.items, *recall.dropped) if each.relevance is not None]
    is_gated = mode == RecallMode.GATED and bool(scores)
    return msgspec.structs.replace(
        bare,
        rule="" if recall.turn is None else recall.turn.decided_by,
        is_search=recall.is_search,
        relevance=max(scores) if is_gated else None,
        calibration_id=recall.calibration_id,
        shadow_mode=recall.shadow_mode,
        decided=len(recall.items),
        served=len(recall.served if recall.shadow_mode else recall.items),
        is_differing=recall.shadow_mode != "" and {each.memory_id for each in recall.items} != set(recall.served),
    )


def _of_turn(bare: DecisionSample, turn: _Observed | None) -> DecisionSample:
    if turn is None:
        return bare
    noted = sum(each.decided_by.startswith(SHADOW_RULE) for each in turn.facts)
    done = sum(each.disposition in _STORED for each in turn.facts)
    return msgspec.structs.replace(
        bare, shadow_mode=WriteMode.SHADOW if noted else "", decided=noted + done, served=done, is_differing=noted > 0
    )


def _read(body: bytes, decoder: msgspec.json.Decoder[T]) -> T | None:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
