"""How the calibration scripts count and print: shares with their counts and intervals, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from recalld.models.calibration.intervals import Proportion, wilson


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one turn.

    Attributes:
        query_kind: What sort of turn it is.
        is_answerable: Whether anything stored is relevant.
        is_servable: Whether a relevant memory was among the candidates.
        injected: Memories handed over.
        relevant: Of these, relevant ones.
        pairs_scored: Pairs the gate took.
        pairs_possible: Pairs that every view of as many candidates would have taken.
        is_floor_served: Whether a relevant memory was among the three nearest; None: not told.
    """

    query_kind: str
    is_answerable: bool
    is_servable: bool
    injected: int
    relevant: int
    pairs_scored: int = 0
    pairs_possible: int = 0
    is_floor_served: bool | None = None


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Rates of many turns. Answerable and unanswerable ones are never averaged together.

    Attributes:
        retention: Of the turns with a relevant candidate, those to which one is handed over.
        of_floor: Of the turns with a relevant memory among the three nearest, which the floor alone would hand over,
            those to which a relevant one is handed over.
        served: Of all answerable turns, those to which a relevant memory is handed over.
        candidates: Of the answerable turns, those with a relevant candidate.
        silence: Of the turns with nothing relevant, those to which nothing is handed over.
        silence_by_kind: The same by kind of turn.
        retention_by_kind: As `retention`, by kind of turn.
        precision: Of the memories handed over on answerable turns, the relevant ones.
        injected_mean: Memories handed over per answerable turn.
        pairs: Pairs scored of those that are possible.
    """

    retention: Proportion
    of_floor: Proportion
    served: Proportion
    candidates: Proportion
    silence: Proportion
    silence_by_kind: dict[str, Proportion]
    retention_by_kind: dict[str, Proportion]
    precision: Proportion
    injected_mean: float
    pairs: Proportion


def rates(turns: Sequence[Counted]) -> Rates:
    answerable = [turn for turn in turns if turn.is_answerable]
    return Rates(
        retention=_retention(turns),
        of_floor=_retention([turn for turn in turns if turn.is_floor_served], is_servable_only=False),
        served=wilson(sum(turn.relevant > 0 for turn in answerable), len(answerable)),
        candidates=wilson(sum(turn.is_servable for turn in answerable), len(answerable)),
        silence=_silence(turns),
        silence_by_kind={kind: _silence(mine) for kind, mine in _by_kind(turns, is_answerable=False).items()},
        retention_by_kind={kind: _retention(mine) for kind, mine in _by_kind(turns, is_answerable=True).items()},
        precision=wilson(sum(turn.relevant for turn in answerable), sum(turn.injected for turn in answerable)),
        injected_mean=sum(turn.injected for turn in answerable) / max(len(answerable), 1),
        pairs=wilson(
            min(sum(turn.pairs_scored for turn in turns), sum(turn.pairs_possible for turn in turns)),
            sum(turn.pairs_possible for turn in turns),
        ),
    )


def print_rates(name: str, found: Rates) -> None:
    print(f"{name}:")
    print(f"  silence   {show(found.silence)}")
    print(f"  retention {show(found.retention)}; a relevant record among the candidates {show(found.candidates)}")
    if found.of_floor.n:
        print(f"  of what the three nearest serve {show(found.of_floor)}; of all answerable {show(found.served)}")
    for title, shares in (("silence", found.silence_by_kind), ("retention", found.retention_by_kind)):
        for kind, share in shares.items():
            print(f"    {title:<9} {kind:<20} {show(share)}")
    print(f"  injected per answerable turn {found.injected_mean:.2f}, of these relevant {show(found.precision)}")
    if found.pairs.n:
        print(f"  pairs scored {found.pairs.successes} of {found.pairs.n} possible = {found.pairs.value:.2f}")


def show(share: Proportion) -> str:
    return f"{share.successes}/{share.n} = {share.value:.3f} [{share.low:.2f}, {share.high:.2f}]"


def _retention(turns: Sequence[Counted], *, is_servable_only: bool = True) -> Proportion:
    servable = [turn for turn in turns if turn.is_servable or not is_servable_only]
    return wilson(sum(turn.relevant > 0 for turn in servable), len(servable))


def _silence(turns: Sequence[Counted]) -> Proportion:
    nothing = [turn for turn in turns if not turn.is_answerable]
    return wilson(sum(turn.injected == 0 for turn in nothing), len(nothing))


def _by_kind(turns: Sequence[Counted], *, is_answerable: bool) -> dict[str, list[Counted]]:
    wanted = [turn for turn in turns if turn.is_answerable is is_answerable]
    kinds = Counter(turn.query_kind for turn in wanted)
    return {kind: [turn for turn in wanted if turn.query_kind == kind] for kind in sorted(kinds)}
