"""Atomic's rewriting: when a call is worth it, and what of its answer is used."""

from collections.abc import Iterator

import msgspec
import pytest
from decide_requests import ask

from recalld.models.domain.decide import ModelFailure, ModelReport
from recalld.models.domain.decision import DecideReason, GateDecision
from recalld.models.policy import stop_words, word_lists
from recalld.models.policy.profiles.registry import shipped_profiles
from recalld.models.policy.turn import lists
from recalld.models.policy.turn.lists import SHIPPED, ListKind, file_name

TURNS = ("Where is the deploy key?", "In the vault, under infra.")
FOLLOW_UP = "And who is allowed to rotate it during the weekend shift?"
WHOLE = "Please compare the two caching strategies for static browser assets."


class Leaning(msgspec.Struct, frozen=True):
    """A message of more words than a short one, that leans by its first word in one language's list alone."""

    kind: ListKind
    language: str
    text: str


LEANING = (
    Leaning(ListKind.CONJUNCTIONS, "en", "And who is allowed to rotate the key during the weekend shift?"),
    Leaning(ListKind.PRONOUNS, "en", "They said the key is rotated during the weekend shift."),
    Leaning(ListKind.CONJUNCTIONS, "de", "Und wer darf den Schlüssel am Wochenende in der Schicht tauschen?"),
    Leaning(ListKind.PRONOUNS, "de", "Er wird am Wochenende in der Schicht von der Leitung getauscht."),
    Leaning(ListKind.CONJUNCTIONS, "fr", "Et qui peut changer la clé pendant la permanence du week-end ?"),
    Leaning(ListKind.PRONOUNS, "fr", "Elle est changée pendant la permanence du week-end par les équipes."),
    Leaning(ListKind.CONJUNCTIONS, "es", "Pero quién puede cambiar la clave durante el turno del fin de semana?"),
    Leaning(ListKind.PRONOUNS, "es", "Ella se cambia durante el turno del fin de semana por el equipo."),
    Leaning(ListKind.CONJUNCTIONS, "zh", "而且周末值班的时候谁可以更换部署密钥呢请告诉我"),
    Leaning(ListKind.PRONOUNS, "zh", "它在周末值班的时候可以由谁来更换请详细告诉我"),
    Leaning(ListKind.CONJUNCTIONS, "ja", "でも週末の当番のときは誰がデプロイキーを交換できますか"),
    Leaning(ListKind.PRONOUNS, "ja", "それは週末の当番のときに誰が交換できるのか教えてください"),
)


def clear_caches() -> None:
    for cached in (lists.phrases, stop_words.stop_words, word_lists.words):
        cached.cache_clear()


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    clear_caches()
    yield
    clear_caches()


@pytest.mark.parametrize("text", [FOLLOW_UP, "why?", WHOLE])
def test_there_is_never_a_rewrite_without_history(text: str) -> None:
    decision = ask("atomic_rewrite", text, recent=())
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.NO_HISTORY)
    assert decision.params.query == text


def test_history_that_was_not_supplied_is_missing_input_and_keeps_the_message() -> None:
    decision = ask("atomic_rewrite", FOLLOW_UP, recent=None)
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.MISSING_INPUT)
    assert (decision.params.query, decision.params.missing) == (FOLLOW_UP, ("turns",))


@pytest.mark.parametrize("text", ["which one then", *(case.text for case in LEANING)])
def test_a_short_message_or_one_that_starts_with_a_pronoun_or_conjunction_is_worth_a_call(text: str) -> None:
    decision = ask("atomic_rewrite", text, recent=TURNS)
    assert (decision.decision, decision.reason_code) == (GateDecision.RUN, DecideReason.LEANS_ON_HISTORY)


def test_a_message_that_stands_alone_is_left_alone() -> None:
    decision = ask("atomic_rewrite", WHOLE, recent=TURNS)
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.STANDS_ALONE)


def test_the_call_gets_ten_seconds_and_four_hundred_characters() -> None:
    limits = ask("atomic_rewrite", FOLLOW_UP, recent=TURNS).params.limits
    assert (limits.time_ms, limits.chars_max) == (10_000, 400)


def test_a_rewrite_within_the_limit_is_the_query() -> None:
    decision = ask(
        "atomic_rewrite", FOLLOW_UP, recent=TURNS, model=ModelReport(text=" Who may rotate\nthe deploy key? ")
    )
    assert (decision.decision, decision.params.query) == (GateDecision.RUN, "Who may rotate the deploy key?")
    longest = ask("atomic_rewrite", FOLLOW_UP, recent=TURNS, model=ModelReport(text="x" * 400))
    assert longest.reason_code is DecideReason.REWRITTEN


@pytest.mark.parametrize("reply", ["NONE", " none. ", '"NONE"', "`None`"])
def test_the_word_none_abstains_and_keeps_the_message(reply: str) -> None:
    decision = ask("atomic_rewrite", FOLLOW_UP, recent=TURNS, model=ModelReport(text=reply))
    assert (decision.reason_code, decision.params.query) == (DecideReason.ABSTAINED, FOLLOW_UP)
    assert not decision.is_degraded


@pytest.mark.parametrize(
    "model",
    [
        *(ModelReport(failure=failure) for failure in ModelFailure),
        ModelReport(text="x" * 401),
        ModelReport(text=""),
        ModelReport(text=" \n\u200b"),
        ModelReport(text="Who may rot", was_truncated=True),
    ],
)
def test_any_failure_keeps_the_message_as_the_user_wrote_it(model: ModelReport) -> None:
    decision = ask("atomic_rewrite", FOLLOW_UP, recent=TURNS, model=model)
    assert (decision.decision, decision.params.query) == (GateDecision.SKIP, FOLLOW_UP)
    assert (decision.params.query_fallback, decision.is_degraded) == (True, True)


def test_the_lists_are_kept_by_language_and_all_are_tried_here() -> None:
    assert {(case.kind, case.language) for case in LEANING} == {
        (kind, language) for kind in (ListKind.CONJUNCTIONS, ListKind.PRONOUNS) for language in SHIPPED[kind]
    }


@pytest.mark.parametrize("case", LEANING, ids=lambda case: f"{case.kind} {case.language}")
def test_each_list_is_necessary(case: Leaning, monkeypatch: pytest.MonkeyPatch) -> None:
    read = word_lists.entries
    emptied = file_name(case.kind, case.language)
    monkeypatch.setattr(word_lists, "entries", lambda name: () if name == emptied else read(name))
    assert ask("atomic_rewrite", case.text, recent=TURNS).reason_code is DecideReason.STANDS_ALONE
    others = [each for each in LEANING if each is not case]
    assert all(ask("atomic_rewrite", each.text, recent=TURNS).decision is GateDecision.RUN for each in others)


def test_the_notice_after_failures_names_the_consequence_and_the_setting() -> None:
    notice = shipped_profiles()["atomic_rewrite"].notice
    assert notice is not None
    assert "find less" in notice.consequence
    assert "atomic_rewrite" in notice.setting
    assert notice.failures_min == 3


def test_words_of_the_host_are_not_rewritten() -> None:
    text = "<system-reminder>And then?</system-reminder>"
    assert ask("atomic_rewrite", text, recent=TURNS).reason_code is DecideReason.NO_USER_TEXT
