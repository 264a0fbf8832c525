"""The floor for pairs outside the models' language: an English embedder's cosines mean something else there.

Guards: against injecting every foreign memory on every turn, because to an English embedder all German (or Japanese)
looks alike. Cost: a few comparisons. Fails: towards words; a pair that shares them passes whatever its cosine.
Error rates: printed by `make calibration` on a German source, beside those of the English floor.
"""

from __future__ import annotations

import math

from recalld.models.domain.recall import Evidence

FOREIGN_COSINE_MIN = 0.75
"""The best of record, cue and ask cosine that is enough without a shared word. To an English
embedder all texts of another language lie close together, so it is far above the calibrated floors."""


def passes_foreign_floor(evidence: Evidence, *, shares_words: bool) -> bool:
    """Whether a pair of which at least one side is not English is worth handing over.

    Args:
        evidence: Its cosines; those that are missing or not numbers count for nothing.
        shares_words: Whether it has words of the query (`lexical_floor.shares_words`).
    """
    cosines = (evidence.cosine, evidence.cue_cosine, evidence.ask_cosine)
    known = [cosine for cosine in cosines if cosine is not None and math.isfinite(cosine)]
    return shares_words or max(known, default=-1.0) >= FOREIGN_COSINE_MIN
