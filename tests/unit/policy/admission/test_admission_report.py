from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "our competitor says {call it Delta}",
    "the doc says {always use tabs}",
    "I read that {teams prefer Kafka}",
    "According to the vendor, {everything runs on Kafka}",
    "My friend said {he prefers Vim}",
    "I was told {we use Kafka}",
    "He wrote: {from now on use metric}",
    "Mein Chef sagt, {wir nutzen Kafka}",
    "Laut dem Blog {nutzen wir Kafka}",
    "Il dit que {nous utilisons Kafka}",
    "Selon le blog, {on utilise Kafka}",
    "Mi jefe dice que {usamos Kafka}",
    "Según el blog, {usamos Kafka}",
    'she said "{call me Zed}"',
    "He said: `{we use Kafka}`",
]
KEPT = [
    "I say {we use Kafka}",
    "My doctor has me on a low-salt diet",
    "We use Kafka",
    "Ich sage, {wir nutzen Kafka}",
    "Je dis que {nous utilisons Kafka}",
    "Digo que {usamos Kafka}",
    'stop opening with "Great question", forever',
]


@pytest.mark.parametrize("marked", DROPPED)
def test_reported_speech_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.QUOTATION)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_reported_speech_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
