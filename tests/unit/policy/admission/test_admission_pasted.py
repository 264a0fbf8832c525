"""Patches, logs of chats and documents are foreign by their form; lists and notes are the user's own."""

from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

PASTED = [
    "+ {We use BigQuery.}\n- We use Redshift.",
    "+ We use BigQuery.\n- {We use Redshift.}",
    "- We use Redshift.\n+ {We use BigQuery.}",
    "@@ -1,2 +1,2 @@\n-{We use Redshift.}",
    "# README\n{We use BigQuery for analytics.}",
    "## docs/setup.md\n\n{We use BigQuery for analytics.}",
    "[10:04] Dana: {I work at Acme}",
    "1.4.2026, 10:04 Dana Fox: {I work at Acme}",
    "Dana (10:04): {We use BigQuery}",
    "10:04 Dana: {I work at Acme}",
    "Dana, 10:04 AM: {We use BigQuery}",
    "[10:04] Dana: I work at Acme\n[10:05] Bob: {We use BigQuery}",
]
OWN = [
    "- {We use Redshift.}\n- I live in Rome.",
    "- We use Redshift.\n- {I live in Rome.}",
    "About me:\n- {I live in Rome.}\n- We use Redshift.",
    "1. {We use Redshift.}\n2. I live in Rome.",
    "# About me\n{I live in Rome.}",
    "[10:04] Dana: I work at Acme\n\nBy the way, {we use BigQuery}.",
    "Note: {we use BigQuery}",
    "Our README is in English.",
    "The standup is at 10:30: {we use Zoom for it}.",
]


@pytest.mark.parametrize("marked", PASTED)
def test_what_was_pasted_is_a_quotation(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.QUOTATION)


@pytest.mark.parametrize("marked", OWN)
def test_lists_and_notes_are_the_users_own(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
