"""The configured models, for the calibrate command: each text and each pair is looked at once."""

from __future__ import annotations

from recalld.daemon.config import ModelsSettings
from recalld.daemon.own_calibration.labelling import PairModels
from recalld.models.inference.loading import load_bi_encoder, load_cross_encoder
from recalld.models.inference.onnx_session import NeverStop


def load_pair_models(settings: ModelsSettings) -> PairModels:
    """Verify and load the configured models.

    Raises:
        ModelFileError: A file is missing or not the pinned one.
        RecalldError: `BAD_REQUEST` for an id that is not on the allowlist, or has another role.
    """
    embedder = load_bi_encoder(settings.dir, settings.embedder)
    scorer = load_cross_encoder(settings.dir, settings.cross_encoder)
    never = NeverStop()
    return PairModels(
        lambda text: embedder.embed(text, is_query=False),
        lambda text: embedder.embed(text, is_query=True),
        lambda query, text: scorer.score(query, text, never),
    )
