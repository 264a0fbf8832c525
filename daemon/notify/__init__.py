"""Talking to the service manager: readiness, status, watchdog, and the signals that ask to stop."""

from recalld.daemon.notify.notifier import Notifier
from recalld.daemon.notify.signals import ignore_signals, watch_stop_signals

__all__ = ["Notifier", "ignore_signals", "watch_stop_signals"]
