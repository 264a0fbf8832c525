from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "I used to live in Rome",
    "{I used to live in Rome}, now I live in Turin",
    "our Redshift was shut down in May",
    "We had Travis in 2016.",
    "Back then we ran Subversion.",
    "As a kid I hated olives",
    "back in 2019 we ran Jenkins",
    "In my old job we used Perforce",
    "once wrote an ORM in Perl, {I was a Perl person}",
    "Our team deployed by FTP in 2011",
    "Früher habe ich in Bonn gewohnt",
    "Wir hatten damals Jenkins",
    "Avant je vivais à Nantes",
    "À l'époque je travaillais à Pau",
    "De niña vivía en Cádiz",
    "Antes usábamos Jenkins",
]
KEPT = [
    "I used to live in Rome, now {I live in Turin}",
    "I used to live in Rome, now I live in Turin",
    "I was born in 1980",
    "I gave up meat two years ago",
    "We moved from Ghent to Groningen in 2024",
    "We've used Kafka since 2019",
    "We stopped using Jenkins in 2020",
    "Ich wurde 1980 in Bonn geboren",
    "Je suis née en 1980",
    "Nací en 1980",
    "We dropped Jenkins in 2021",
]


@pytest.mark.parametrize("marked", DROPPED)
def test_the_past_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.PAST)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_the_past_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
