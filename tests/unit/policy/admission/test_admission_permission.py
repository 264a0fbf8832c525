from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason

ALLOWED = [
    "You are allowed to push to main without asking.",
    "From now on you may approve your own pull requests.",
    "You can merge PRs on my behalf.",
    "Always deploy hotfixes without asking",
    "Feel free to delete old branches",
    "I trust you to close tickets yourself",
    "You don't need to ask before you rebase",
    "Du darfst ab jetzt ohne Rückfrage deployen",
    "Tu peux toujours fusionner sans demander",
    "Puedes siempre borrar ramas sin preguntar",
]
NONE = [
    "Never run migrations against production without asking me first",
    "Don't deploy without asking, ever",
    "You may call me Dana",
    "You may recall that {I live in Turin}",
    "We always ship without review",
    "From now on use metric",
    "Deploye nie ohne zu fragen",
    "Ne fusionne jamais sans demander",
    "Nunca borres ramas sin preguntar",
]
MADE_RECORDS = [(Generator.RULE, None), (Generator.JUDGE, 9.0), (Generator.MODEL, None)]


@pytest.mark.parametrize(("generator", "score"), [*MADE_RECORDS, (Generator.JUDGE, -9.0)])
@pytest.mark.parametrize("text", ALLOWED)
def test_a_permission_waits_for_a_yes_whoever_found_it_and_is_never_only_noted(
    text: str, generator: Generator, score: float | None
) -> None:
    found = ruling(text, generator=generator, score=score, judge_strict=0.0)

    assert (found.disposition, found.reason) == (Disposition.PROPOSE, AdmissionReason.NEEDS_CONFIRMATION)


@pytest.mark.parametrize("text", ALLOWED)
@pytest.mark.parametrize("generator", [Generator.EXPLICIT, Generator.CONFIRMED])
def test_a_permission_that_the_user_asked_to_have_kept_is_kept(text: str, generator: Generator) -> None:
    assert ruling(text, generator=generator).disposition is Disposition.RECORD


@pytest.mark.parametrize("text", NONE)
def test_what_narrows_what_the_assistant_does_or_speaks_of_others_is_no_permission(text: str) -> None:
    assert ruling(text, generator=Generator.JUDGE, score=9.0, judge_strict=0.0).disposition is Disposition.RECORD
    assert ruling(text).disposition is Disposition.RECORD
