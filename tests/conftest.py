"""What holds for every test: where real models are, and no usage reports of the model runtime."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

from recalld.daemon.config import load_settings, process_environment
from recalld.models.inference.manifest import BGE_SMALL, MS_MARCO_L12

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # whichever test loads the runtime first
# The daemon's own default place, as `make models` fills it.
os.environ.setdefault("RECALLD_TEST_MODELS", str(load_settings(process_environment()).models.dir))


# The same examples in every run; RECALLD_TEST_EXPLORE=1 looks for new ones. A busy machine is no finding.
_SLOW = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=_SLOW)
hypothesis.settings.register_profile("explore", deadline=None, suppress_health_check=_SLOW)
hypothesis.settings.load_profile("explore" if os.environ.get("RECALLD_TEST_EXPLORE") else "repeatable")


@pytest.fixture(scope="session")
def model_dir() -> Path:
    """The real models: in `$RECALLD_TEST_MODELS`, else where the daemon keeps them."""
    folder = Path(os.environ["RECALLD_TEST_MODELS"])
    missing = [
        path
        for spec in (MS_MARCO_L12, BGE_SMALL)
        for artefact in spec.artefacts
        if not (path := folder / spec.id / artefact.file_name).is_file()
    ]
    if missing:
        pytest.fail(
            f"the real models are needed and {missing[0]} is missing; run `make models`, "
            "or set RECALLD_TEST_MODELS to a directory that has them"
        )
    return folder
