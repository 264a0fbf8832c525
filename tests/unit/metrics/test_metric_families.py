"""Metric families: conventions of names, bounded labels, whole histograms."""

import msgspec
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from stats_reports import ROWS, TALLIES, stats_of
from wire_examples import REPLIES

from recalld.daemon.metrics.families import metric_families
from recalld.daemon.metrics.text import exposition
from recalld.models.domain.ledger_tally import LedgerTally, TallyFamily
from recalld.models.domain.reasons import DropReason
from recalld.protocol.audit_items import AuditSection, EstimateItem, SampleCount
from recalld.protocol.drift_items import DriftAlarmItem, DriftSection, GateDriftItem, UserDrift
from recalld.protocol.replies import HealthReport, StatsReport

HEALTH = REPLIES["health_report"]


def read(stats: StatsReport, **changed: object) -> dict[str, Metric]:
    assert isinstance(HEALTH, HealthReport)
    health = msgspec.structs.replace(HEALTH, **changed)
    text = exposition(metric_families(health, stats, stats)).decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


def value(families: dict[str, Metric], name: str, **labels: str) -> float:
    (found,) = [each.value for each in families[name].samples if each.labels == labels]
    return found


def test_every_family_is_named_by_the_conventions_and_explained() -> None:
    for name, family in read(stats_of(*TALLIES, rows=ROWS)).items():
        assert name.startswith("recalld_")
        assert family.documentation
        assert not name.endswith(("_ms", "_total"))  # base units; the suffix is its samples'
        if family.type == "counter":
            assert all(sample.name == f"{name}_total" for sample in family.samples)


def test_a_histogram_is_cumulative_and_ends_with_all_of_it() -> None:
    steps = read(stats_of(*TALLIES))["recalld_step_duration_seconds"]
    of_gate = [each for each in steps.samples if each.labels["step"] == "relevance"]
    buckets = [(float(each.labels["le"]), each.value) for each in of_gate if each.name.endswith("_bucket")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == (float("inf"), 9)
    at = dict(buckets)
    assert (at[0.01024], at[0.02048], at[0.04096], at[0.08192]) == (0, 8, 8, 9)
    assert [each.value for each in of_gate if each.name.endswith("_count")] == [9]
    assert [each.value for each in of_gate if each.name.endswith("_sum")] == [0.205]


def test_gauges_say_what_is_loaded_and_what_is_degraded() -> None:
    families = read(stats_of(), breaker="open", window_degraded={"breaker_open": 2})
    assert value(families, "recalld_breaker_open") == 1
    assert value(families, "recalld_degraded") == 1
    assert value(families, "recalld_window_recalls_degraded") == 2
    assert value(read(stats_of(), breaker="closed", window_degraded={}), "recalld_degraded") == 0
    assert {each.labels["model"] for each in families["recalld_model_loaded"].samples} == {"scorer", "embedder"}


def test_no_label_holds_a_user_and_the_alarms_of_all_are_counted() -> None:
    alarm = DriftAlarmItem(name="always_fires", seen="9 of 9", remedy="look")
    gate = GateDriftItem(gate="turn", n=9, fired=9, earlier_n=0, earlier_fired=0, alarms=(alarm,))
    drift = DriftSection(users=tuple(UserDrift(user=name, gates=(gate,)) for name in ("ines", "bo")))
    stats = msgspec.structs.replace(stats_of(*TALLIES), drift=drift)
    families = read(stats)
    assert value(families, "recalld_drift_alarms", gate="turn", alarm="always_fires") == 2
    labels = {label for family in families.values() for each in family.samples for label in each.labels.values()}
    assert not labels & {"ines", "bo"}


def test_the_number_of_series_is_bounded_by_the_vocabulary() -> None:
    every = [LedgerTally(family=TallyFamily.CANDIDATE, key=(each.value,), count=10**9) for each in DropReason]
    families = read(stats_of(*every))
    assert len(families["recalld_candidates"].samples) == len(DropReason)
    assert set(families["recalld_candidates"].samples[0].labels) == {"stage", "reason"}


def test_audited_rates_have_their_interval_and_samples_are_counted_by_mark() -> None:
    audit = AuditSection(
        recall_misses=EstimateItem(rate=0.125, low=0.0625, high=0.5, audited=4),
        counts=(
            SampleCount(kind="gate_drop", probability=0.01, sampled=9, yes=1, no=3, unsure=2),
            SampleCount(kind="gate_drop", probability=0.5, sampled=4, no=1),
        ),
    )
    stats = msgspec.structs.replace(stats_of(*TALLIES), audit=audit, counters={"audit_samples_lost": 3})
    families = read(stats)
    assert value(families, "recalld_audit_rate", rate="recall_misses", bound="estimate") == 0.125
    assert value(families, "recalld_audit_rate", rate="recall_misses", bound="high") == 0.5
    assert {each.labels["rate"] for each in families["recalld_audit_rate"].samples} == {"recall_misses"}
    assert value(families, "recalld_audit_samples", kind="gate_drop", answer="no") == 4
    assert value(families, "recalld_audit_samples", kind="gate_drop", answer="none") == 6
    assert value(families, "recalld_audit_samples_lost") == 3
