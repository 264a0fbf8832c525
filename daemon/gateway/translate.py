"""The one place where wire messages become domain values, and domain values wire messages."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.daemon.gateway import shadowing
from recalld.daemon.gateway.moments import checked_zone, moment_ms
from recalld.models.domain import admission, health, recall, records, store
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.turn_parts import MessagePart, PartKind
from recalld.models.policy.admission.secrets import redact
from recalld.models.policy.expiry import parse_expiry
from recalld.models.policy.impossible_date import find_impossible_end
from recalld.models.policy.memory_checks import check_scope, check_user
from recalld.protocol import items, replies, requests

TURN_KEY_SEPARATOR = "\x1f"
"""Joins session and turn in the store's keys, so neither may contain it."""

PREVIEW_CHARS = 120
FORGOTTEN_IDS_MAX = 10_000
FORGOTTEN_ITEMS_MAX = 100

# --- requests --------------------------------------------------------------------------------------------------------


def recall_query(request: requests.Recall, *, now_ms: int, deadline_s: float) -> recall.RecallQuery:
    """What the recall actor is asked.

    Raises:
        RecalldError: `bad_request` for a value out of its domain, and for a filter by time without a zone.
    """
    zone = checked_zone(request.time_zone)
    present_ms = moment_ms("now", request.now, zone, now_ms=now_ms)
    if request.time == "filter" and zone is None:
        # In another zone "yesterday" would leave out what was stored yesterday, and nobody would see why.
        message = "time_zone: is needed to filter by time; give one such as Europe/Berlin, or leave `time` at boost"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    return recall.RecallQuery(
        user=checked_user(request.user),
        session=key_part("session", request.session),
        text=user_text(request.text, request.parts),
        turn_id=key_part("turn_id", request.turn_id),
        scope=None if request.scope is None else checked_scope(request.scope),
        exclude=request.exclude,
        max_items=request.max_items,
        max_chars=request.max_chars,
        is_search=request.mode == "search",
        explain=request.explain,
        parts=tuple(MessagePart(kind=PartKind(part.role), text=part.text) for part in request.parts),
        turns=None if request.turns is None else tuple(turn.text for turn in request.turns),
        now_ms=None if request.now is None else present_ms,
        time_zone=request.time_zone,
        time=recall.TimeUse(request.time),
        deadline_s=deadline_s,
        budget_s=None if request.budget_ms is None else request.budget_ms / 1000,
    )


def remember_request(request: requests.Remember, *, now_ms: int, deadline_s: float) -> admission.RememberRequest:
    """The explicit save. A time of expiry without an offset is read in the request's zone."""
    expires_at_ms = None
    zone = checked_zone(request.time_zone)
    if request.expires_at is not None:
        expires_at_ms = parse_expiry(request.expires_at, now_ms=now_ms, zone=zone)
    memory = records.NewMemory(
        user=checked_user(request.user),
        text=_memory_text(request.text),
        kind=records.MemoryKind(request.kind),
        scope=checked_scope(request.scope),
        cues=request.cues,
        asks=request.asks,
        source=records.MemorySource.EXPLICIT,
        expires_at_ms=expires_at_ms,
    )
    session = key_part("session", request.session)
    return admission.RememberRequest(memory=memory, session=session, deadline_s=deadline_s)


def forget_request(request: requests.Forget, *, deadline_s: float) -> admission.ForgetRequest:
    """What to forget.

    Raises:
        RecalldError: `bad_request` unless exactly one of ids and query is given.
    """
    if bool(request.ids) == bool(request.query.strip()):
        message = "ids and query: give either ids or a query with at least one word, and not both"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    return admission.ForgetRequest(
        user=checked_user(request.user),
        ids=request.ids,
        query=request.query,
        is_hard=request.hard,
        is_dry_run=request.dry_run,
        is_purge=request.purge,
        notes_query=request.notes_query,
        deadline_s=deadline_s,
    )


def list_filter(request: requests.ListMemories) -> store.ListFilter:
    """Which memories a listing shows."""
    kind = None if request.kind is None else records.MemoryKind(request.kind)
    scope = None if request.scope is None else checked_scope(request.scope)
    return store.ListFilter(
        scope=scope,
        kind=kind,
        contains=request.contains,
        without_asks=request.without_asks,
        is_superseded=request.superseded,
    )


def event_names(names: Sequence[str]) -> frozenset[EventName]:
    """Names of events to receive.

    Raises:
        RecalldError: `bad_request` for a name that no event has.
    """
    known = {name.value: name for name in EventName}
    for place, name in enumerate(names):
        if name not in known:
            message = f"events[{place}]: no event is named {name!r}; give some of {', '.join(known)}"
            raise RecalldError(ErrorCode.BAD_REQUEST, message)
    return frozenset(known[name] for name in names)


def session_name(session: str) -> str:
    """A session's name.

    Raises:
        RecalldError: `bad_request` when it holds the separator of the store's keys, or a secret.
    """
    return key_part("session", session)


def checked_user(user: str) -> str:
    """A user's name.

    Raises:
        RecalldError: `bad_request` when it is blank, has too many bytes or a NUL.
    """
    check_user(user)
    return user


def checked_scope(scope: str) -> str:
    """A scope.

    Raises:
        RecalldError: `bad_request` when it is only white space, has a NUL or holds a secret.
    """
    check_scope(scope)
    return without_secret("scope", scope)


def key_part(field: str, value: str) -> str:
    """What becomes part of a key of the store.

    Raises:
        RecalldError: `bad_request` when it holds the separator of those keys, or a secret.
    """
    if TURN_KEY_SEPARATOR in value:
        message = f"{field}: contains the character U+001F; take it out"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    return without_secret(field, value)


def without_secret(field: str, value: str) -> str:
    """A name that is stored and logged as it is.

    Raises:
        RecalldError: `bad_request` when it holds a secret; the message does not repeat it.
    """
    if value and redact(value).found:
        message = f"{field}: holds a password, key or token; use a name without one"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    return value


def _memory_text(text: str) -> str:
    if not text.strip():
        message = "text: is blank; say what is to be remembered"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    if (impossible := find_impossible_end(text)) != "":
        message = f"text: ends on {impossible!r}, a day that does not exist; correct the day, or leave it out"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    return text


def user_text(text: str, parts: Sequence[items.TextPart]) -> str:
    """The user's own words: with parts, only those the user typed; what a runtime put in is nobody's wish."""
    if not parts:
        return text
    return "\n".join(part.text for part in parts if part.role == "user")


# --- replies ---------------------------------------------------------------------------------------------------------


def recalled(request_id: int, outcome: recall.RecallOutcome, *, now_ms: int, explain: bool) -> replies.Recalled:
    """The answer to a recall; dropped candidates only when they were asked for."""
    return replies.Recalled(
        id=request_id,
        recall_id=outcome.recall_id,
        decision=shadowing.done_decision(outcome).value,
        mode=outcome.mode.value,
        reason=shadowing.done_reason(outcome).value,
        degraded_reason=None if outcome.degraded_reason is None else outcome.degraded_reason.value,
        degraded_detail=outcome.degraded_detail,
        items=tuple(_recalled_item(item, outcome.gate.threshold, now_ms) for item in outcome.served),
        floor_items=outcome.floor_items,
        dropped=tuple(_dropped_item(item) for item in outcome.dropped) if explain else (),
        coverage=msgspec.convert(outcome.coverage, items.Coverage, from_attributes=True),
        gate=msgspec.convert(outcome.gate, items.GateReport, from_attributes=True),
        timings=msgspec.convert(outcome.timings, items.Timings, from_attributes=True),
        shadow=shadowing.shadow_item(outcome),
    )


def remembered(request_id: int, reply: admission.RememberReply) -> replies.Remembered:
    """What became of an explicit save."""
    return replies.Remembered(
        id=request_id,
        memory=memory_item(reply.memory),
        outcome=reply.outcome.value,
        decision_id=reply.decision_id,
        is_embedded=reply.is_embedded,
        superseded=reply.superseded,
        usage=None if reply.usage is None else msgspec.convert(reply.usage, items.UsageItem, from_attributes=True),
    )


def forgotten(request_id: int, reply: admission.ForgetReply) -> replies.Forgotten:
    """What was forgotten; long lists are cut so that the reply fits a frame, `count` is always the whole."""
    return replies.Forgotten(
        id=request_id,
        count=len(reply.memories),
        ids=tuple(memory.id for memory in reply.memories[:FORGOTTEN_IDS_MAX]),
        items=tuple(_forgotten_item(memory) for memory in reply.memories[:FORGOTTEN_ITEMS_MAX]),
        unknown=reply.unknown,
        tombstones=reply.tombstones,
        is_dry_run=reply.is_dry_run,
        decision_id=reply.decision_id,
        is_erasure_pending=reply.is_erasure_pending,
        pending_turns=reply.notes.pending_turns,
        observations=reply.notes.observations,
        proposals=reply.notes.proposals,
    )


def memories(request_id: int, page: store.MemoryPage) -> replies.Memories:
    """A page of a listing."""
    shown = tuple(memory_item(memory) for memory in page.memories)
    return replies.Memories(id=request_id, memories=shown, cursor=page.cursor, total=page.total)


def explanation(request_id: int, row: store.DecisionRow) -> replies.Explanation:
    """A row of the ledger."""
    return replies.Explanation(
        id=request_id,
        decision_id=row.id,
        user=row.user,
        session=row.session,
        op=row.op.value,
        at_ms=row.at_ms,
        decision=row.decision,
        reason=row.reason,
        mode=row.mode,
        degraded_reason=row.degraded_reason,
        body=row.body.decode(errors="replace"),
    )


def event(request_id: int, happened: Event, *, dropped: int) -> replies.Event:
    """An event of a subscription."""
    return replies.Event(
        id=request_id,
        name=happened.name.value,
        at_ms=happened.at_ms,
        user=happened.user,
        fields=happened.fields,
        dropped=dropped,
    )


def health_report(request_id: int, report: health.HealthReport) -> replies.HealthReport:
    """The daemon's state."""
    probe = report.probe
    return replies.HealthReport(
        id=request_id,
        version=report.version,
        pid=report.pid,
        uptime_s=report.uptime_s,
        is_draining=report.is_draining,
        store=msgspec.convert(report.store, items.StoreState, from_attributes=True),
        scorer=_model_state(report.scorer),
        embedder=_model_state(report.embedder),
        breaker=report.breaker.value,
        gate_mode=report.gate_mode,
        calibration_id=report.calibration_id,
        calibration_matches=report.calibration_matches,
        calibration_detail=report.calibration_detail,
        probe=None if probe is None else msgspec.convert(probe, items.ProbeResult, from_attributes=True),
        window_s=report.window_s,
        window_recalls=report.window_recalls,
        window_degraded=report.window_degraded,
        actors_active=report.actors_active,
        actor_restarts=report.actor_restarts,
        queue_depth=report.queue_depth,
        ledger_rows_dropped=report.ledger_rows_dropped,
        rss_bytes=report.rss_bytes,
        open_fds=report.open_fds,
    )


def memory_item(memory: records.Memory) -> items.MemoryItem:
    """A memory in full, its text verbatim."""
    return items.MemoryItem(
        id=memory.id,
        user=memory.user,
        text=memory.text,
        kind=memory.kind.value,
        scope=memory.scope,
        cues=memory.cues,
        asks=memory.asks,
        source=memory.source.value,
        status=memory.status.value,
        created_at_ms=memory.created_at_ms,
        updated_at_ms=memory.updated_at_ms,
        expires_at_ms=memory.expires_at_ms,
        revision=memory.revision,
        cue_origins=memory.cue_origins,
        ask_origins=memory.ask_origins,
    )


def _recalled_item(item: recall.RecalledItem, threshold: float | None, now_ms: int) -> items.RecalledItem:
    memory, evidence = item.memory, item.evidence
    return items.RecalledItem(
        id=memory.id,
        text=memory.text,
        kind=memory.kind.value,
        scope=memory.scope,
        cosine=evidence.cosine,
        cue_cosine=evidence.cue_cosine,
        ask_cosine=evidence.ask_cosine,
        lexical=evidence.lexical,
        logit=evidence.logit,
        relevance=item.relevance,
        age_s=max(0, now_ms - memory.created_at_ms) / 1000,  # the wall clock may have been set back
        why=_why(item, threshold),
        is_in_interval=evidence.is_in_interval,
        mention=evidence.mention,
        brought_by=item.brought_by,
    )


def _why(item: recall.RecalledItem, threshold: float | None) -> str:
    if item.brought_by:
        return "brought_along"
    if item.is_mentioned:
        return "mentioned"
    if item.is_unscored:
        return "by_evidence" if threshold is None or (item.relevance or 0.0) >= threshold else "below_threshold"
    if item.relevance is not None:
        return "below_threshold" if threshold is not None and item.relevance < threshold else "passed_gate"
    if item.answers_by_time:
        return "in_interval"
    return "matched_words" if item.evidence.cosine is None else "passed_floor"


def _dropped_item(item: recall.DroppedItem) -> items.DroppedItem:
    evidence = item.evidence
    return items.DroppedItem(
        id=item.memory_id,
        reason=item.reason.value,
        cosine=evidence.cosine,
        cue_cosine=evidence.cue_cosine,
        ask_cosine=evidence.ask_cosine,
        lexical=evidence.lexical,
        logit=evidence.logit,
        relevance=item.relevance,
        is_in_interval=evidence.is_in_interval,
        mention=evidence.mention,
    )


def _forgotten_item(memory: records.Memory) -> items.ForgottenItem:
    preview = memory.text[:PREVIEW_CHARS]
    return items.ForgottenItem(id=memory.id, preview=preview, kind=memory.kind.value, scope=memory.scope)


def _model_state(model: health.ModelHealth) -> items.ModelState:
    return items.ModelState(
        state=model.state.value,
        model_id=model.model_id,
        detail=model.detail,
        queue_depth=model.queue_depth,
        restarts=model.restarts,
        jobs=model.jobs,
        failures=model.failures,
    )
