"""onnxruntime, imported with its usage reports off. Import it from here, nowhere else.

Since 1.32 the library keeps a database of usage events below the home directory and sends them out, unless
`ORT_DISABLE_TELEMETRY` is set before it is loaded; its own `disable_telemetry_events()` comes too late for the first
ones. The command sets the variable at its start; this covers every other way in.
"""

from __future__ import annotations

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251 - must happen before the import below

import onnxruntime as ort

__all__ = ["ort"]
