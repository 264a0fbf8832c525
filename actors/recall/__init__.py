"""The per-user recall coordinator."""

from recalld.actors.recall.actor import RecallActor
from recalld.actors.recall.dependencies import GateCalibration, RecallDependencies, RecallLimits, TurnGateOptions
from recalld.actors.recall.host_text_watch import HostTextWatch
from recalld.actors.recall.messages import ChangeSession, GiveStanding, Recall, RecallMessage
from recalld.actors.recall.standing_limits import StandingLimits
from recalld.actors.recall.state import RecallState
from recalld.actors.recall.turns import NoTurnError, RecallTurns

__all__ = [
    "ChangeSession",
    "GateCalibration",
    "GiveStanding",
    "HostTextWatch",
    "NoTurnError",
    "Recall",
    "RecallActor",
    "RecallDependencies",
    "RecallLimits",
    "RecallMessage",
    "RecallState",
    "RecallTurns",
    "StandingLimits",
    "TurnGateOptions",
]
