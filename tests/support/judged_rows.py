"""A few labelled turns and an embedder of words, enough to fit a judge within a test."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from recalld.models.calibration.admission_data import AdmissionRow, StatedFact
from recalld.models.domain.records import MemoryKind

DIMS = 16
_TOOLS = ("Postgres", "Redis", "Kafka", "Terraform", "Jenkins", "Grafana", "Vault", "Nomad")
STYLES = ("dry", "chatty")


def embed(text: str) -> NDArray[np.float32]:
    """The mean of the vectors of a text's words, of length 1; a text without words has a vector as well."""
    vector = np.full(DIMS, 0.01, dtype=np.float32)
    for word in text.lower().split():
        vector[zlib.crc32(word.encode()) % DIMS] += 1.0
    return vector / np.float32(np.linalg.norm(vector))


def make_rows() -> tuple[AdmissionRow, ...]:
    """Of each style and tool, a turn that states that it is used and one that asks about it."""
    return tuple(row for style in STYLES for tool in _TOOLS for row in (_stating(style, tool), _asking(style, tool)))


def _stating(style: str, tool: str) -> AdmissionRow:
    quote = f"We use {tool} here"
    fact = StatedFact(quote=quote, kind=MemoryKind.CONVENTION, statement=f"The user's team uses {tool}.")
    lead = "" if style == "dry" else "Good morning! "
    return AdmissionRow(id=f"{style}-{tool}-states", style=style, text=f"{lead}{quote}. Thanks.", facts=(fact,))


def _asking(style: str, tool: str) -> AdmissionRow:
    lead = "" if style == "dry" else "Good morning! "
    return AdmissionRow(
        id=f"{style}-{tool}-asks", style=style, text=f"{lead}Should they use {tool}? Thanks.", reason="question"
    )
