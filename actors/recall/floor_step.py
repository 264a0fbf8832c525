"""Step 3 of a recall: which floor a candidate is held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recalld.actors.recall.language_memo import reads_english
from recalld.actors.store.search_text import query_stems
from recalld.models.domain.recall import Candidate
from recalld.models.domain.records import Memory
from recalld.models.policy.floor import FloorResult, FloorValues, passes_floor
from recalld.models.policy.foreign_floor import passes_foreign_floor
from recalld.models.policy.lexical_floor import passes_lexical_floor, shares_words
from recalld.models.policy.query_reading import QueryReading


class FloorStep:
    """Holds candidates of one recall against the floor that means something for them.

    With vectors and English on both sides that is the calibrated cosine floor; with another language on either side the
    foreign floor; without vectors the words.

    Args:
        floors: The calibrated cosines.
        reading: What the turn says.
        stems_of: The stems of a memory.
        has_vectors: Whether the vector leg ran.
        is_english_of: Whether the relevance models can read a memory.
    """

    def __init__(
        self,
        floors: FloorValues,
        reading: QueryReading,
        *,
        stems_of: Callable[[Memory], frozenset[str]],
        has_vectors: bool,
        is_english_of: Callable[[Memory], bool] = reads_english,
    ) -> None:
        self._floors = floors
        self._wanted = frozenset(query_stems(reading.terms))
        self._is_english = reading.is_english
        self._stems_of = stems_of
        self._has_vectors = has_vectors
        self._is_english_of = is_english_of

    def compared_by_words(self, candidates: Sequence[Candidate]) -> list[Memory]:
        """The memories of which `split` will ask for the stems."""
        if not self._has_vectors:
            return [each.memory for each in candidates]
        return [each.memory for each in candidates if self._may_pass(each) and self._is_foreign(each)]

    def split(self, candidates: Sequence[Candidate]) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
        """Candidates above and below the floor, order kept."""
        results = [(candidate, self._passes(candidate)) for candidate in candidates]
        return (
            tuple(candidate for candidate, is_above in results if is_above),
            tuple(candidate for candidate, is_above in results if not is_above),
        )

    def _passes(self, candidate: Candidate) -> bool:
        if not self._has_vectors:
            return passes_lexical_floor(self._wanted, self._stems_of(candidate.memory))
        if not self._may_pass(candidate):
            return False
        if not self._is_foreign(candidate):
            return self._is_above(candidate)
        return passes_foreign_floor(candidate.evidence, shares_words=self._shares_words(candidate))

    def _may_pass(self, candidate: Candidate) -> bool:
        """Whether a look is worth it: only a shared word lifts a foreign memory over its floor from below the other."""
        return candidate.evidence.lexical is not None or self._is_above(candidate)

    def _is_above(self, candidate: Candidate) -> bool:
        return passes_floor(candidate.evidence, self._floors) is not FloorResult.BELOW

    def _is_foreign(self, candidate: Candidate) -> bool:
        """Whether the calibrated floor says nothing here."""
        return not (self._is_english and self._is_english_of(candidate.memory))

    def _shares_words(self, candidate: Candidate) -> bool:
        return shares_words(self._wanted, self._stems_of(candidate.memory))
