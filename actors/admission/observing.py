"""Deciding about a turn as it was said, end to end.

Read (secrets out first, then what is not the user's own; saves, rules, offers, judge), collapse, policy, and one
transaction for whatever is left. Every decision is durable under (user, session, turn id), so that the same turn
delivered again, also after a crash, gets the same answer and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from recalld.actors.admission.answering import TurnAnswers
from recalld.actors.admission.confirming import Confirmer
from recalld.actors.admission.dependencies import EMBED_WAIT_S_MAX, WRITE_RESERVE_S, AdmissionDependencies
from recalld.actors.admission.fact_writes import FactWrites, ReadyFacts
from recalld.actors.admission.recall_view import RecallView
from recalld.actors.admission.session_notes import SessionNotes
from recalld.actors.admission.stopwatch import Stopwatch
from recalld.actors.admission.turn_command import turn_command
from recalld.actors.admission.turn_reply import admitted_event, turn_reply
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.store import ask_store
from recalld.models.domain.admission import ObservedTurn, ObserveReply, Speaker
from recalld.models.domain.admission_store import DroppedFact, Proposal, ProposalState
from recalld.models.domain.facts import FactCandidate, Generator
from recalld.models.domain.gate_spent import UNSPENT, GateSpent
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.admission.shadow import shadowed
from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.turn_facts import OFFER_RULE, TurnFacts, read_turn
from recalld.models.policy.turn_rulings import TurnRulings, rule_turn
from recalld.models.policy.yes_no import answer_in

INJECTED_MAX: Final = 200
"""Memories shown in the session whose texts a turn is compared with: the newest named ones."""
ANSWER_CHARS_MAX: Final = 2_000
"""Longer turns are no bare yes or no, even with everything that a host puts around one."""
_SPEAKER_RULE: Final = "speaker"
_OFF_RULE: Final = "enabled"
"""What is said to have dropped a candidate where nothing is admitted from turns but what is saved on purpose."""


class Observer:
    """Decides about observed turns of one user.

    Args:
        deps: What all admission actors share.
        view: What the user's recall coordinator knows.
        confirmer: Answers proposals.
        notes: What the user's sessions have come to.
    """

    def __init__(
        self, deps: AdmissionDependencies, view: RecallView, confirmer: Confirmer, notes: SessionNotes
    ) -> None:
        self._deps = deps
        self._view = view
        self._writes = FactWrites(deps, view)
        self._answers = TurnAnswers(deps, confirmer)
        self._notes = notes

    async def observe(self, turn: ObservedTurn) -> ObserveReply:
        """Decide about a turn, once.

        Raises:
            RecalldError: `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`; the turn may then be sent again.
        """
        # Speaker first: whatever an assistant or a tool says, it is not the user's.
        if turn.speaker is not Speaker.USER:
            return await self._not_the_user(turn)
        is_yes = await self._bare_answer(turn.text)
        if is_yes is not None:
            return await self._answer(turn, is_yes=is_yes)
        now_ms = self._deps.clock.now_ms()
        watch = Stopwatch(self._deps.clock)
        facts = await self._read(turn)
        read_ms = watch.lap_ms()
        await self._deps.intake.take(turn, facts)
        watch.lap_ms()  # whether a language model is to read the turn as well is no part of the gate's own time
        candidates = await self._found(turn, facts)
        judge_ms = watch.lap_ms()
        rulings = await self._rule(turn, facts, candidates, now_ms)
        spent = GateSpent(read_ms=read_ms, judge_ms=judge_ms, policy_ms=watch.lap_ms())
        ready = await self._writes.ready(turn, rulings.facts, now_ms=now_ms)
        dropped = (*facts.dropped, *self._not_read(turn), *rulings.dropped, *ready.dropped)
        if not ready.writes and not dropped:
            dropped = (DroppedFact(reason=facts.reason),)
        return await self._admit(turn, ready, dropped, now_ms, spent)

    async def _bare_answer(self, text: str) -> bool | None:
        """Whether the turn is nothing but a yes or a no. A long one is not, and is not read for that."""
        if len(text) > ANSWER_CHARS_MAX:
            return None
        return await self._deps.text_work.run(partial(_answer_in, text), chars=len(text))

    async def _answer(self, turn: ObservedTurn, *, is_yes: bool) -> ObserveReply:
        proposal_id = turn.answers or self._notes.answerable(turn.session, turn.turn_id)
        answered = await self._answers.answer(turn, proposal_id, is_yes=is_yes)
        self._notes.user_said(turn.session, turn.turn_id, asked=None, is_repeat=answered.is_repeat)
        return answered.reply

    async def _not_the_user(self, turn: ObservedTurn) -> ObserveReply:
        """Note that it was said, and that nothing in it is the user's, whoever offers it as such."""
        if turn.speaker is Speaker.ASSISTANT:
            self._notes.assistant_said(turn.session, turn.turn_id, turn.text)
        reason = AdmissionReason.NOT_USER_SPEAKER
        offered = (_offered(turn, reason, _SPEAKER_RULE),) * (len(turn.offered) + len(turn.unreadable))
        dropped = (DroppedFact(reason=reason, rule=_SPEAKER_RULE), *offered)
        return await self._admit(turn, ReadyFacts(), dropped, self._deps.clock.now_ms())

    async def _read(self, turn: ObservedTurn) -> TurnFacts:
        options = self._deps.options
        work = partial(
            read_turn,
            turn.text,
            turn.offered if options.is_on else (),
            client=turn.client,
            has_rules=options.is_on and options.has_rules,
        )
        chars = len(turn.text) + sum(len(each.statement) + len(each.quote) for each in turn.offered)
        return await self._deps.text_work.run(work, chars=chars)

    def _not_read(self, turn: ObservedTurn) -> tuple[DroppedFact, ...]:
        """Candidates that no policy sees: each is told of all the same."""
        unreadable = tuple(_offered(turn, AdmissionReason.UNREADABLE_CANDIDATE, field) for field in turn.unreadable)
        if self._deps.options.is_on:
            return unreadable
        return (*unreadable, *(_offered(turn, AdmissionReason.POSITION, _OFF_RULE) for _ in turn.offered))

    async def _found(self, turn: ObservedTurn, facts: TurnFacts) -> tuple[FactCandidate, ...]:
        """What the rules found, and what the judge finds."""
        deps = self._deps
        if not deps.options.is_on or not facts.turn.text or facts.is_refused:
            return facts.candidates
        by_s = min(deps.clock.monotonic_s() + EMBED_WAIT_S_MAX, turn.deadline_s - WRITE_RESERVE_S)
        return (*facts.candidates, *await deps.judge.judge(facts.turn, user=turn.user, deadline_s=by_s))

    async def _rule(
        self, turn: ObservedTurn, facts: TurnFacts, candidates: tuple[FactCandidate, ...], now_ms: int
    ) -> TurnRulings:
        """Have the policy rule on everything that was found."""
        if not candidates:
            return TurnRulings()
        deps, options = self._deps, self._deps.options
        context = AdmissionContext(
            turn=facts.turn,
            speaker=turn.speaker,
            said=facts.said,
            at_ms=turn.at_ms,
            zone=turn.time_zone,
            now_ms=now_ms,
            injected=await self._injected(turn),
            previous_answer=self._notes.of(turn.session).previous_answer,
            position=options.position,
            judge_strict=options.judge_strict,
        )
        rulings = await deps.text_work.run(partial(rule_turn, candidates, context), chars=len(facts.turn.text))
        if not options.is_shadow:
            return rulings
        return msgspec.structs.replace(rulings, facts=shadowed(rulings.facts))

    async def _injected(self, turn: ObservedTurn) -> dict[str, str]:
        """The texts that memory, or the runtime by itself, has put before the user in this session, by id."""
        shown = await self._view.shown(turn.session, deadline_s=turn.deadline_s - WRITE_RESERVE_S)
        ids = tuple(dict.fromkeys((*turn.injected[-INJECTED_MAX:], *shown[-INJECTED_MAX:])))
        if not ids:
            return {}
        memories = await self._deps.reader.memories(turn.user, ids)
        return {memory_id: memory.text for memory_id, memory in memories.items()}

    async def _admit(
        self,
        turn: ObservedTurn,
        ready: ReadyFacts,
        dropped: Sequence[DroppedFact],
        now_ms: int,
        spent: GateSpent = UNSPENT,
    ) -> ObserveReply:
        deps = self._deps
        command = turn_command(
            turn,
            decision_id=deps.ids.new_id("adm"),
            now_ms=now_ms,
            writes=ready.writes,
            dropped=tuple(dropped),
            limits=deps.options.limits,
            ration_since_ms=self._notes.of(turn.session).started_ms,
            spent=spent,
        )
        admitted = await answered_by_store(ask_store(deps.store, command, deadline_s=turn.deadline_s))
        reply = turn_reply(admitted)
        if turn.speaker is Speaker.USER:
            self._notes.user_said(turn.session, turn.turn_id, asked=_waiting_in(reply), is_repeat=admitted.is_repeat)
        deps.events.publish(admitted_event(turn.user, reply, is_repeat=admitted.is_repeat, at_ms=now_ms))
        return reply


def _offered(turn: ObservedTurn, reason: AdmissionReason, rule: str) -> DroppedFact:
    """A candidate of the runtime's own model that led to nothing."""
    return DroppedFact(reason=reason, rule=rule, generator=Generator.MODEL, source_rule=turn.client or OFFER_RULE)


def _answer_in(text: str) -> bool | None:
    """Whether the user's own words are nothing but a yes or a no, whatever the host put around them."""
    return answer_in(prepare_turn(text).text)


def _waiting_in(reply: ObserveReply) -> Proposal | None:
    """The latest proposal of a reply that waits for an answer; None: none does."""
    waiting = (
        verdict.proposal
        for verdict in reversed(reply.proposals)
        if verdict.proposal is not None and verdict.proposal.state is ProposalState.PENDING
    )
    return next(waiting, None)
