"""Candidates for a standing block, made with few words or drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

from recalld.models.domain.facts import Generator
from recalld.models.domain.outcomes import OutcomeTally
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.domain.standing import StandingCandidate, StandingChoice

TEXTS = (
    "Answer in German",
    "Use uv, never pip",
    "项目使用包管理器",
    "Two\nlines",
    "x" * 400,
    "A longer convention " * 12,
)


def candidate(
    memory_id: str = "mem_1",
    text: str = "Answer in German",
    *,
    kind: MemoryKind = MemoryKind.PREFERENCE,
    scope: str = "",
    cues: tuple[str, ...] = (),
    source: MemorySource = MemorySource.EXPLICIT,
    tally: OutcomeTally | None = None,
    turns: int = 0,
    found_by: frozenset[Generator] = frozenset(),
    is_promoted: bool = False,
    choice: StandingChoice | None = None,
    at_ms: int = 1_000,
) -> StandingCandidate:
    memory = Memory(
        id=memory_id,
        user="ines",
        text=text,
        kind=kind,
        scope=scope,
        cues=cues,
        asks=(),
        source=source,
        status=MemoryStatus.ACTIVE,
        created_at_ms=at_ms,
        updated_at_ms=at_ms,
        expires_at_ms=None,
        revision=1,
    )
    return StandingCandidate(
        memory=memory,
        tally=tally or OutcomeTally(),
        turns=turns,
        found_by=found_by,
        is_promoted=is_promoted,
        choice=choice,
    )


def tallies() -> st.SearchStrategy[OutcomeTally]:
    count = st.integers(0, 40)
    return st.builds(OutcomeTally, used=count, ignored=count, harmful=count, missed=count)


def candidates() -> st.SearchStrategy[StandingCandidate]:
    return st.builds(
        candidate,
        text=st.sampled_from(TEXTS),
        source=st.sampled_from(MemorySource),
        tally=tallies(),
        turns=st.integers(0, 6),
        found_by=st.frozensets(st.sampled_from(Generator)),
        is_promoted=st.booleans(),
        choice=st.none() | st.sampled_from(StandingChoice),
        at_ms=st.integers(0, 5),
    )


def many_candidates(size_max: int = 30) -> st.SearchStrategy[list[StandingCandidate]]:
    """Candidates with different ids, as a store gives them."""

    def numbered(drawn: list[StandingCandidate]) -> list[StandingCandidate]:
        return [
            candidate(
                f"mem_{number:03}",
                each.memory.text,
                source=each.memory.source,
                tally=each.tally,
                turns=each.turns,
                found_by=each.found_by,
                is_promoted=each.is_promoted,
                choice=each.choice,
                at_ms=each.memory.created_at_ms,
            )
            for number, each in enumerate(drawn)
        ]

    return st.lists(candidates(), max_size=size_max).map(numbered)
