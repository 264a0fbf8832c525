"""One labelled row of a drill: what each arm hands over on it."""

from __future__ import annotations

import msgspec

from recalld.models.lab.drill_report import DrillArm
from recalld.models.lab.results import Label


class DrilledRow(msgspec.Struct, frozen=True, kw_only=True):
    """One labelled row, answered by each arm; of each answer the ids of the memories, best first.

    Attributes:
        label: What is known of it.
        is_found: Whether a search that no gate spares nominates a relevant memory.
        skip_reason: Why the turn gate spared the search; empty: it let the turn through.
        shipped: Of the gates as configured.
        again: The same, asked once more.
        shut: Of gates that are forced shut.
        opened: Of gates that are forced open.
        pairs_scored: Pairs that the shipped gates had read.
        elapsed_ms: The shipped recall on one core.
    """

    label: Label
    is_found: bool
    skip_reason: str = ""
    shipped: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    shut: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    pairs_scored: int = 0
    elapsed_ms: float = 0.0

    @property
    def is_servable(self) -> bool:
        """Whether the gates had anything relevant to let through."""
        return self.label.is_answerable and self.is_found

    def handed(self, arm: DrillArm) -> tuple[str, ...]:
        """What an arm hands over.

        Raises:
            ValueError: It is `RANDOM_SKIP`, which hands over something else in each draw.
        """
        match arm:
            case DrillArm.SHIPPED:
                return self.shipped
            case DrillArm.FORCED_SHUT:
                return self.shut
            case DrillArm.FORCED_OPEN:
                return self.opened
            case DrillArm.RANDOM_SKIP:
                message = "random_skip hands over something else in each draw; see placebo_of"
                raise ValueError(message)

    def helps(self, handed: tuple[str, ...]) -> bool:
        """Whether something relevant is among what is handed over."""
        return any(each in self.label.relevant for each in handed)
