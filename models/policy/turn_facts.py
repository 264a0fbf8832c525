"""What the generators that need nobody else find in a turn: explicit saves, rules, and what a model offered with it.

Guards: the order in which a turn is read. Secrets are taken out first, so that no later step, and nothing that is kept,
ever sees them; then what is not the user's own; then every generator works on the same words. Cost: linear in the turn.
Fails: towards fewer candidates; a turn in which the user refused to have something kept has none but explicit saves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from recalld.models.domain.admission import OfferedFact
from recalld.models.domain.admission_store import DroppedFact
from recalld.models.domain.facts import FactCandidate, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.secrets import redact
from recalld.models.policy.admission.silence import asks_to_forget, read_short, why_silent
from recalld.models.policy.explicit_save import ExaminedTurn, FoundSave, examine_saves
from recalld.models.policy.offered_slot import fitting_slot
from recalld.models.policy.save_turn import SaveTurn, prepare_turn
from recalld.models.policy.statements.find import find_stated, is_read_whole

CUT_RULE: Final = "turn_length"
"""The policy's rule for a turn of which not everything was read."""
SAVE_RULE: Final = "explicit_save"
"""The rule of candidates that come from a save command."""
FORGET_RULE: Final = "forgetting"
"""The policy's rule for a request to forget something."""
OFFER_RULE: Final = "offered"
"""The rule of candidates whose client gave no name."""
_TOLD: Final = frozenset({AdmissionReason.REFUSED_IN_COMMAND, AdmissionReason.TOO_LONG})
"""Why a command was none: worth telling whatever else the turn led to."""


class TurnFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as it was read.

    Attributes:
        turn: The user's own words, prepared, without secrets.
        said: The turn as it was sent, without secrets.
        candidates: What was found, in no order.
        dropped: What the reading itself left out; the last one says so where the turn was too long to be read whole.
        is_refused: Whether the user said of something in it that it is not to be kept; then only explicit saves are.
        reason: Why the turn leads to nothing, if it leads to nothing.
    """

    turn: SaveTurn
    said: str
    candidates: tuple[FactCandidate, ...]
    dropped: tuple[DroppedFact, ...] = ()
    is_refused: bool = False
    reason: AdmissionReason


def read_turn(text: str, offered: Sequence[OfferedFact] = (), *, client: str = "", has_rules: bool = True) -> TurnFacts:
    """Read a turn of the user.

    Args:
        text: As it was sent.
        offered: What a model found in it.
        client: Who brought that.
        has_rules: Whether the rules look for facts.
    """
    said = redact(text).text
    turn = prepare_turn(said)
    examined = examine_saves(turn) if turn.text else ExaminedTurn()
    saves = tuple(_explicit(found) for found in examined.saves)
    stated = find_stated(turn) if has_rules and turn.text else ()
    others = (*stated, *(_offered(each, client) for each in offered))
    dropped: tuple[DroppedFact, ...] = ()
    if examined.is_refused:
        dropped = tuple(_left_out(each, AdmissionReason.REFUSED_IN_COMMAND) for each in others)
        others = ()
    rejected = examined.gravest
    if rejected is not None and not saves and (rejected in _TOLD or not others):
        told = DroppedFact(reason=rejected, generator=Generator.EXPLICIT, source_rule=SAVE_RULE)
        dropped = (told, *dropped)
    reading = read_short(turn)
    if reading is not None and asks_to_forget(reading):
        # Whatever else it states: who is asked to forget something must get to know it.
        dropped = (*dropped, DroppedFact(reason=AdmissionReason.FORGET_REQUEST, rule=FORGET_RULE))
    if turn.is_cut or (has_rules and not is_read_whole(turn)):
        # Never silently: something may have been stated in what was not read.
        dropped = (*dropped, DroppedFact(reason=AdmissionReason.TOO_LONG, rule=CUT_RULE))
    return TurnFacts(
        turn=turn,
        said=said,
        candidates=(*saves, *others),
        dropped=dropped,
        is_refused=examined.is_refused,
        # Read only where it may be told: the judge alone may still find something then.
        reason=rejected
        or (AdmissionReason.NOTHING_STATED if saves or others or dropped else why_silent(said, turn, reading)),
    )


def _explicit(found: FoundSave) -> FactCandidate:
    return FactCandidate(
        statement=found.save.statement,
        kind=found.save.kind,
        quote=found.save.statement,
        span=found.span,
        generator=Generator.EXPLICIT,
        rule=SAVE_RULE,
    )


def _offered(offered: OfferedFact, client: str) -> FactCandidate:
    return FactCandidate(
        statement=_safe(offered.statement),
        kind=offered.kind,
        quote=_safe(offered.quote),
        generator=Generator.MODEL,
        rule=client or OFFER_RULE,
        slot=fitting_slot(offered),
        expires_at_ms=offered.expires_at_ms,
        cues=tuple(map(_safe, offered.cues)),
        asks=tuple(map(_safe, offered.asks)),
        scope=offered.scope,
    )


def _safe(text: str) -> str:
    return redact(text).text if text else text


def _left_out(candidate: FactCandidate, reason: AdmissionReason) -> DroppedFact:
    return DroppedFact(reason=reason, generator=candidate.generator, source_rule=candidate.rule)
