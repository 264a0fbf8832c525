"""Mailboxes, asks with deadlines, and supervision: what every actor stands on."""

from __future__ import annotations

from recalld.actors.kernel.actor import Actor, ActorContext, StopReason
from recalld.actors.kernel.address import Address
from recalld.actors.kernel.mailbox import PostOutcome
from recalld.actors.kernel.reply import AskError, AskFailure, Reply
from recalld.actors.kernel.spec import ActorEscalated, ActorSpec, Restart, Trouble, TroubleKind
from recalld.actors.kernel.supervisor import Supervisor

__all__ = [
    "Actor",
    "ActorContext",
    "ActorEscalated",
    "ActorSpec",
    "Address",
    "AskError",
    "AskFailure",
    "PostOutcome",
    "Reply",
    "Restart",
    "StopReason",
    "Supervisor",
    "Trouble",
    "TroubleKind",
]
