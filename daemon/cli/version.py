"""The version of this installation."""

from __future__ import annotations

from importlib import metadata


def own_version() -> str:
    """Version of the installed distribution; empty when it runs from a bare source tree."""
    try:
        return metadata.version("recalld")
    except metadata.PackageNotFoundError:
        return ""
