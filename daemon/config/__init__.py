"""Configuration: defaults, TOML, environment, paths."""

from recalld.daemon.config.environment import (
    Environment,
    forbid_runtime_telemetry,
    process_environment,
    remove_variables,
    use_one_numeric_thread,
)
from recalld.daemon.config.errors import ConfigError
from recalld.daemon.config.load import Overrides, load_settings
from recalld.daemon.config.settings import (
    AccessRule,
    ActorsSettings,
    DebugSettings,
    EventsSettings,
    LogSettings,
    ModelsSettings,
    RecallSettings,
    ServerMode,
    ServerSettings,
    Settings,
    StorageSettings,
)

__all__ = [
    "AccessRule",
    "ActorsSettings",
    "ConfigError",
    "DebugSettings",
    "Environment",
    "EventsSettings",
    "LogSettings",
    "ModelsSettings",
    "Overrides",
    "RecallSettings",
    "ServerMode",
    "ServerSettings",
    "Settings",
    "StorageSettings",
    "forbid_runtime_telemetry",
    "load_settings",
    "process_environment",
    "remove_variables",
    "use_one_numeric_thread",
]
