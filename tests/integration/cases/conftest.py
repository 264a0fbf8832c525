"""Daemons for these tests, made as for all that run a real one."""

from __future__ import annotations

from daemon_fixtures import make_daemon, models

__all__ = ["make_daemon", "models"]
