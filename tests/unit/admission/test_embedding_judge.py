from __future__ import annotations

import anyio
import numpy as np
import pytest
from actor_system import DIMS, EMBEDDER_KEY, System, running_system, word_vector
from judged_rows import make_rows

from recalld.actors.admission.embedding_judge import EmbeddingJudge
from recalld.actors.text_work import ImmediateTextWork
from recalld.models.calibration.admission_calibrate import AdmissionInfo, calibrate_admission
from recalld.models.calibration.admission_record import AdmissionRecord
from recalld.models.policy.judge.find import JudgeThresholds
from recalld.models.policy.judge.model import Judge
from recalld.models.policy.save_turn import prepare_turn

pytestmark = pytest.mark.anyio
TURN = prepare_turn("Good morning! We use Consul here. Thanks.")
EVERYTHING = JudgeThresholds(balanced=-1e9, strict=1e9)


@pytest.fixture(scope="module")
def record() -> AdmissionRecord:
    info = AdmissionInfo(
        id="words", date="2026-11-30", provenance="a test", embedder_key=EMBEDDER_KEY, corpus_sha256="0"
    )
    return calibrate_admission(make_rows(), lambda text: word_vector(text, False), info)  # noqa: FBT003 - the fake's


def judge_over(system: System, record: AdmissionRecord, *, key: str = EMBEDDER_KEY) -> EmbeddingJudge:
    return EmbeddingJudge(
        embedder=system.running.embedder,
        text_work=ImmediateTextWork(),
        judge=Judge.of(record.model),
        thresholds=EVERYTHING,
        embedder_key=key,
        record_id=record.id,
    )


async def test_the_best_sentence_of_a_turn_is_found(record: AdmissionRecord) -> None:
    async with running_system(System()) as system:
        (found,) = await judge_over(system, record).judge(TURN, user="ines", deadline_s=system.now_s() + 1)
    assert (found.quote, found.rule) == ("We use Consul here", "words")
    assert len(word_vector("x", False)) == DIMS == record.model.dims  # noqa: FBT003 - the fake's


async def test_without_an_embedder_nothing_is_found(record: AdmissionRecord) -> None:
    async with running_system(System(missing={"embedder"})) as system:
        assert await judge_over(system, record).judge(TURN, user="ines", deadline_s=system.now_s() + 1) == ()


async def test_another_embedder_than_the_records_finds_nothing(record: AdmissionRecord) -> None:
    async with running_system(System()) as system:
        judge = judge_over(system, record, key="another")
        assert await judge.judge(TURN, user="ines", deadline_s=system.now_s() + 1) == ()


async def test_a_slow_embedder_is_waited_for_until_the_deadline_and_no_longer(record: AdmissionRecord) -> None:
    async with running_system(System()) as system:
        system.embedder_thread.call_s = lambda: 5.0
        started_s = system.now_s()
        assert await judge_over(system, record).judge(TURN, user="ines", deadline_s=started_s + 0.5) == ()
        assert system.now_s() - started_s < 1.0
        await anyio.sleep(20)


async def test_a_turn_without_words_is_not_embedded(record: AdmissionRecord) -> None:
    async with running_system(System()) as system:
        before = len(system.embedder.embedded)
        assert await judge_over(system, record).judge(prepare_turn("`x`"), user="ines", deadline_s=9.0) == ()
        assert len(system.embedder.embedded) == before
    assert np.isfinite(record.thresholds.balanced)
