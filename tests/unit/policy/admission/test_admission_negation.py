from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "we're not on Redshift",
    "we\u2019re not on Redshift",
    "we aren\u2019t using UTC",
    "we arent using UTC",
    "We don't use Kafka.",
    "I'm not the on-call engineer",
    "it's not the cache",
    "no, that isn't my name",
    "We never used Oracle.",
    "Not always metric",
    "I didn't mean staging",
    "wir sind nicht auf Redshift",
    "Wir nutzen kein Snowflake",
    "das ist nicht die Datei",
    "nous n'utilisons pas Databricks",
    "Je ne suis pas à Paris",
    "c'est pas le cache",
    "No usamos Databricks",
    "no estoy en Madrid",
    "{we're not on Redshift}, whatever the wiki says",
]
KEPT = [
    "I no longer work at Fennel",
    "we're not on Snowflake any more",
    "don't ever use tabs",
    "never push to main",
    "I don't eat meat",
    "I'm not a fan of dark mode",
    "I do not like dark mode",
    "I don't drive",
    "buy a donut, {we use BigQuery}",
    "The office is in Graz, not in Linz",
    "we use {BigQuery}, not Redshift",
    "whenever I paste a log, start with the cause",
    "We're not just on AWS, we use Hetzner too",
    "Ich esse kein Fleisch",
    "Wir sind nicht mehr in Kassel, sondern in Oldenburg",
    "Je ne suis plus chez Ostrel",
    "Ya no trabajo en Telvia",
    "Ma belle-mère ne mange pas de porc",
]


@pytest.mark.parametrize("marked", DROPPED)
def test_a_denial_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.NEGATED)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_a_denial_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
