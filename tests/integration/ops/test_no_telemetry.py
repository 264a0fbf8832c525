"""Loading the model runtime through the command reports nothing and leaves nothing in the home directory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_DOCTOR_AND_MODEL = """
import sys
from pathlib import Path
from recalld.daemon.cli import main
main(["doctor", "--json"])
import onnxruntime
onnxruntime.InferenceSession(str(Path(sys.argv[1]) / "ms-marco-minilm-l-12-v2-int8" / "model.onnx"))
"""


@pytest.mark.integration
@pytest.mark.model
def test_the_model_runtime_keeps_no_usage_events(model_dir: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "RECALLD_", "XDG_"))}
    environment = {
        **kept,
        "HOME": str(home),
        "RECALLD_SOCKET": str(tmp_path / "s.sock"),
        "RECALLD_DATA_DIR": str(tmp_path / "data"),
        "RECALLD_MODEL_DIR": str(tmp_path / "models"),
    }
    subprocess.run(
        [sys.executable, "-c", _DOCTOR_AND_MODEL, str(model_dir)],
        env=environment,
        check=True,
        timeout=120,
        stdout=subprocess.DEVNULL,
    )
    assert list(home.rglob("*")) == []
