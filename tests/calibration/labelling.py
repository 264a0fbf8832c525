"""The models and the rows that the calibration scripts work on; what is done with them is the product's own code."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from recalld.daemon.config import ModelsSettings, ServerSettings, Settings, StorageSettings
from recalld.daemon.own_calibration.labelling import PairModels
from recalld.daemon.own_calibration.models import load_pair_models

Row = TypeVar("Row", bound=msgspec.Struct)


class Models(PairModels):
    """The default models, each text and each pair looked at once."""

    def __init__(self, model_dir: Path) -> None:
        self.settings = Settings(
            server=ServerSettings(socket_path=Path("/nonexistent/recalld.sock")),
            storage=StorageSettings(data_dir=Path("/nonexistent")),
            models=ModelsSettings(dir=model_dir),
        )
        loaded = load_pair_models(self.settings.models)
        super().__init__(loaded.embed, loaded.embed_query, loaded.score)


def read_lines(path: Path, row: type[Row]) -> list[Row]:
    return [msgspec.json.decode(line, type=row) for line in path.read_bytes().splitlines()]
