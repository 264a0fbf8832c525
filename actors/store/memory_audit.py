"""Samples for audits in the in-memory store."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import msgspec

from recalld.actors.store.forgetting_rules import Reach, Sought
from recalld.actors.store.memory_state import StoreState, UserState
from recalld.models.domain.audit_samples import (
    AppendSamples,
    MarkSample,
    Sample,
    SampleAnswer,
    SampleGroup,
    SampleKind,
    SamplePage,
)
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import MemoryStatus


def append_samples(store: StoreState, command: AppendSamples) -> int:
    """Keep samples whose decision and memory are there, and let the user's oldest go; how many were kept."""
    state = store.users.get(command.user)
    if state is None:
        return 0
    kept = [each for each in command.samples if each.id not in state.samples and _is_known(store, command.user, each)]
    state.samples.update({sample.id: sample for sample in kept})
    newest = sorted(state.samples.values(), key=lambda each: (each.at_ms, each.id), reverse=True)[: command.rows_max]
    state.samples = {sample.id: sample for sample in newest}
    return len(kept)


def mark_sample(store: StoreState, command: MarkSample) -> None:
    """Note what somebody says of a sample. Raises `NOT_FOUND`."""
    state = store.users.get(command.user, UserState())
    sample = state.samples.get(command.sample_id)
    if sample is None:
        message = (
            f"sample_id: there is no sample {command.sample_id!r} of this user; it may be too old, or was forgotten"
        )
        raise RecalldError(ErrorCode.NOT_FOUND, message)
    is_marked = command.answer is not None
    state.samples[sample.id] = msgspec.structs.replace(
        sample,
        answer=command.answer,
        marked_at_ms=command.at_ms if is_marked else 0,
        marked_by=command.by if is_marked else "",
    )


def find_samples(state: UserState, kinds: Sequence[SampleKind], *, is_marked: bool, limit: int) -> SamplePage:
    """The newest samples of some kinds that are marked, or that are not and can be judged."""
    found = [
        each
        for each in state.samples.values()
        if each.kind in kinds and (each.answer is not None) == is_marked and (is_marked or each.is_auditable)
    ]
    found.sort(key=lambda each: (-each.at_ms, each.id))
    return SamplePage(samples=tuple(found[:limit]), left=len(found[limit:]))


def count_samples(store: StoreState, user: str | None, *, since_ms: int) -> tuple[SampleGroup, ...]:
    """Samples since a time, by kind and probability."""
    found = [
        sample
        for name, state in store.users.items()
        if user in {None, name}
        for sample in state.samples.values()
        if sample.at_ms >= since_ms
    ]
    ordered = groupby(sorted(found, key=_stratum), key=_stratum)
    return tuple(_group(SampleKind(kind), probability, tuple(group)) for (kind, probability), group in ordered)


def forget_samples(state: UserState, reach: Reach) -> None:
    """Blank what names a memory or repeats its words."""
    for sample in tuple(state.samples.values()):
        if sample.memory_id == reach.memory_id:
            state.samples[sample.id] = msgspec.structs.replace(sample, memory_id="", text="")
        elif reach.holds_quote(sample.text):
            state.samples[sample.id] = msgspec.structs.replace(sample, text="")


def forget_sought(state: UserState, sought: Sought) -> None:
    """Blank turns that hold the words by which a person has things forgotten."""
    for sample in tuple(state.samples.values()):
        if sought.is_in(sample.text):
            state.samples[sample.id] = msgspec.structs.replace(sample, text="")


def trim_samples(store: StoreState, before_ms: int) -> None:
    """Drop samples of decisions made before a time."""
    for state in store.users.values():
        state.samples = {id_: sample for id_, sample in state.samples.items() if sample.at_ms >= before_ms}


def _is_known(store: StoreState, user: str, sample: Sample) -> bool:
    row = store.decisions.get(sample.decision_id)
    if row is None or row.user != user:
        return False
    entry = store.users[user].entries.get(sample.memory_id)
    return not sample.memory_id or (entry is not None and entry.memory.status is not MemoryStatus.FORGOTTEN)


def _stratum(sample: Sample) -> tuple[str, float]:
    return sample.kind.value, sample.probability


def _group(kind: SampleKind, probability: float, samples: Sequence[Sample]) -> SampleGroup:
    answers = [sample.answer for sample in samples]
    return SampleGroup(
        kind=kind,
        probability=probability,
        sampled=len(samples),
        yes=answers.count(SampleAnswer.YES),
        no=answers.count(SampleAnswer.NO),
        unsure=answers.count(SampleAnswer.UNSURE),
        first_at_ms=min(sample.at_ms for sample in samples),
    )
