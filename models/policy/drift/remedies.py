"""What to do about each alarm, for each gate."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from recalld.models.domain.drift import AlarmName, GateName

_PARTS: Final = "mark what the user typed as parts of the role user, and host text as host or synthetic"
_SHIFTED: Final = "`recalld audit` shows whether its decisions are still right; `recalld stats` has the figures"

REMEDIES: Final[Mapping[tuple[GateName, AlarmName], str]] = MappingProxyType(
    {
        (GateName.TURN, AlarmName.NEVER_FIRES): (
            "no turn is searched for: look at [recall.turn_gate] and at what the runtime sends as the user's text"
        ),
        (GateName.TURN, AlarmName.ALWAYS_FIRES): (
            "every turn is searched for: see that the runtime sends whole turns and their history, and that "
            "recall.turn_gate.enabled is true; a runtime that asks only when needed may ignore this"
        ),
        (GateName.TURN, AlarmName.NO_USER_TEXT): _PARTS,
        (GateName.TURN, AlarmName.RATE_JUMP): _SHIFTED,
        (GateName.TURN, AlarmName.REASON_SHIFT): _SHIFTED,
        (GateName.RELEVANCE, AlarmName.CALIBRATION_MISMATCH): (
            "calibrate again for the models that run (`recalld calibrate FILE`), or restore those of the calibration"
        ),
        (GateName.RELEVANCE, AlarmName.NEVER_FIRES): (
            "nothing that it judged was relevant enough: `recalld eval FILE` on turns of your own shows whether that "
            "is right, `recalld calibrate FILE` fits the threshold to them"
        ),
        (GateName.RELEVANCE, AlarmName.ALWAYS_FIRES): (
            "it lets something through on every recall: see recall.threshold and the check of the calibration, and try "
            "`recalld eval FILE` on turns of your own"
        ),
        (GateName.RELEVANCE, AlarmName.RATE_JUMP): _SHIFTED,
        (GateName.RELEVANCE, AlarmName.REASON_SHIFT): _SHIFTED,
        (GateName.RELEVANCE, AlarmName.SCORE_SHIFT): (
            "what is asked or stored has changed since the threshold was chosen: label newer turns and run "
            "`recalld calibrate FILE`"
        ),
        (GateName.WRITE, AlarmName.NEVER_FIRES): (
            "no turn left anything: see that the runtime sends turns with speaker user and their text, and "
            "admission.enabled and admission.position"
        ),
        (GateName.WRITE, AlarmName.ALWAYS_FIRES): (
            "every turn left something: go through `recalld list`, and see that the runtime sends the user's own words"
        ),
        (
            GateName.WRITE,
            AlarmName.NO_USER_TEXT,
        ): "send what the user typed as `text` of an observed turn, without host text",
        (GateName.WRITE, AlarmName.RATE_JUMP): _SHIFTED,
        (GateName.WRITE, AlarmName.REASON_SHIFT): _SHIFTED,
    }
)
"""Only what a gate can raise; the others measure nothing of the kind."""
