"""All checks, in the order they are shown. docs/operating.md has a row for each."""

from __future__ import annotations

from typing import Final

from recalld.daemon.doctor import (
    admission,
    calibration,
    database,
    files,
    judge,
    live,
    model_gate,
    models,
    round_trip,
    service_unit,
)
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.runner import Check

CHECKS: Final[tuple[Check[DoctorContext], ...]] = (
    Check(name="daemon", run=live.check_daemon),
    Check(name="socket path", run=files.check_socket_path),
    Check(name="socket directory", run=files.check_socket_directory),
    Check(name="socket", run=files.check_socket),
    Check(name="data directory", run=files.check_data_directory),
    Check(name="database files", run=files.check_database_files),
    Check(name="model directory", run=files.check_model_directory),
    Check(name="disk space", run=files.check_disk_space),
    Check(name="database", run=database.check_identity_and_schema, timeout_s=30.0),
    Check(name="database writable", run=database.check_writable, timeout_s=30.0),
    Check(name="memories", run=database.check_memories, timeout_s=30.0),
    Check(name="full-text index", run=database.check_index, timeout_s=30.0),
    Check(name="embeddings", run=database.check_embeddings, timeout_s=30.0),
    Check(name="admission position", run=database.check_position, timeout_s=30.0),
    Check(name="local judge", run=judge.check_judge),
    Check(name="model gate", run=model_gate.check_model_gate, timeout_s=30.0),
    Check(name="proposals", run=admission.check_proposals, timeout_s=30.0),
    Check(name="observations", run=admission.check_observations, timeout_s=30.0),
    Check(name="capacity", run=admission.check_capacity, timeout_s=30.0),
    Check(name="questions", run=admission.check_asks, timeout_s=30.0),
    Check(name="cross-encoder", run=models.check_cross_encoder, timeout_s=30.0),
    Check(name="embedder", run=models.check_embedder, timeout_s=30.0),
    Check(name="service unit", run=service_unit.check_units),
    Check(name="live store", run=live.check_live_store),
    Check(name="live scorer", run=live.check_scorer),
    Check(name="live gate", run=live.check_gate),
    Check(name="live embedder", run=live.check_live_embedder),
    Check(name="breaker", run=live.check_breaker),
    Check(name="fallbacks", run=live.check_fallbacks),
    Check(name="queues", run=live.check_queues),
    Check(name="restarts", run=live.check_restarts),
    Check(name="ledger", run=live.check_ledger),
    Check(name="calibration", run=live.check_calibration),
    Check(name="calibration data", run=calibration.check_calibration_data),
    Check(name="memory use", run=live.check_memory),
    Check(name="open files", run=live.check_open_files),
    Check(name="write-ahead log", run=database.check_write_ahead_log),
    Check(name="integrity", run=database.check_integrity, timeout_s=300.0, is_deep=True),
    Check(name="other models", run=models.check_other_models, timeout_s=60.0, is_deep=True),
    Check(name="round trip", run=round_trip.check_round_trip, timeout_s=60.0, is_deep=True),
)
