"""Files of labelled rows, and models that tell their relevant pairs apart, for the calibrate command."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.daemon.own_calibration.labelling import PairModels, Record
from recalld.daemon.own_calibration.rows import RecallRow

DIMS = 16
TOPICS = ("bread", "boats", "chess", "dunes", "foxes", "glass", "hikes", "inks")


def make_rows(conversations: int = 4, turns_each: int = 60, *, seed: int = 5) -> list[RecallRow]:
    """Each conversation has a record for each topic; two of five turns ask for one that is there."""
    rng = random.Random(seed)
    rows: list[RecallRow] = []
    for conversation in range(conversations):
        for number in range(turns_each):
            is_answerable = number % 5 < 2
            topic = rng.choice(TOPICS)
            kept = [each for each in TOPICS if is_answerable or each != topic]
            memories = tuple(
                Record(
                    id=f"{conversation}-{each}-{number}",
                    text=f"The user keeps {each}",
                    ts=f"2026-0{1 + place % 9}-03T10:00:00Z",
                )
                for place, each in enumerate(kept)
            )
            rows.append(
                RecallRow(
                    id=f"{conversation}-{number}",
                    user=f"house-{conversation}:ines",
                    query=f"What about my {topic}, number {number}?",
                    query_kind="made_up",
                    relevant=(f"{conversation}-{topic}-{number}",) if is_answerable else (),
                    nothing_relevant=not is_answerable,
                    memories=memories,
                )
            )
    return rows


def write_rows(path: Path, rows: list[RecallRow]) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return path


def telling_models() -> PairModels:
    """A text's vector points to its topic; a pair of one topic has a high logit, with some noise."""
    return PairModels(_vector, _vector, _logit)


def _vector(text: str) -> NDArray[np.float32]:
    vector = np.full(DIMS, 0.05 + _chance(text) / 10, dtype=np.float32)
    for place, topic in enumerate(TOPICS):
        if topic in text:
            vector[place] = 1.0
    unit: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
    return unit


def _logit(query: str, text: str) -> float:
    is_same = any(topic in query and topic in text for topic in TOPICS)
    return (4.0 if is_same else -6.0) + 4.0 * _chance(query + text)


def _chance(text: str) -> float:
    """In [0, 1), the same for the same text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32
