"""What must hold whatever broke."""

from __future__ import annotations

from collections import Counter

import anyio
from actor_system import FLOOR, System, rejecting, shared_words
from simulation_faults import raising
from simulation_world import TOPICS, Answered, World

from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import DegradedReason, RecallDecision, RecallMode

SLACK_S = 1e-6
TRIES_MAX = 12


def check_answers(world: World) -> None:
    """Every recall is answered once, in time, with the user's own live memories only."""
    assert world.open == 0, "somebody is still waiting"
    assert len(world.answers) == world.asked
    ids = Counter(answer.outcome.recall_id for answer in world.answers)
    assert max(ids.values(), default=1) == 1
    finals = Counter(event.fields["recall_id"] for event in world.system.events(EventName.MEMORY_RETRIEVAL_FINAL))
    for answer in world.answers:
        assert finals[answer.outcome.recall_id] == 1, answer
        assert answer.answered_s < answer.query.deadline_s, answer
        _check_outcome(answer)


def _check_outcome(answer: Answered) -> None:
    outcome, query = answer.outcome, answer.query
    for item in outcome.items:
        assert item.memory.user == query.user, answer
        assert item.memory.text.endswith(f" of {query.user}"), answer
        assert item.memory.id not in answer.gone, answer
    shown = [item.memory.id for item in outcome.items]
    assert len(set(shown)) == len(shown)
    assert bool(shown) == (outcome.decision is RecallDecision.INJECT), answer
    coverage = outcome.coverage
    skipped = coverage.skipped_wrong_scope + coverage.skipped_out_of_interval + coverage.skipped_unreadable
    assert coverage.discovered == coverage.searched + skipped, answer
    if outcome.mode is RecallMode.FLOOR_ONLY:
        assert outcome.degraded_reason is not None, answer
        assert shown == list(outcome.floor_items), answer
        for item in outcome.items:
            evidence = item.evidence
            assert evidence.cosine is None or evidence.cosine >= FLOOR, answer
            assert item.relevance is None
    if outcome.mode is RecallMode.GATED and not query.is_search:
        assert all(item.relevance is not None for item in outcome.items), answer
    if outcome.mode is RecallMode.EMPTY:
        assert outcome.decision is RecallDecision.ERROR
        assert not shown


def check_twins(world: World) -> None:
    """A recall whose gate failed shows what its twin, asked at the same moment, would have shown without a gate."""
    with_vectors = {RecallMode.GATED, RecallMode.FLOOR_ONLY}
    for one, other in world.twins:
        if {one.outcome.mode, other.outcome.mode} <= with_vectors:
            assert one.outcome.floor_items == other.outcome.floor_items, (one, other)


def check_events(world: World, *, cooldown_s: float) -> None:
    """One event a cause and cooldown at most, and no occurrence untold. Before the drain, which tells what is left."""
    system = world.system
    for part, degraded in (
        ("gate", EventName.MEMORY_RECALL_GATE_DEGRADED),
        ("vector", EventName.MEMORY_RECALL_VECTOR_DEGRADED),
    ):
        last_ms: dict[tuple[object, object], float] = {}
        for at_s, event in _timed(system, degraded):
            cause = (event.fields["reason"], event.fields["detail"])
            assert at_s - last_ms.get(cause, -1e9) >= cooldown_s - SLACK_S, (part, event)
            last_ms[cause] = at_s


def check_counts(world: World, counters: dict[str, int]) -> None:
    """After the drain: events, and what they say was held back, are all that happened."""
    system = world.system
    for part, degraded, recovered in (
        ("gate", EventName.MEMORY_RECALL_GATE_DEGRADED, EventName.MEMORY_RECALL_GATE_RECOVERED),
        ("vector", EventName.MEMORY_RECALL_VECTOR_DEGRADED, EventName.MEMORY_RECALL_VECTOR_RECOVERED),
    ):
        happened = sum(counters.get(f"{part}_{reason}", 0) for reason in DegradedReason)
        told = len(system.events(degraded))
        held_back = sum(
            int(str(event.fields["suppressed_count"]))
            for event in (*system.events(degraded), *system.events(recovered))
        )
        assert told + held_back == happened, (part, told, held_back, happened)


def _timed(system: System, name: EventName) -> list[tuple[float, Event]]:
    return [
        (at_s, event)
        for at_s, (event, _) in zip(system.published_s, system.published, strict=True)
        if event.name is name
    ]


async def check_nothing_is_lost(world: World) -> None:
    """With everything repaired, each acknowledged memory is recalled by a working gate, and no forgotten one."""
    for saved in tuple(world.saved.values()):
        for _ in range(TRIES_MAX):
            answer = await world.recall(saved.user, saved.question)
            if answer.outcome.mode is RecallMode.GATED:
                break
            await anyio.sleep(15)  # the breaker may be open still
        shown = {item.memory.id: item for item in answer.outcome.items}
        assert saved.memory_id in shown, (saved, answer.outcome)
        assert shown[saved.memory_id].evidence.cosine is not None, "it was never embedded, or the index has missed it"


async def check_the_floor(world: World) -> None:
    """With a gate that fails on everything, each answer is the list that the working gate had been given to judge."""
    system, rng = world.system, world.rng("floor")
    compared = 0
    for _ in range(8):
        saved = rng.choice(sorted(world.saved.values(), key=lambda each: each.number))
        words = [rng.choice(TOPICS), f"note{saved.number}", saved.user]
        system.scorer.logit = rejecting
        healthy = await world.recall(saved.user, " ".join(words))
        system.scorer.logit = raising
        failing = await world.recall(saved.user, " ".join(reversed(words)))  # the same words, no pair known
        if (healthy.outcome.mode, failing.outcome.mode) == (RecallMode.GATED, RecallMode.FLOOR_ONLY):
            compared += 1
            assert healthy.outcome.items == ()
            assert [item.memory.id for item in failing.outcome.items] == list(healthy.outcome.floor_items)
        system.scorer.logit = shared_words
        await anyio.sleep(15)  # the breaker closes again
    assert compared > 0


async def check_the_ledger(world: World) -> None:
    """Every answered recall can be explained, but for rows that were announced as dropped."""
    missing = 0
    await world.system.running.ledger.settle(deadline_s=world.system.now_s() + 2)
    for answer in world.answers:
        row = await world.system.store.reader.decision(answer.outcome.recall_id)
        missing += row is None or row.user != answer.query.user
    assert missing <= world.system.running.ledger.rows_dropped


def check_rest(world: World) -> None:
    """Before the drain, with nothing in flight: nothing is held."""
    system = world.system
    assert system.running.service._parts.guard._in_gate == 0
    assert all(each.in_flight == 0 for each in system.running.directory._residences.values())
    for script in (system.scorer_thread, system.embedder_thread):
        assert sum(not thread.is_closed for thread in script.made) == 1
        assert script.running == 0


def check_the_end(world: World) -> None:
    """After the drain: nobody waits and nothing runs."""
    system = world.system
    assert world.open == 0
    assert system.supervisor.names == ()
    for script in (system.scorer_thread, system.embedder_thread):
        assert all(thread.is_closed for thread in script.made)
    assert all(
        state.index_bytes == 0 or user in system.running.directory._residences
        for user, state in system.running.directory._states.items()
    )
