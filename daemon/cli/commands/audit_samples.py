"""The sampled decisions of `recalld audit`: which are asked about, and how marks are noted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import Final

import msgspec

from recalld.daemon.cli.commands.audit_marks import HELP
from recalld.daemon.cli.commands.review_loop import Said
from recalld.daemon.cli.output import printable
from recalld.protocol import fields, requests
from recalld.protocol.audit_items import SampleItem
from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import ClientError

WHAT: Final = MappingProxyType[str, tuple[fields.SampleKindName, ...]](
    {
        "drops": ("gate_drop",),
        "skips": ("turn_skip", "turn_search"),
        "injections": ("injection",),
        "unstored": ("write_drop",),
    }
)
"""The kinds of sample behind each flag. Both sides of the turn gate are asked about: its error rate needs both."""
ALL_KINDS: Final[tuple[fields.SampleKindName, ...]] = (
    "gate_drop",
    "injection",
    "turn_skip",
    "turn_search",
    "write_drop",
    "record",
)


class SampleDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be judged, as `--json` prints it.

    Attributes:
        samples: The newest; a mixed session takes the kinds in turn.
        left: How many more there are, over the limit.
    """

    samples: tuple[SampleItem, ...]
    left: int


def find_samples(
    client: Client,
    user: str,
    kinds: Sequence[fields.SampleKindName],
    *,
    is_marked: bool,
    since_ms: int,
    limit: int,
) -> SampleDocument:
    """The newest samples of some kinds: one of each kind in turn, so that a short session is not all of one.

    Args:
        client: Connected to the daemon.
        user: Whose.
        kinds: Which.
        is_marked: Those that were marked, to think again; else those that were not.
        since_ms: Of decisions since then, Unix epoch milliseconds.
        limit: At most so many; the others are counted.
    """
    found: list[list[SampleItem]] = []
    left = 0
    for kind in kinds:
        asked = requests.ListSamples(user=user, kinds=(kind,), marked=is_marked, limit=limit)
        page = client.samples(asked)
        recent = [sample for sample in page.samples if sample.at_ms >= since_ms]
        found.append(recent)
        # Older ones than the page shows are counted, but only where the page did not reach back to the limit of days.
        left += page.left if len(recent) == len(page.samples) else 0
    ordered = [sample for sample in chain.from_iterable(zip_longest(*found)) if sample is not None]
    return SampleDocument(samples=tuple(ordered[:limit]), left=left + len(ordered[limit:]))


class ClientMarkDesk:
    """Notes one person's marks on one user's samples.

    Args:
        client: Connected to the daemon.
        user: Whose.
        by: Who marks.
    """

    def __init__(self, client: Client, user: str, by: str) -> None:
        self._client = client
        self._user = user
        self._by = by

    def mark(self, sample: SampleItem, answer: fields.SampleAnswerName) -> Said:
        """Note what was said of it."""
        try:
            self._client.mark_sample(
                requests.MarkSample(user=self._user, sample_id=sample.id, answer=answer, by=self._by)
            )
        except ClientError as error:
            return Said(text=f"Not noted: {printable(error.message)}. {HELP}", is_done=False)
        return Said(text="Noted.")
