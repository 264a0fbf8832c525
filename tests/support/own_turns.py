"""Labelled turns of several conversations with a known structure, as a calibration on one's own data gets them."""

from __future__ import annotations

import random

from recalld.models.calibration.labelled import LabelledCandidate, LabelledTurn
from recalld.models.domain.recall import Evidence, PairShape, TextShape
from recalld.models.domain.records import MemoryKind

CANDIDATES = 8


def make_own_turns(
    conversations: int = 5,
    turns_each: int = 60,
    *,
    seed: int = 7,
    source: str = "notes.jsonl",
    has_asks: bool = False,
    noise_from: int = CANDIDATES,
) -> list[LabelledTurn]:
    """Two of five turns are answerable; a relevant candidate has the higher logit.

    Args:
        conversations: How many.
        turns_each: In each of them.
        seed: Of the chance.
        source: Their name.
        has_asks: Whether every candidate has asks.
        noise_from: From this place on, irrelevant candidates look as relevant as relevant ones.
    """
    rng = random.Random(seed)
    return [
        _turn(rng, source, f"c{conversation}", number, has_asks=has_asks, noise_from=noise_from)
        for conversation in range(conversations)
        for number in range(turns_each)
    ]


def _turn(
    rng: random.Random, source: str, conversation: str, number: int, *, has_asks: bool, noise_from: int
) -> LabelledTurn:
    is_answerable = number % 5 < 2
    relevant_place = rng.choice((0, 0, 0, 1, 2, 4)) if is_answerable else None
    shape = TextShape(words=8, is_question=rng.random() < (0.95 if is_answerable else 0.6))
    return LabelledTurn(
        source=source,
        conversation=conversation,
        turn_id=f"{conversation}-{number}",
        is_answerable=is_answerable,
        candidates=tuple(
            _candidate(
                rng,
                place,
                shape,
                is_relevant=place == relevant_place,
                looks_relevant=place == relevant_place or place >= noise_from,
                has_asks=has_asks,
            )
            for place in range(CANDIDATES)
        ),
    )


def _candidate(
    rng: random.Random, place: int, shape: TextShape, *, is_relevant: bool, looks_relevant: bool, has_asks: bool
) -> LabelledCandidate:
    shift = 1.0 if looks_relevant else 0.0
    ask = min(rng.gauss(0.5 + 0.2 * shift, 0.08), 0.99) if has_asks else None
    return LabelledCandidate(
        memory_id=f"m{place}",
        evidence=Evidence(
            cosine=0.7 - 0.02 * place,
            ask_cosine=ask,
            ask_mean=ask,
            logit=rng.gauss(-6.0 + 8.0 * shift, 2.5),
            shape=shape,
            pair=PairShape(
                other_names=rng.randint(0, 2),
                names_held=rng.choice((1, 1, 0) if looks_relevant else (-1, 0, 1)),
                is_record_asking=rng.random() < 0.1,
            ),
        ),
        is_relevant=is_relevant,
        kind=MemoryKind.FACT,
        place=place,
    )
