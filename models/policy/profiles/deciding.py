"""The one entry: a request, a profile and what the daemon knows give a decision. Pure."""

from __future__ import annotations

from typing import assert_never

from recalld.models.domain.decide import DecideRequest
from recalld.models.domain.decision import Decision
from recalld.models.policy.profiles import spec
from recalld.models.policy.profiles.auto_recall import decide_auto_recall
from recalld.models.policy.profiles.cap import decide_cap
from recalld.models.policy.profiles.consolidation import decide_consolidation
from recalld.models.policy.profiles.debounce import decide_debounce
from recalld.models.policy.profiles.echo import decide_echo
from recalld.models.policy.profiles.index import decide_index
from recalld.models.policy.profiles.keep import decide_by_score
from recalld.models.policy.profiles.knowledge import Knowledge
from recalld.models.policy.profiles.open_ops import decide_by_directions
from recalld.models.policy.profiles.rewrite import decide_rewrite
from recalld.models.policy.profiles.session_read import decide_session_read
from recalld.models.policy.profiles.skills import decide_by_words
from recalld.models.policy.profiles.suggestion import decide_suggestion
from recalld.models.policy.profiles.sweep import decide_sweep
from recalld.models.policy.profiles.time_channel import decide_time_channel
from recalld.models.policy.profiles.tuning import decide_tuning
from recalld.models.policy.profiles.turn import decide_by_turn
from recalld.models.policy.profiles.world_check import decide_world_check


def decide(request: DecideRequest, profile: spec.Profile, knowledge: Knowledge) -> Decision:  # noqa: C901, PLR0911, PLR0912 - one return for each family
    """Decide one request by one profile.

    Args:
        request: What the caller asks.
        profile: The gate, as `registry.profile_for` gives it.
        knowledge: What the daemon knows itself.
    """
    match profile:
        case spec.OpenProfile():
            return decide_by_directions(request, profile)
        case spec.TurnProfile():
            return decide_by_turn(request, profile, knowledge)
        case spec.KeepProfile():
            return decide_by_score(request, profile)
        case spec.SkillsProfile():
            return decide_by_words(request, profile)
        case spec.RewriteProfile():
            return decide_rewrite(request, profile)
        case spec.TimeChannelProfile():
            return decide_time_channel(request, profile, knowledge)
        case spec.SuggestionProfile():
            return decide_suggestion(request, profile, knowledge)
        case spec.WorldCheckProfile():
            return decide_world_check(request, profile, knowledge)
        case spec.SweepProfile():
            return decide_sweep(request, profile, knowledge)
        case spec.SessionReadProfile():
            return decide_session_read(request, profile, knowledge)
        case spec.AutoRecallProfile():
            return decide_auto_recall(request, profile)
        case spec.DebounceProfile():
            return decide_debounce(request, profile)
        case spec.EchoProfile():
            return decide_echo(request, profile)
        case spec.ConsolidationProfile():
            return decide_consolidation(request, profile, knowledge)
        case spec.IndexProfile():
            return decide_index(profile, knowledge)
        case spec.CapProfile():
            return decide_cap(request, profile)
        case spec.TuningProfile():
            return decide_tuning(request, profile, knowledge)
        case _:
            assert_never(profile)
