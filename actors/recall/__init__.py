"""The per-user recall coordinator."""

from recalld.actors.recall.actor import RecallActor
from recalld.actors.recall.dependencies import GateCalibration, RecallDependencies, RecallLimits
from recalld.actors.recall.messages import ChangeSession, Recall, RecallMessage
from recalld.actors.recall.state import RecallState
from recalld.actors.recall.turns import NoTurnError, RecallTurns

__all__ = [
    "ChangeSession",
    "GateCalibration",
    "NoTurnError",
    "Recall",
    "RecallActor",
    "RecallDependencies",
    "RecallLimits",
    "RecallMessage",
    "RecallState",
    "RecallTurns",
]
