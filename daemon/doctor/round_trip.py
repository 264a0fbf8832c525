"""Store, recall and forget one memory under a reserved user, through the socket, and leave nothing behind.

It is the one check that proves the whole path, models included; a recall that does not bring back what was just stored
is broken, however green everything else looks.
"""

from __future__ import annotations

from typing import Final

from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, failed, not_checked, passed, warned
from recalld.models.domain.errors import ErrorCode
from recalld.models.domain.reasons import RecallMode
from recalld.models.domain.reserved import reserved_user
from recalld.protocol import requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import ClientError
from recalld.protocol.replies import Recalled

_TEXT: Final = "The spare key of the lighthouse hangs behind the green door of the boat shed."
_QUERY: Final = "Where does the spare key of the lighthouse hang?"
_BUDGET_MS: Final = 5_000
_LEDGER_WAIT_S: Final = 3.0
"""Ledger rows are written in batches; the row of the recall has to be there before it can be removed."""
_LEDGER_PAUSE_S: Final = 0.05


def check_round_trip(context: DoctorContext) -> Finding:
    """What is stored comes back when it is asked for, and is gone once forgotten."""
    welcome = context.live.welcome
    if welcome is None or context.live.health is None:
        return not_checked("the daemon is not reachable")
    user = reserved_user(welcome.session_defaults.user_prefix, context.pid)
    decision_ids: list[str] = []
    with context.connect() as client:
        try:
            finding = _examine(client, user, context, decision_ids)
        finally:
            leftover = _purge(client, user, decision_ids)
    if leftover:
        return failed(f"the test left something behind: {leftover}", f"run `recalld list --user {user}`")
    return finding


def _examine(client: Client, user: str, context: DoctorContext, decision_ids: list[str]) -> Finding:
    """Store and recall; notes the ids of decisions as they are made, so that a failure half-way is cleaned up, too."""
    try:
        remembered = client.remember(requests.Remember(user=user, text=_TEXT, asks=(_QUERY,)))
        decision_ids.append(remembered.decision_id)
        request = requests.Recall(user=user, session="", text=_QUERY, budget_ms=_BUDGET_MS)
        recalled = client.recall(request, timeout_s=2 * _BUDGET_MS / 1_000)
        decision_ids.append(recalled.recall_id)
        _await_ledger_row(client, user, recalled.recall_id, context)
    except ClientError as error:
        return failed(f"the daemon refused: {error.message}", "see the checks above; the daemon's log says more")
    return _judge(recalled, remembered.memory.id, is_gate_on=context.settings.recall.gate == "on")


def _judge(recalled: Recalled, memory_id: str, *, is_gate_on: bool) -> Finding:
    took = f"{recalled.timings.total_ms:.0f} ms"
    recalled_ids = tuple(item.id for item in recalled.items)
    if recalled.shadow is not None:  # what is handed over then says nothing about the gates
        recalled_ids = recalled.shadow.item_ids
    if memory_id not in recalled_ids:
        return failed(
            f"the stored memory was not recalled: {recalled.decision}, {recalled.reason}, mode {recalled.mode}, {took}",
            "see the checks of models, full-text index and gate above",
        )
    if is_gate_on and recalled.mode != RecallMode.GATED:
        return warned(
            f"the stored memory was recalled, but without the gate: {recalled.degraded_reason}, {took}",
            "see the checks of scorer and gate above",
        )
    return passed(f"stored, recalled ({recalled.mode}, {took}) and forgotten")


def _await_ledger_row(client: Client, user: str, recall_id: str, context: DoctorContext) -> None:
    """Wait, for a bounded time, until the recall's row is written: one that came after the purge would stay."""
    deadline_s = context.clock.monotonic_s() + _LEDGER_WAIT_S
    while not _is_explained(client, user, recall_id) and context.clock.monotonic_s() < deadline_s:
        context.pause(_LEDGER_PAUSE_S)


def _is_explained(client: Client, user: str, decision_id: str) -> bool:
    try:
        client.explain(requests.Explain(user=user, decision_id=decision_id))
    except ClientError as error:
        if error.code != ErrorCode.NOT_FOUND:
            raise
        return False
    return True


def _purge(client: Client, user: str, decision_ids: list[str]) -> str:
    """Remove everything of the reserved user; says what stayed behind, or nothing."""
    try:
        page = client.list_memories(requests.ListMemories(user=user))
        ids = tuple(memory.id for memory in page.memories)
        if ids:
            client.forget(requests.Forget(user=user, ids=ids, hard=True, purge=True))
        left = client.list_memories(requests.ListMemories(user=user)).total
        explained = [decision_id for decision_id in decision_ids if _is_explained(client, user, decision_id)]
    except ClientError as error:
        return error.message
    if left:
        return f"{left} memories are still listed"
    return f"the decisions {', '.join(explained)} are still in the ledger" if explained else ""
