"""Factories for the records that policies judge."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recalld.models.domain.recall import Candidate, Evidence
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus

MakeMemory = Callable[..., Memory]
MakeCandidate = Callable[..., Candidate]


@pytest.fixture(scope="session")
def make_memory() -> MakeMemory:
    def make(
        id: str = "mem_1",  # noqa: A002 - the name of the field
        text: str = "The user lives in Lisbon",
        *,
        scope: str = "",
        cues: tuple[str, ...] = (),
        asks: tuple[str, ...] = (),
        status: MemoryStatus = MemoryStatus.ACTIVE,
        updated_at_ms: int = 0,
        expires_at_ms: int | None = None,
    ) -> Memory:
        return Memory(
            id=id,
            user="ines",
            text=text,
            kind=MemoryKind.FACT,
            scope=scope,
            cues=cues,
            asks=asks,
            source=MemorySource.EXPLICIT,
            status=status,
            created_at_ms=0,
            updated_at_ms=updated_at_ms,
            expires_at_ms=expires_at_ms,
            revision=1,
        )

    return make


@pytest.fixture(scope="session")
def make_candidate(make_memory: MakeMemory) -> MakeCandidate:
    def make(id: str = "mem_1", text: str = "The user lives in Lisbon", **evidence: float | None) -> Candidate:  # noqa: A002 - the name of the field
        return Candidate(memory=make_memory(id, text), evidence=Evidence(**evidence), fused=0.5)

    return make
