"""Whatever is done to a store, both implementations of it answer alike."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import anyio
import msgspec
from admission_steps import AdmissionStep, admission_steps, seen_of_admission, take_admission_step
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_commands import EMBEDDER, OTHER_EMBEDDER, DrivenStore

from recalld.actors.ports import MemoryReader
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.outcomes import OutcomeResult
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import MemoryKind, VectorRole
from recalld.models.domain.standing import StandingAction
from recalld.models.domain.store import Checkpoint, ListFilter, TextVector

USERS = ("ines", "ines1", "omar")
WORDS = ("tea", "Tea.", "running late", "runs late", "C++", "Größe", "GRÖSSE", "项目用pnpm", "tea running")
SCOPES = ("", "work")
TURNS = ("", "s\x1f1", "s\x1f2")

Opener = Callable[[Path], AbstractAsyncContextManager[DrivenStore]]
Observation = tuple[str, ...]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One thing done to a store; what a field means depends on `verb`, and unused ones mean nothing."""

    verb: str
    user: str = "ines"
    text: str = "tea"
    scope: str = ""
    turn_key: str = ""
    number: int = 1
    is_so: bool = False
    lifetime_ms: int | None = None
    kind: MemoryKind = MemoryKind.FACT
    cues: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    pause_ms: int = 0


VERBS = (
    "remember",
    "remember",
    "remember",
    "hear",
    "note",
    "forget",
    "embed",
    "update",
    "expire",
    "checkpoint",
    "purge",
    "report",
    "choose",
)
STEPS = st.builds(
    Step,
    verb=st.sampled_from(VERBS),
    user=st.sampled_from(USERS),
    text=st.sampled_from(WORDS),
    scope=st.sampled_from(SCOPES),
    turn_key=st.sampled_from(TURNS),
    number=st.integers(1, 8),
    is_so=st.booleans(),
    lifetime_ms=st.none() | st.integers(1, 9_000),
    kind=st.sampled_from((MemoryKind.FACT, MemoryKind.PREFERENCE)),
    cues=st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
    asks=st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
    pause_ms=st.sampled_from((0, 0, 3_000)),
)


async def apply(store: DrivenStore, step: Step) -> str:  # noqa: C901 - one case each
    """Do one step; what the store answered, errors included."""
    store.now_ms += step.pause_ms
    memory_id = f"mem-{step.number:04}"
    try:
        match step.verb:
            case "remember" | "hear":
                expires_at_ms = None if step.lifetime_ms is None else store.now_ms + 1_000 + step.lifetime_ms
                answer: object = await store.remember(
                    step.text,
                    user=step.user,
                    scope=step.scope,
                    turn_key=step.turn_key,
                    is_explicit=step.verb == "remember",
                    is_embedded=step.is_so,
                    kind=step.kind,
                    cues=step.cues,
                    asks=step.asks,
                    expires_at_ms=expires_at_ms,
                    decision="",
                    # Now and then an id that is taken.
                    memory_id=memory_id if step.number == 8 else "",
                )
            case "note":
                answer = await store.record_turn(step.turn_key, AdmissionReason.QUESTION)
            case "forget":
                answer = await store.forget(memory_id, "mem-0001", user=step.user, is_hard=step.is_so)
            case "embed":
                embedder_key = EMBEDDER if step.is_so else OTHER_EMBEDDER
                answer = await store.embed(memory_id, user=step.user, embedder_key=embedder_key, value=step.number)
            case "update":
                answer = await change(store, step, memory_id)
            case "expire":
                answer = await store.expire()
            case "checkpoint":
                await store.writer.checkpoint(
                    Checkpoint(now_ms=store.now_ms, ledger_keep_ms=step.number * 2_000, changes_keep=step.number)
                )
                answer = None
            case "report" | "choose":
                answer = await say(store, step, memory_id)
            case "purge":
                answer = await store.forget(user=step.user, is_purge=True)
            case _:
                raise AssertionError(step.verb)
    except RecalldError as error:
        return f"{error.code}"
    return repr(answer)


async def apply_any(store: DrivenStore, step: Step | AdmissionStep) -> str:
    """Do one step of either kind; what the store answered, errors included."""
    match step:
        case Step():
            return await apply(store, step)
        case AdmissionStep():
            try:
                return repr(await take_admission_step(store, step))
            except RecalldError as error:
                return f"{error.code}: {error.message}"


async def change(store: DrivenStore, step: Step, memory_id: str) -> object:
    """Change a memory; half of the time with the vectors of what is new."""
    vectors = tuple(
        TextVector(role=role, ordinal=ordinal, data=bytes([step.number, ordinal] * 4))
        for role, texts in ((VectorRole.CUE, step.cues), (VectorRole.ASK, step.asks))
        for ordinal in range(len(texts))
    )
    return await store.update(
        memory_id,
        user=step.user,
        if_revision=2 if step.number == 3 else None,
        cues=step.cues if step.is_so else None,
        asks=step.asks,
        kind=step.kind,
        scope=step.scope,
        vectors=vectors if step.is_so else (),
        embedder_key=EMBEDDER if step.is_so and vectors else "",
    )


async def say(store: DrivenStore, step: Step, memory_id: str) -> object:
    """Report an outcome, or decide about the standing block."""
    if step.verb == "choose":
        actions = tuple(StandingAction)
        return await store.choose(memory_id, actions[step.number % len(actions)], user=step.user)
    shown = await store.show(memory_id, user=step.user)
    result = OutcomeResult.MISSED if step.is_so else OutcomeResult.USED
    return await store.report(shown, result, "mem-0001" if step.is_so else memory_id, user=step.user)


async def observe(store: DrivenStore) -> Observation:
    """Everything a caller can see of a store."""
    seen: list[object] = []
    reader: MemoryReader = store.reader
    for user in USERS:
        seen += [user, reader.seq(user), await reader.load_seq(user)]
        seen.append(await reader.memories(user, [f"mem-{number:04}" for number in range(1, store.memories + 1)]))
        for what in (ListFilter(), ListFilter(scope="work"), ListFilter(contains="TEA")):
            seen.append(await reader.list_memories(user, what, now_ms=store.now_ms, limit=2, cursor=None))
        for terms, scope in ((["tea", "running"], None), (["c++", "grosse", "pnpm"], None), (["late"], "work")):
            seen.append(await reader.lexical(user, terms, now_ms=store.now_ms, limit=5, scope=scope))
        memory_ids = [f"mem-{number:04}" for number in range(1, store.memories + 1)]
        seen.append(await reader.outcomes(user, memory_ids))
        seen += [await reader.reported(user, memory_id=memory_id, limit=2) for memory_id in memory_ids]
        for scope in ("", "work"):
            seen.append(await reader.standing_candidates(user, scope, now_ms=store.now_ms, limit=3))
        for since_seq in (0, reader.seq(user), max(reader.seq(user) - 2, 0), max(reader.seq(user) - 6, 0)):
            seen.append(await reader.index_delta(user, EMBEDDER, since_seq=since_seq, now_ms=store.now_ms))
        seen.append(await reader.counts(user, EMBEDDER, now_ms=store.now_ms, scope="work"))
        seen += await seen_of_admission(reader, user, store.now_ms, memory_ids)
    seen.append(await reader.pending(EMBEDDER, now_ms=store.now_ms, limit=3))
    seen += [await reader.decision(f"dec-{number}") for number in range(1, store.decisions + 1)]
    health = await reader.health(EMBEDDER, now_ms=store.now_ms)
    seen.append(msgspec.structs.replace(health, db_bytes=0, wal_bytes=0))
    return tuple(map(repr, seen))


async def run(open_store: Opener, steps: Sequence[Step | AdmissionStep]) -> tuple[list[str], Observation]:
    with tempfile.TemporaryDirectory() as directory:
        async with open_store(Path(directory) / "data") as store:
            answers = [await apply_any(store, step) for step in steps]
            return answers, await observe(store)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=st.lists(STEPS, max_size=25))
def test_both_stores_answer_alike_after_any_sequence_of_commands(openers: dict[str, Opener], steps: list[Step]) -> None:
    answers, seen = {}, {}
    for name, opener in openers.items():
        answers[name], seen[name] = anyio.run(partial(run, opener, steps))
    assert answers["memory"] == answers["sqlite"]
    assert seen["memory"] == seen["sqlite"]


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=st.lists(admission_steps(USERS[:2]) | STEPS, max_size=20))
def test_both_stores_answer_alike_after_any_sequence_of_turns_and_answers(
    openers: dict[str, Opener], steps: list[Step | AdmissionStep]
) -> None:
    answers, seen = {}, {}
    for name, opener in openers.items():
        answers[name], seen[name] = anyio.run(partial(run, opener, steps))
    assert answers["memory"] == answers["sqlite"]
    assert seen["memory"] == seen["sqlite"]
