"""The gates that a replay compares: each generator alone, behind the policy, and the stack at each position."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from recalld.actors.admission.dependencies import AdmissionOptions
from recalld.actors.recall.state import Spawn
from recalld.daemon.admission_judge import JudgeInForce
from recalld.daemon.calibrating import embedder_key_of
from recalld.daemon.composition import admission_options
from recalld.daemon.config import Settings
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.replay_desk import DeskSettings, JudgeParts, ReplayDesk
from recalld.daemon.evaluation.replay_memo import JudgeMemo
from recalld.models.domain.admission import Speaker
from recalld.models.domain.position import Position
from recalld.models.domain.shadow import WriteMode
from recalld.models.lab.replay_cases import Talk
from recalld.models.lab.replay_generators import by_rules, first_person, prepared, written
from recalld.models.lab.replay_labels import TurnResult, WrittenRecord
from recalld.models.policy.judge.find import found_facts, judge_texts, score_segments
from recalld.models.policy.judge.model import Judge
from recalld.models.policy.save_turn import SaveTurn


class GateName(enum.StrEnum):
    """What is compared, in the order of the report."""

    FIRST_PERSON = "first_person"
    """A comparator: every sentence in which the user speaks of themselves and asks nothing."""
    EXPLICIT = "explicit"
    """Commands to remember alone, which no setting switches off: they are in every gate with a policy."""
    RULES = "rules"
    RULES_POLICY = "rules+policy"
    JUDGE_STRICT = "judge_strict"
    """The judge from the threshold on from which its finds may be records."""
    JUDGE_STRICT_POLICY = "judge_strict+policy"
    JUDGE = "judge"
    """The judge from the threshold on from which its finds are worth observing."""
    JUDGE_POLICY = "judge+policy"
    STACK_STRICT = "stack_strict"
    """Rules, judge and policy as they run at a position."""
    STACK_BALANCED = "stack_balanced"
    STACK_OPEN = "stack_open"
    STACK = "stack"
    """The stack at the position that is configured or asked for: by default what ships."""


STACKS: Final = {
    Position.STRICT: GateName.STACK_STRICT,
    Position.BALANCED: GateName.STACK_BALANCED,
    Position.OPEN: GateName.STACK_OPEN,
}
_OF_THE_JUDGE: Final = frozenset(
    {GateName.JUDGE, GateName.JUDGE_STRICT, GateName.JUDGE_POLICY, GateName.JUDGE_STRICT_POLICY}
)
Generate = Callable[[SaveTurn], tuple[WrittenRecord, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class GateSettings:
    """What the gates are made of.

    Attributes:
        settings: In force.
        judging: The judge that runs, or why none does.
        position: Of `stack`.
        held_out: Judges for some conversations, by their ids, instead of the one that runs.
    """

    settings: Settings
    judging: JudgeInForce
    position: Position
    held_out: Mapping[str, Judge] = field(default_factory=dict)

    @property
    def names(self) -> tuple[GateName, ...]:
        """The gates that there are: none of the judge alone where there is no judge."""
        has_judge = self.judging.judge is not None
        return tuple(name for name in GateName if has_judge or name not in _OF_THE_JUDGE)

    def judge_for(self, talk: Talk) -> JudgeParts | None:
        """The judge that reads a conversation."""
        record, judge = self.judging.record, self.judging.judge
        if record is None or judge is None:
            return None
        return JudgeParts(
            judge=self.held_out.get(talk.row_id, judge),
            thresholds=record.thresholds,
            embedder_key=record.embedder_key,
            record_id=record.id,
        )


async def run_gate(
    name: GateName, talk: Talk, meter: Meter, given: GateSettings, *, spawn: Spawn, memo: JudgeMemo | None = None
) -> tuple[TurnResult, ...]:
    """What a gate makes of each turn of a user.

    Args:
        name: Which.
        talk: The conversation.
        meter: The embedder.
        given: What the gates are made of.
        spawn: Starts what a search lets go on beside it.
        memo: What the judge said to other gates in this conversation; None: it is asked anew.
    """
    generate = _generator(name, given.judge_for(talk), meter, memo)
    if generate is not None:
        turns = (turn for turn in talk.turns if turn.speaker is Speaker.USER)
        return tuple(_generated(turn.text, generate, meter) for turn in turns)
    return await ReplayDesk(talk, meter, _desk_settings(name, talk, given, memo), spawn=spawn).replay()


def _generated(text: str, generate: Generate, meter: Meter) -> TurnResult:
    meter.begin()
    records = generate(prepared(text))
    return TurnResult(records=records, elapsed_ms=meter.elapsed_ms)


def _generator(name: GateName, parts: JudgeParts | None, meter: Meter, memo: JudgeMemo | None) -> Generate | None:
    """The generator that a gate is; None for a gate with a policy."""
    match name:
        case GateName.FIRST_PERSON:
            return first_person
        case GateName.RULES:
            return by_rules
        case GateName.JUDGE if parts is not None:
            return _by_judge(parts, parts.thresholds.balanced, meter, memo)
        case GateName.JUDGE_STRICT if parts is not None:
            return _by_judge(parts, parts.thresholds.strict, meter, memo)
        case _:
            return None


def _by_judge(parts: JudgeParts, threshold: float, meter: Meter, memo: JudgeMemo | None) -> Generate:
    kept = JudgeMemo() if memo is None else memo

    def generate(turn: SaveTurn) -> tuple[WrittenRecord, ...]:
        texts = judge_texts(turn)
        if not texts.segments:
            return ()

        def score() -> tuple[float, ...]:
            vectors = [meter.embed(text, is_query=False) for text in texts.texts]
            return score_segments(turn, texts.segments, vectors, parts.judge)

        scores = kept.scores_of(turn.text, score, meter)
        found = found_facts(turn, texts.segments, scores, threshold, rule=parts.record_id)
        return tuple(map(written, found))

    return generate


def _desk_settings(name: GateName, talk: Talk, given: GateSettings, memo: JudgeMemo | None) -> DeskSettings:
    settings = given.settings
    judge = None if name in {GateName.EXPLICIT, GateName.RULES_POLICY} else given.judge_for(talk)
    return DeskSettings(
        options=_options(name, given),
        judge=judge,
        embedder_key=embedder_key_of(settings.models.embedder),
        is_enriching=settings.write.enrich,
        memo=memo,
    )


def _options(name: GateName, given: GateSettings) -> AdmissionOptions:
    record = given.judging.record
    balanced = _at(Position.BALANCED, given)
    match name:
        case GateName.EXPLICIT:
            return replace(balanced, is_on=False)
        case GateName.RULES_POLICY:
            return replace(balanced, is_on=True, has_rules=True)
        case GateName.JUDGE_STRICT_POLICY:
            return replace(
                balanced, is_on=True, has_rules=False, judge_strict=None if record is None else record.thresholds.strict
            )
        case GateName.JUDGE_POLICY:
            return replace(
                balanced,
                is_on=True,
                has_rules=False,
                judge_strict=None if record is None else record.thresholds.balanced,
            )
        case GateName.STACK:
            return _at(given.position, given)
        case _:
            return _at(next(position for position, stack in STACKS.items() if stack is name), given)


def _at(position: Position, given: GateSettings) -> AdmissionOptions:
    """The write path as the daemon would run it at a position. What shadow mode would only note is written here."""
    configured = msgspec.structs.replace(given.settings.admission, position=position, mode=WriteMode.ENFORCE)
    return admission_options(configured, given.judging)
