from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.position import Position
from recalld.models.domain.reasons import AdmissionReason

PLAIN = "I live in Turin"
ORDER = "from now on use metric"
ORDERS = [ORDER, "stop using emojis, forever", "Answer me in Welsh from today"]
RECORD, PROPOSE, OBSERVE, DROP = Disposition


@pytest.mark.parametrize("position", Position)
@pytest.mark.parametrize("generator", [Generator.RULE, Generator.EXPLICIT, Generator.CONFIRMED])
@pytest.mark.parametrize("text", [PLAIN, ORDER])
def test_rules_saves_and_confirmations_may_write_records_anywhere(
    generator: Generator, position: Position, text: str
) -> None:
    assert ruling(text, generator=generator, position=position).disposition is RECORD


@pytest.mark.parametrize(
    ("position", "disposition", "reason"),
    [
        (Position.STRICT, DROP, AdmissionReason.POSITION),
        (Position.BALANCED, OBSERVE, AdmissionReason.WEAK_EVIDENCE),
        (Position.OPEN, RECORD, AdmissionReason.MODEL_FOUND),
    ],
)
def test_a_models_find_goes_as_far_as_the_position_lets_it(
    position: Position, disposition: Disposition, reason: AdmissionReason
) -> None:
    found = ruling(PLAIN, generator=Generator.MODEL, position=position)

    assert (found.disposition, found.reason) == (disposition, reason)


@pytest.mark.parametrize(
    ("score", "strict", "disposition"),
    [(2.0, 1.5, RECORD), (1.5, 1.5, RECORD), (1.4, 1.5, OBSERVE), (None, 1.5, OBSERVE), (9.0, None, OBSERVE)],
)
def test_the_judges_find_is_a_record_only_from_its_strict_threshold_on(
    score: float | None, strict: float | None, disposition: Disposition
) -> None:
    found = ruling(PLAIN, generator=Generator.JUDGE, score=score, judge_strict=strict)

    assert found.disposition is disposition
    assert found.reason is (AdmissionReason.JUDGED if disposition is RECORD else AdmissionReason.WEAK_EVIDENCE)


@pytest.mark.parametrize(("generator", "score"), [(Generator.JUDGE, -0.1), (Generator.MODEL, 9.0)])
@pytest.mark.parametrize("text", ORDERS)
def test_a_standing_order_that_neither_a_rule_nor_a_sure_judge_read_waits_for_a_yes(
    generator: Generator, score: float, text: str
) -> None:
    found = ruling(text, generator=generator, score=score, judge_strict=0.0)

    assert (found.disposition, found.reason) == (PROPOSE, AdmissionReason.NEEDS_CONFIRMATION)


@pytest.mark.parametrize("text", ORDERS)
def test_a_standing_order_that_the_judge_is_sure_of_is_a_record(text: str) -> None:
    found = ruling(text, generator=Generator.JUDGE, score=0.0, judge_strict=0.0)

    assert (found.disposition, found.reason) == (RECORD, AdmissionReason.JUDGED)


@pytest.mark.parametrize("slot", ["name", "form_of_address", "standing_instruction"])
def test_a_models_change_of_name_or_address_waits_for_a_yes(slot: str) -> None:
    found = ruling("I'm Ines these days", generator=Generator.MODEL, slot=slot)

    assert (found.disposition, found.reason) == (PROPOSE, AdmissionReason.NEEDS_CONFIRMATION)


def test_the_strict_position_drops_a_models_standing_order_without_asking() -> None:
    found = ruling(ORDER, generator=Generator.MODEL, position=Position.STRICT)

    assert (found.disposition, found.reason) == (DROP, AdmissionReason.POSITION)
