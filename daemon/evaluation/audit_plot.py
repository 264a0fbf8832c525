"""Drawing what audits say of the gates, with matplotlib where it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from recalld.daemon.evaluation.figure import drawn
from recalld.protocol.audit_items import AuditSection

_INCHES: Final = (8.0, 3.2)


def draw_audit(section: AuditSection, path: Path) -> None:
    """Draw each audited share with its 95 % interval; what was not audited has no bar.

    Call `plot.check_plot` before.

    Args:
        section: Of a `stats_report`.
        path: A `.svg` or `.png` that is made or replaced.

    Raises:
        OSError: The file cannot be written.
    """
    shares = {
        "relevant memories held back": section.recall_misses,
        "turns that needed memory, not searched": section.turn_misses,
        "recalled, not relevant": section.wrong_injections,
        "unstored turns with something to keep": section.write_misses,
    }
    with drawn(path, count=1, inches=_INCHES) as (panel,):
        for name, found in shares.items():
            if found is None:
                panel.barh([f"{name} (not audited)"], [0.0])
            else:
                errors = [[found.rate - found.low], [found.high - found.rate]]
                panel.barh([f"{name} ({found.audited})"], [found.rate], xerr=errors, color="C0", ecolor="0.4")
        panel.set_xlim(0, 1)
        panel.invert_yaxis()
        panel.set_title("what audits found, with 95 % intervals (and how many marks)")
