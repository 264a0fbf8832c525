"""Giving the standing block: once for each session and scope, ranked and fitted by `models.policy.standing`."""

from __future__ import annotations

from recalld.actors.events import EventLevel
from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.recall.messages import GiveStanding
from recalld.actors.recall.standing_report import standing_event, standing_row
from recalld.actors.recall.state import RecallState
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.standing import (
    CANDIDATES_MAX,
    StandingBlock,
    StandingCandidates,
    StandingReason,
    StandingRequest,
)
from recalld.models.policy.standing.block import TOKENS_MAX, choose_block, reason_of
from recalld.models.policy.standing.fit import BlockLimits
from recalld.models.policy.standing.rank import StandingRules


class StandingDesk:
    """Answers requests of one user.

    Args:
        state: What the user's sessions have had, and what they see.
        deps: What all recall actors share.
    """

    def __init__(self, state: RecallState, deps: RecallDependencies) -> None:
        self._state = state
        self._deps = deps

    async def answer(self, message: GiveStanding) -> None:
        """Answer one request. What is given counts as given, and as visible, only when somebody took it."""
        request = message.request
        grant = self._state.given.begin(request.session, request.scope)
        is_given = False
        try:
            block = await self._block(request, is_due=grant is not None or request.is_again)
            if message.reply.send(block):
                is_given = bool(block.memories or block.pointers)
                # A session that was compacted meanwhile may have lost it, and asks again.
                if grant is None or self._state.given.holds(request.session, request.scope, grant):
                    given = tuple(memory.id for memory in block.memories)
                    self._state.visible.mark(request.session, given)
                    self._state.served.mark(request.session, given)
        except RecalldError as error:
            message.reply.fail(error)
        finally:
            # Also when the task is cancelled with its actor: a block that nobody got must be given when asked again.
            if grant is not None and not is_given:
                self._state.given.undo(request.session, request.scope, grant)

    async def _block(self, request: StandingRequest, *, is_due: bool) -> StandingBlock:
        block = await (self._fitted(request) if is_due and self._deps.standing.is_on else self._withheld())
        at_ms = self._deps.clock.now_ms()
        self._deps.ledger(standing_row(request, block, at_ms=at_ms))
        self._deps.events.publish(standing_event(request, block, at_ms=at_ms), EventLevel.INFO)
        return block

    async def _withheld(self) -> StandingBlock:
        reason = StandingReason.ALREADY_GIVEN if self._deps.standing.is_on else StandingReason.DISABLED
        return StandingBlock(decision_id=self._deps.ids.new_id("std"), reason=reason)

    async def _fitted(self, request: StandingRequest) -> StandingBlock:
        """Read, rank and fit. Raises `RecalldError` when the store cannot be read."""
        deps, limits = self._deps, self._deps.standing
        found: StandingCandidates = await deps.reader.standing_candidates(
            request.user, request.scope, now_ms=deps.clock.now_ms(), limit=CANDIDATES_MAX
        )
        rules = StandingRules(
            value_min=limits.value_min,
            error_cost_words=limits.error_cost_words,
            visible=frozenset() if request.is_again else self._state.served.visible(request.session),
        )
        chars_max = limits.max_chars if request.max_chars is None else request.max_chars
        room = BlockLimits(chars_max=chars_max, lines_max=limits.max_lines, tokens_max=TOKENS_MAX)
        chars = sum(len(candidate.memory.text) for candidate in found.candidates)
        fitted = await deps.text_work.run(lambda: choose_block(found, rules, room), chars=chars)
        return StandingBlock(
            decision_id=deps.ids.new_id("std"),
            reason=reason_of(fitted.rows),
            memories=fitted.memories,
            pointers=fitted.pointers,
            left_out=fitted.left_out + found.unread,
            chars=fitted.chars,
            chars_max=chars_max,
            tokens=fitted.tokens,
            rows=fitted.rows,
        )
