"""From the configuration to the model gate's source and rules."""

from __future__ import annotations

from typing import Final

from recalld.actors.extraction.sources import ExtractionSource, LentSource
from recalld.actors.ports import Clock, RuntimeModel
from recalld.daemon.config.settings import AdmissionSettings, ExtractionSection
from recalld.daemon.extraction.endpoint import Endpoint, EndpointModel
from recalld.models.policy.debounce import DebounceRules

DAY_MS: Final = 86_400_000


def extraction_source(configured: AdmissionSettings, lent: RuntimeModel, clock: Clock) -> ExtractionSource:
    """The model that reads turns: that of the endpoint, or whatever connected runtimes lend."""
    if configured.model_gate == "runtime":
        return LentSource(lent)
    endpoint = configured.endpoint
    return EndpointModel(
        Endpoint(
            url=endpoint.url,
            model=endpoint.model,
            api_key_file=endpoint.api_key_file,
            timeout_s=endpoint.timeout_s,
            retries=endpoint.retries,
            max_tokens=endpoint.max_tokens,
        ),
        clock=clock,
    )


def debounce_rules(configured: ExtractionSection) -> DebounceRules:
    """When turns are read, and how many at a time."""
    return DebounceRules(
        quiet_ms=round(1000 * configured.quiet_s),
        wait_max_ms=round(1000 * configured.wait_max_s),
        gathered_min=configured.gathered_min,
        batch_max=configured.batch_max,
        cooldown_ms=round(1000 * configured.cooldown_s),
        tries_max=configured.tries_max,
        keep_ms=round(DAY_MS * configured.keep_days),
    )
