"""The frame of every picture: panels side by side, drawn and saved alike, with matplotlib where it is installed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS_MAX: Final = 3


@contextmanager
def drawn(path: Path, *, count: int, inches: tuple[float, float]) -> Iterator[list[Axes]]:
    """Panels to draw on, in lines of at most `COLUMNS_MAX`; saved at the end unless drawing fails.

    Call `plot.check_plot` before.

    Args:
        path: A `.svg` or `.png` that is made or replaced.
        count: How many panels, at least one.
        inches: Width and height of a panel.

    Raises:
        OSError: The file cannot be written.
    """
    import matplotlib.pyplot as plt  # noqa: PLC0415 - optional, and slow to import

    columns = min(COLUMNS_MAX, count)
    lines = math.ceil(count / columns)
    width, height = inches
    # Without a salt of its own, the same figures would give another file each time. Text stays text.
    with plt.rc_context({"svg.hashsalt": "recalld", "svg.fonttype": "none", "font.size": 8.0}):
        figure, grid = plt.subplots(lines, columns, figsize=(width * columns, height * lines), squeeze=False)
        try:
            panels = list(grid.flat)
            for left_over in panels[count:]:
                left_over.set_axis_off()
            yield panels[:count]
            figure.tight_layout()
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else {"Software": "recalld"}
            figure.savefig(path, metadata=metadata)
        finally:
            plt.close(figure)
