"""Samples for audits in both stores: beside their decisions, bounded, marked, counted, gone with what they are of."""

from __future__ import annotations

import pytest
from store_commands import DrivenStore

from recalld.models.domain.audit_samples import AppendSamples, MarkSample, Sample, SampleAnswer, SampleGroup, SampleKind
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.reasons import Op
from recalld.models.domain.store import Checkpoint
from recalld.models.domain.user_data import PurgeUser

pytestmark = pytest.mark.anyio

ALL = tuple(SampleKind)
DAY_MS = 86_400_000


async def keep(
    store: DrivenStore,
    name: str,
    *memory_id: str,
    kind: SampleKind = SampleKind.GATE_DROP,
    text: str = "what does Ines drink?",
    probability: float = 0.25,
    user: str = "ines",
    rows_max: int = 100,
) -> int:
    """Keep one sample of a new decision, a millisecond after the one before."""
    store.now_ms += 1
    decision_id = await store.show(*memory_id, user=user)
    sample = Sample(
        id=name,
        kind=kind,
        decision_id=decision_id,
        memory_id=memory_id[0] if memory_id else "",
        text=text,
        probability=probability,
        relevance=0.5,
        reason="below_threshold",
        at_ms=store.now_ms,
    )
    return await store.writer.append_samples(AppendSamples(user=user, samples=(sample,), rows_max=rows_max))


async def mark(store: DrivenStore, name: str, answer: SampleAnswer | None, *, user: str = "ines") -> None:
    await store.writer.mark_sample(MarkSample(user=user, sample_id=name, answer=answer, by="cyd", at_ms=store.now_ms))


async def names(store: DrivenStore, *kinds: SampleKind, is_marked: bool = False, user: str = "ines") -> list[str]:
    page = await store.reader.audit_samples(user, kinds or ALL, is_marked=is_marked, limit=50)
    return [sample.id for sample in page.samples]


async def test_samples_are_listed_newest_first_by_kind_and_counted_over_the_limit(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    await keep(store, "a", tea)
    await keep(store, "b", kind=SampleKind.TURN_SKIP)
    await keep(store, "c", tea)
    assert await names(store) == ["c", "b", "a"]
    assert await names(store, SampleKind.TURN_SKIP) == ["b"]
    page = await store.reader.audit_samples("ines", ALL, is_marked=False, limit=1)
    assert ([each.id for each in page.samples], page.left) == (["c"], 2)
    assert (page.samples[0].memory_id, page.samples[0].relevance, page.samples[0].answer) == (tea, 0.5, None)
    assert await names(store, user="omar") == []


async def test_a_decision_is_sampled_once_and_only_beside_its_row(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    assert await keep(store, "a", tea) == 1
    assert await keep(store, "a", tea) == 0
    orphan = Sample(id="x", kind=SampleKind.TURN_SKIP, decision_id="rec_none", probability=1.0, at_ms=1)
    assert await store.writer.append_samples(AppendSamples(user="ines", samples=(orphan,), rows_max=9)) == 0
    assert await store.writer.append_samples(AppendSamples(user="nobody", samples=(orphan,), rows_max=9)) == 0


async def test_the_oldest_of_a_user_give_way(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    for name in ("a", "b", "c"):
        await keep(store, name, tea, rows_max=2)
    assert await names(store) == ["c", "b"]


async def test_a_mark_is_kept_with_who_made_it_changed_and_taken_back(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    await keep(store, "a", tea)
    await mark(store, "a", SampleAnswer.NO)
    await mark(store, "a", SampleAnswer.YES)
    assert await names(store) == []
    (marked,) = (await store.reader.audit_samples("ines", ALL, is_marked=True, limit=9)).samples
    assert (marked.answer, marked.marked_by, marked.marked_at_ms) == (SampleAnswer.YES, "cyd", store.now_ms)
    await mark(store, "a", None)
    assert (await names(store), await names(store, is_marked=True)) == (["a"], [])


@pytest.mark.parametrize(("name", "user"), [("x", "ines"), ("a", "omar"), ("a", "nobody")])
async def test_only_a_sample_of_ones_own_can_be_marked(store: DrivenStore, name: str, user: str) -> None:
    tea = await store.store("Prefers tea")
    await store.store("Prefers rye", user="omar")
    await keep(store, "a", tea)
    with pytest.raises(RecalldError, match="sample_id") as raised:
        await mark(store, name, SampleAnswer.YES, user=user)
    assert raised.value.code is ErrorCode.NOT_FOUND
    assert await names(store) == ["a"]


async def test_samples_are_counted_by_kind_and_probability_since_a_time(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    await keep(store, "a", tea)
    first_ms = store.now_ms
    for name, answer in (("b", SampleAnswer.YES), ("c", SampleAnswer.NO), ("d", SampleAnswer.UNSURE)):
        await keep(store, name, tea)
        await mark(store, name, answer)
    await keep(store, "e", tea, probability=0.5)
    drops, rarer = await store.reader.audit_counts("ines", since_ms=0)
    assert drops == SampleGroup(
        kind=SampleKind.GATE_DROP, probability=0.25, sampled=4, yes=1, no=1, unsure=1, first_at_ms=first_ms
    )
    assert (rarer.probability, rarer.sampled) == (0.5, 1)
    assert await store.reader.audit_counts(None, since_ms=0) == (drops, rarer)
    assert [each.sampled for each in await store.reader.audit_counts("ines", since_ms=first_ms + 1)] == [3, 1]
    assert await store.reader.audit_counts("nobody", since_ms=0) == ()


async def test_what_is_too_old_is_trimmed(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    await keep(store, "a", tea)
    store.now_ms += 2 * DAY_MS
    await keep(store, "b", tea)
    await store.writer.checkpoint(Checkpoint(now_ms=store.now_ms, ledger_keep_ms=9 * DAY_MS, samples_keep_ms=DAY_MS))
    assert await names(store) == ["b"]


@pytest.mark.parametrize("is_hard", [False, True])
async def test_a_forgotten_memory_takes_its_words_along_and_leaves_the_marks_as_figures(
    store: DrivenStore,
    is_hard: bool,  # noqa: FBT001 - a case
) -> None:
    tea = await store.store("Prefers tea")
    rye = await store.store("Prefers rye")
    await keep(store, "a", tea, text="shall I bring tea?")
    await keep(store, "b", rye)
    await mark(store, "a", SampleAnswer.YES)
    await store.forget(tea, is_hard=is_hard)
    assert await names(store) == ["b"]
    (marked,) = (await store.reader.audit_samples("ines", ALL, is_marked=True, limit=9)).samples
    assert (marked.memory_id, marked.text, marked.answer) == ("", "", SampleAnswer.YES)
    assert await keep(store, "late", tea) == 0


async def test_a_record_without_its_memory_and_a_turn_without_words_cannot_be_judged(store: DrivenStore) -> None:
    tea = await store.store("Prefers tea")
    await keep(store, "a", tea, kind=SampleKind.RECORD, text="")
    await keep(store, "b", kind=SampleKind.TURN_SKIP, text="")
    assert await names(store) == ["a"]
    await store.forget(tea)
    assert await names(store) == []


async def test_a_purge_leaves_nothing(store: DrivenStore) -> None:
    await keep(store, "a", await store.store("Prefers tea"))
    await keep(store, "b", await store.store("Prefers rye", user="omar"), user="omar")
    await store.writer.purge_user(PurgeUser(user="ines"))
    assert await names(store) == []
    assert await names(store, user="omar") == ["b"]
    (group,) = await store.reader.audit_counts(None, since_ms=0)
    assert group.sampled == 1


async def test_the_ledger_row_of_another_user_is_no_decision_of_ones_own(store: DrivenStore) -> None:
    await store.store("Prefers tea")
    decision = store.decision("omar", Op.RECALL)
    sample = Sample(id="x", kind=SampleKind.TURN_SKIP, decision_id=decision.id, probability=1.0, at_ms=1)
    assert await store.writer.append_samples(AppendSamples(user="ines", samples=(sample,), rows_max=9)) == 0
