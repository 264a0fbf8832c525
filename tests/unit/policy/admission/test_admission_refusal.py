from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "Off the record, I'm job hunting.",
    "Don't store this: {my name is Piet}.",
    "{I always skip review}. Just between us.",
    "forget I said {we use svn}",
    "For this chat only: {my handle is kvas}",
    "Unter uns, {ich suche eine Stelle}",
    "Nicht speichern: {ich heiße Kuno}",
    "Entre nous : {je cherche un poste}",
    "N'enregistre rien : {je m'appelle Luc}",
    "Entre nosotros, {busco trabajo}",
    "No guardes esto: {me llamo Paz}",
]
KEPT = [
    "I keep my records in Tagetik",
    "We store logs in S3",
    "I forget names easily",
    "Wir speichern Logs in S3",
    "Nous gardons les logs un an",
    "Guardamos los logs un año",
]


@pytest.mark.parametrize("marked", DROPPED)
def test_what_is_not_to_be_kept_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.REFUSED_IN_COMMAND)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_what_is_not_to_be_kept_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
