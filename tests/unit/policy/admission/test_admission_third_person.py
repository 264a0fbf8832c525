from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "my friend prefers Vim",
    "A friend of mine is allergic to nuts",
    "some guy deploys with rsync only",
    "Our competitor uses Databricks",
    "My neighbour always closes on Tuesdays",
    "my mate swears by Emacs, {always uses evil mode}",
    "People who work nights prefer coffee",
    "Nobody should deploy on Fridays",
    "In my opinion lawyers prefer long sentences",
    "Ein Bekannter schwört auf Arch",
    "Katzen mögen bekanntlich keine Zitrusfrüchte",
    "Le concurrent livre tous les vendredis",
    "Une dame est allergique au latex",
    "La competencia usa Snowflake",
    "Un amigo prefiere Vim",
]
KEPT = [
    "my wife's name is Ana",
    "my daughter is allergic to nuts",
    "Our team uses Databricks",
    "my boss prefers short mails",
    "my friend and I use Vim, {I use Neovim}",
    "Nobody pushes to main",
    "Mein Freund Jannek isst vegan",
    "Meine Tochter ist allergisch gegen Nüsse",
    "Mon fils Anatole est asthmatique",
    "Mi hija es alérgica a las nueces",
]


@pytest.mark.parametrize("marked", DROPPED)
def test_a_third_person_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.THIRD_PERSON)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_a_third_person_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
