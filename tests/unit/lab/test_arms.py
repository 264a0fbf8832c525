"""Each arm on questions made by hand, with a model that is a table."""

from __future__ import annotations

import pytest
from lab_rows import candidate, question

from recalld.models.lab.arms import (
    ITEMS_MAX,
    OF_THE_PRODUCT,
    OFFENCE_MAX,
    ArmName,
    OffenderPriors,
    arm_of,
    held_against,
)
from recalld.models.lab.comparators import shipped_comparators
from recalld.models.lab.results import Judged

COMPARATORS = shipped_comparators()


def injected(judged: tuple[Judged, ...]) -> list[str]:
    return [each.memory_id for each in judged if each.is_injected]


class Table:
    """A model that likes texts with certain words, and remembers what it was asked."""

    def __init__(self, *liked: str) -> None:
        self.liked = liked
        self.asked: list[tuple[str, str]] = []

    def __call__(self, query: str, text: str) -> float:
        self.asked.append((query, text))
        return 6.0 if any(word in text for word in self.liked) else -12.0


def test_floor_only_hands_over_what_the_product_would_without_a_gate() -> None:
    asked = question(*(candidate(name, f"note {name}") for name in "abcde"))
    assert injected(arm_of(ArmName.FLOOR_ONLY, COMPARATORS)(asked, Table())) == ["a", "b", "c"]


def test_one_view_reads_three_pairs_as_given_and_cuts_at_the_models_own_threshold() -> None:
    asked = question(*(candidate(name, f"I keep {name}", cue="baking") for name in ("bread", "boats", "chess", "bred")))
    model = Table("bread")
    judged = arm_of(ArmName.ONE_VIEW, COMPARATORS)(asked, model)
    assert injected(judged) == ["bread"]
    assert [text for _, text in model.asked] == ["I keep bread", "I keep boats", "I keep chess"]
    at_the_cut = lambda _query, _text: -3.8918202981106265  # noqa: E731 - the logit whose sigmoid is 0.02
    assert len(injected(arm_of(ArmName.ONE_VIEW, COMPARATORS)(asked, at_the_cut))) == 3


def test_three_views_pass_what_only_another_person_of_the_verb_makes_relevant() -> None:
    asked = question(candidate("a", "The user keeps bread"), query="What do I keep?")
    liking_first_person = Table("I keep bread")
    assert injected(arm_of(ArmName.THREE_VIEWS, COMPARATORS)(asked, liking_first_person)) == ["a"]
    assert injected(arm_of(ArmName.ONE_VIEW, COMPARATORS)(asked, liking_first_person)) == []


def test_cues_pass_what_only_its_heading_makes_relevant() -> None:
    asked = question(candidate("a", "Switched to sourdough", cue="Bread"))
    assert injected(arm_of(ArmName.CUES, COMPARATORS)(asked, Table("Bread: "))) == ["a"]
    assert injected(arm_of(ArmName.THREE_VIEWS, COMPARATORS)(asked, Table("Bread: "))) == []


def test_best_ask_never_asks_the_model_and_leaves_out_what_has_no_asks() -> None:
    near, far = COMPARATORS.best_ask, COMPARATORS.best_ask - 0.01
    asked = question(candidate("a", "x", ask=near), candidate("b", "y", ask=far), candidate("c", "z"))
    model = Table()
    assert injected(arm_of(ArmName.BEST_ASK, COMPARATORS)(asked, model)) == ["a"]
    assert model.asked == []


def test_contrast_injects_what_stands_out_and_is_blind_where_all_are_alike() -> None:
    arm = arm_of(ArmName.CONTRAST_Z, COMPARATORS)
    lower = [candidate(name, name, cosine=0.4) for name in "bcdefgh"]
    assert injected(arm(question(candidate("a", "a", cosine=0.9), *lower), Table())) == ["a"]
    alike = [candidate(name, name, cosine=0.9) for name in "abc"]
    assert [each.score for each in arm(question(*alike), Table())] == [0.0, 0.0, 0.0]


def test_features_rise_with_every_cosine_and_need_no_model() -> None:
    arm = arm_of(ArmName.FEATURES, COMPARATORS)
    model = Table()
    (near,) = arm(question(candidate("a", "I keep bread", cosine=0.9, ask=0.9)), model)
    (far,) = arm(question(candidate("a", "I keep bread", cosine=0.5, ask=0.5)), model)
    (bare,) = arm(question(candidate("a", "I keep bread", cosine=0.9)), model)
    assert near.score is not None
    assert far.score is not None
    assert bare.score is not None
    assert near.score > far.score
    assert model.asked == []


def test_no_floor_reads_what_lies_below_the_floor_too() -> None:
    asked = question(candidate("a", "note"), below=[candidate("b", "bread", cosine=0.1)])
    assert injected(arm_of(ArmName.NO_FLOOR, COMPARATORS)(asked, Table("bread"))) == ["b"]
    assert injected(arm_of(ArmName.ONE_VIEW, COMPARATORS)(asked, Table("bread"))) == []


def test_an_offender_is_held_back_once_it_was_handed_over_in_vain_often_enough() -> None:
    arm, asked = OffenderPriors(), question(candidate("a", "bread"))
    seen = []
    for _ in range(4):
        judged = arm(asked, Table())
        seen.append(injected(judged))
        arm.learn(judged, ())
    assert seen == [["a"], ["a"], [], []]
    assert arm.offence("a") == OFFENCE_MAX
    assert arm.offence("somebody else") == 0.5


def test_what_helped_is_never_an_offender() -> None:
    arm, asked = OffenderPriors(), question(candidate("a", "bread"))
    for _ in range(5):
        arm.learn(arm(asked, Table()), ("a",))
    assert injected(arm(asked, Table())) == ["a"]


def test_no_more_than_the_daemon_hands_over_by_default_passes_and_the_best_come_first() -> None:
    scored = [(candidate(str(number), "x"), float(number)) for number in range(ITEMS_MAX + 3)]
    assert set(injected(held_against(scored, 1.0))) == {str(number) for number in range(3, ITEMS_MAX + 3)}
    assert injected(held_against([(candidate("a", "x"), None)], 0.0)) == []


def test_the_products_own_recall_is_no_arm_of_this_module() -> None:
    for name in OF_THE_PRODUCT:
        with pytest.raises(ValueError, match="the product's own"):
            arm_of(name, COMPARATORS)
    for name in set(ArmName) - OF_THE_PRODUCT:
        assert callable(arm_of(name, COMPARATORS))
