"""What is wrong with a configuration."""

from __future__ import annotations


class ConfigError(Exception):
    """The configuration cannot be used.

    It is raised before anything is served, so it never crosses the wire and has no wire error code.

    Attributes:
        message: One sentence that names the file and the key, the variable or the flag, and the remedy.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
