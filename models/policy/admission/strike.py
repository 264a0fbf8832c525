"""What strikes out one clause: the reason that it states nothing, and the words that say so."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Sighting
from recalld.models.policy.admission.finding import Scene


class Strike(msgspec.Struct, frozen=True):
    """Why a clause states nothing.

    Attributes:
        reason: See `AdmissionReason`.
        words: The phrase that says so; empty where the form of the sentence does.
        is_local: It says nothing of the clauses beside it: "it's Graz, not Linz".
    """

    reason: AdmissionReason
    words: str = ""
    is_local: bool = False


ClauseRule = Callable[[Scene, int], Strike | None]
"""A rule of modality: whether the clause at a place of the scene's sentence is struck out, and why."""


def struck(
    scene: Scene, reason: AdmissionReason, sighting: Sighting | None, *, is_local: bool = False
) -> Strike | None:
    """A strike for a phrase that was found; None where none was."""
    return None if sighting is None else Strike(reason, scene.sentence.words(sighting), is_local)
