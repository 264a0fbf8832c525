"""Labelled turns with a known structure, made from a fixed seed."""

from __future__ import annotations

import random

import pytest

from recalld.models.calibration.labelled import LabelledCandidate, LabelledTurn
from recalld.models.domain.recall import Evidence, TextShape
from recalld.models.domain.records import MemoryKind


def _candidate(
    rng: random.Random, memory_id: str, shape: TextShape, *, is_relevant: bool, has_asks: bool
) -> LabelledCandidate:
    shift = 1.0 if is_relevant else 0.0
    ask = min(rng.gauss(0.50 + 0.25 * shift, 0.08), 0.99) if has_asks else None
    return LabelledCandidate(
        memory_id=memory_id,
        evidence=Evidence(
            cosine=min(rng.gauss(0.45 + 0.10 * shift, 0.08), 0.99),
            cue_cosine=None if rng.random() < 0.2 else min(rng.gauss(0.45 + 0.15 * shift, 0.08), 0.99),
            ask_cosine=ask,
            ask_mean=None if ask is None else ask - abs(rng.gauss(0.05, 0.03)),
            shape=shape,
            logit=rng.gauss(-7.0 + 6.0 * shift, 2.5),
        ),
        is_relevant=is_relevant,
        kind=MemoryKind.FACT,
    )


def make_turns(sources: int, turns_each: int, seed: int = 7) -> list[LabelledTurn]:
    rng = random.Random(seed)
    made: list[LabelledTurn] = []
    for source in range(sources):
        for number in range(turns_each):
            is_answerable = number % 5 < 2
            shape = TextShape(
                words=rng.randint(2, 20),
                is_question=rng.random() < 0.5,
                is_open_question=rng.random() < 0.5,
                is_personal=rng.random() < (0.7 if is_answerable else 0.3),
            )
            candidates = tuple(
                _candidate(
                    rng, f"m{place}", shape, is_relevant=is_answerable and place == 0, has_asks=rng.random() < 0.8
                )
                for place in range(6)
            )
            made.append(
                LabelledTurn(
                    source=f"source_{source}",
                    conversation=f"c{number // 4}",
                    turn_id=f"q{number}",
                    is_answerable=is_answerable,
                    candidates=candidates,
                )
            )
    return made


@pytest.fixture(scope="session")
def three_sources() -> list[LabelledTurn]:
    return make_turns(3, 40)


@pytest.fixture(scope="session")
def one_source() -> list[LabelledTurn]:
    return make_turns(1, 60)
