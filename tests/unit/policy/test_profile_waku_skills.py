"""Waku's skills: bodies that the message needs, and no others."""

import msgspec
import pytest
from decide_requests import ask, judged

from recalld.models.domain.decide import DecideCandidate
from recalld.models.domain.decision import CandidateReason, DecideReason, GateDecision
from recalld.models.policy.profiles.overlap import salient_words, shared_words, word_count

RELEASE = DecideCandidate(
    id="release", title="release-checklist", description="Cut a release: tag, changelog, upload", files=("tags.md",)
)
BACKUP = DecideCandidate(id="backup", title="database backup", description="Dump and restore the database")
ZH = DecideCandidate(id="zh", title="数据库备份", description="备份和恢复数据库")
MESSAGE = "Please tag the release and write the changelog"


def test_a_body_loads_when_two_words_overlap_name_and_description() -> None:
    decision = ask("waku_skills", MESSAGE, candidates=(RELEASE, BACKUP))
    assert (decision.decision, decision.params.targets) == (GateDecision.RUN, ("release",))


def test_one_word_is_not_enough() -> None:
    decision = ask("waku_skills", "Which database do we use?", candidates=(BACKUP,))
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.NONE_PASSED)
    assert judged(decision)["backup"].reason is CandidateReason.FEW_TERMS


def test_at_most_two_bodies_load_and_the_third_is_told() -> None:
    skills = tuple(msgspec.structs.replace(RELEASE, id=name) for name in ("a", "b", "c"))
    decision = ask("waku_skills", MESSAGE, candidates=skills)
    assert decision.params.targets == ("a", "b")
    assert judged(decision)["c"].reason is CandidateReason.OVER_LIMIT


def test_the_skill_with_more_words_comes_first() -> None:
    less = DecideCandidate(id="less", title="release notes", description="a changelog")
    decision = ask("waku_skills", MESSAGE, candidates=(less, RELEASE))
    assert decision.params.targets == ("release", "less")


@pytest.mark.parametrize(("message", "is_loaded"), [("请帮我备份数据库", True), ("数据很好", False)])
def test_unspaced_scripts_are_read_too_and_one_word_of_them_does_not_count_twice(
    message: str, *, is_loaded: bool
) -> None:
    decision = ask("waku_skills", message, candidates=(ZH,))
    assert (decision.params.targets == ("zh",)) is is_loaded


def test_the_words_that_were_found_are_reported() -> None:
    decision = ask("waku_skills", MESSAGE, candidates=(RELEASE,))
    assert set(judged(decision)["release"].terms) == {"tag", "release", "changelog"}


def test_an_edited_description_counts_on_the_very_next_call() -> None:
    assert ask("waku_skills", "How do we rotate the signing key?", candidates=(RELEASE,)).decision is GateDecision.SKIP
    edited = msgspec.structs.replace(RELEASE, description="Rotate the signing key", digest="2")
    assert ask("waku_skills", "How do we rotate the signing key?", candidates=(edited,)).params.items == ("release",)


def test_files_that_a_body_refers_to_are_not_loaded_with_it() -> None:
    assert "tags.md" not in ask("waku_skills", MESSAGE, candidates=(RELEASE,)).params.targets


def test_a_referenced_file_loads_when_it_is_asked_for_and_no_other_does() -> None:
    wanted = ask("waku_skills", "", candidates=(RELEASE,), wanted_files=("tags.md",))
    assert (wanted.decision, wanted.params.targets) == (GateDecision.RUN, ("tags.md",))
    stray = ask("waku_skills", "", candidates=(RELEASE,), wanted_files=("tags.md", "/etc/passwd"))
    assert (stray.decision, stray.reason_code) == (GateDecision.REFUSE, DecideReason.FILE_NOT_REFERENCED)
    assert stray.params.targets == ()


def test_nothing_to_read_or_to_choose_from_is_said_as_it_is() -> None:
    assert ask("waku_skills", "", candidates=(RELEASE,)).reason_code is DecideReason.NO_USER_TEXT
    assert ask("waku_skills", MESSAGE).reason_code is DecideReason.NO_CANDIDATES


def test_an_identifier_is_one_word_however_many_search_terms_it_has() -> None:
    words = salient_words("fix auth_token")
    assert word_count(words) == 2
    assert len(shared_words(words, "auth token handling")) == 1
    assert shared_words(salient_words("open the port"), "transport of goods") == ()


def test_inflected_words_are_the_same_word() -> None:
    assert shared_words(salient_words("restore two backups"), "restoring a backup") == ("restore", "backups")
