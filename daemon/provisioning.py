"""Fetching models in the background: serving never waits for it, and a failed attempt is repeated with back-off."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import anyio
import anyio.to_thread
import structlog

from recalld.daemon.config import Settings
from recalld.models.domain.errors import RecalldError
from recalld.models.inference.provision.ensure import ensure
from recalld.models.inference.provision.results import ModelResult
from recalld.models.inference.provision.timing import MonotonicClock

RETRY_INITIAL_S = 30.0
RETRY_MAX_S = 3_600.0
"""Longest pause between two attempts: an outage of a day costs a few dozen polite requests."""


async def keep_provisioning(
    settings: Settings, *, environ: Mapping[str, str], clock: MonotonicClock, on_arrived: Callable[[], None]
) -> None:
    """Fetch what is missing, again and again until it is there.

    Args:
        settings: Which models, where, and whether the network may be touched at all.
        environ: The process environment, for the settings of package index, mirror and proxy.
        clock: Measures patience.
        on_arrived: Told once everything has arrived, unless it was there from the start.
    """
    log = structlog.get_logger("recalld.provisioning")
    pause_s = RETRY_INITIAL_S
    is_first_look = True
    while True:
        try:
            results = await _ensure(settings, environ, clock)
        except RecalldError as error:
            log.error("models_cannot_be_provisioned", message=error.message)  # noqa: TRY400 - expected, and told
            return
        missing = [result for result in results if not result.is_ready]
        if not missing:
            if not is_first_look or any(result.outcome == "provisioned" for result in results):
                on_arrived()
            return
        is_first_look = False
        for result in missing:
            log.warning(
                "model_missing",
                model_id=result.model_id,
                outcome=result.outcome.value,
                detail=result.detail,
                remedy=result.remedy,
                retry_in_s=round(pause_s) if settings.models.auto_provision else None,
            )
        if not settings.models.auto_provision:
            # Somebody may still drop the files in place: the actors' own retries find them.
            return
        await anyio.sleep(pause_s)
        pause_s = min(2 * pause_s, RETRY_MAX_S)


async def _ensure(settings: Settings, environ: Mapping[str, str], clock: MonotonicClock) -> tuple[ModelResult, ...]:
    stop = threading.Event()

    def provision() -> tuple[ModelResult, ...]:
        return ensure(
            settings.models.dir,
            (settings.models.cross_encoder, settings.models.embedder),
            environment=environ,
            clock=clock,
            stop=stop,
            is_network_allowed=settings.models.auto_provision,
        )

    try:
        return await anyio.to_thread.run_sync(provision, abandon_on_cancel=True)
    finally:
        # A stopping daemon must not wait for a download.
        stop.set()
