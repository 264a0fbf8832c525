"""A message in parts: which of its text the user wrote, and which a program put beside it."""

from __future__ import annotations

import enum

import msgspec


class PartKind(enum.StrEnum):
    """Who wrote a part of a message."""

    USER = "user"
    SYNTHETIC = "synthetic"
    """A program, in the user's place: a retry, a continuation, a task's result."""
    HOST = "host"
    """The host program: reminders, metadata, tool output."""


class MessagePart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a message."""

    kind: PartKind = PartKind.USER
    text: str
