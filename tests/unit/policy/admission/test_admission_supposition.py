from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "if we were on Databricks the job would be cheaper",
    "if {we were on Databricks} the job would be cheaper",
    "suppose from now on everything were UTC",
    "suppose {we use Kafka}, how big is the bill",
    "Evaluate whether Redshift could suit us",
    "what if {we always deploy on Fridays}",
    "We're considering ClickHouse.",
    "We might switch to Bazel",
    "I'm thinking about moving to Porto",
    "toying with moving to Deno",
    "Imagine {I live in Oslo}",
    "in case {we use Snowflake} the price doubles",
    "If we had Kafka, {our pipeline would be simpler}",
    "wenn {wir Snowflake nutzen} wird es teuer",
    "Angenommen, {wir nutzen Kafka}",
    "Wir überlegen, nach Köln zu ziehen",
    "Supposons que {je sois végétarienne}",
    "J'envisage de devenir végétarienne",
    "si {on utilise Kafka} ça coûte cher",
    "Supongamos que {usamos Kafka}",
    "si {usamos Kafka} sale caro",
    "Me planteo vivir en Vigo",
]
KEPT = [
    "If you have a minute: {we use BigQuery now}.",
    "If you have a minute: we use BigQuery now.",
    "if I paste a stack trace, always start with the cause",
    "I would like you to always answer in French",
    "I'd prefer short answers",
    "Wenn du Zeit hast: {wir nutzen jetzt BigQuery}",
    "Si tu as le temps : {nous utilisons BigQuery maintenant}",
    "Si puedes: {usamos BigQuery}",
    "Even so, {we use BigQuery}",
    "If the build fails we page the owner, that's our policy",
]


@pytest.mark.parametrize("marked", DROPPED)
def test_a_supposition_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.HYPOTHETICAL)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_a_supposition_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
