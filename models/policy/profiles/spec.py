"""What a profile is: the settings of one gate, read from a file and checked before anything is decided by them.

A new family of gates is one more struct here, one module beside, and one line in `deciding`.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from recalld.models.domain.decide import DecideOp
from recalld.models.policy.turn.cues import CueFamily
from recalld.models.policy.turn.directions import Directions

Count = Annotated[int, Meta(ge=1, le=100_000)]
Threshold = Annotated[float, Meta(ge=-1e6, le=1e6)]
Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{1,62}$")]
Sentence = Annotated[str, Meta(min_length=8, max_length=400)]
Milliseconds = Annotated[int, Meta(ge=1, le=600_000)]
DAY_MS = 86_400_000


class ErrorRates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often a gate is wrong, as counts.

    Attributes:
        false_yes: Cases it let run that should not have.
        of_no: Cases that should not have run.
        false_no: Cases it stopped that should have run.
        of_yes: Cases that should have run.
        measured_on: On what.
    """

    false_yes: int
    of_no: int
    false_no: int
    of_yes: int
    measured_on: Sentence


class HealthNotice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person is told when a gate fails again and again.

    Attributes:
        failures_min: After so many failures in a row.
        consequence: What no longer works for the person.
        setting: Which setting to look at.
    """

    failures_min: Count = 3
    consequence: Sentence
    setting: Sentence


class _Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="family"):
    """What all profiles share.

    Attributes:
        name: What `decide` calls it.
        op: The operation it guards.
        version: Grows with every change of the file.
        guards: What it protects, in a sentence.
        directions: Which way to go when it cannot decide.
        notice: What to say after failures in a row; None: nothing.
        error_rates: How often it is wrong; None: not measured.
    """

    name: Name
    op: DecideOp
    version: Annotated[int, Meta(ge=1)]
    guards: Sentence
    directions: Directions
    notice: HealthNotice | None = None
    error_rates: ErrorRates | None = None


class OpenProfile(_Profile, frozen=True, kw_only=True, tag="directions"):
    """An operation without a gate of its own yet: the direction knobs alone decide."""


class TurnProfile(_Profile, frozen=True, kw_only=True, tag="turn"):
    """The turn gate, with or without a small model's answer.

    Attributes:
        cues_off: Families of history cues that are switched off.
        model_ms: How long a model may take.
        is_configured: Whether the daemon's own configuration of the turn gate takes the place of `cues_off` and
            `directions`, where there is one.
        is_model_asked: Whether the daemon asks a model that a runtime lends, when no rule decides and the caller has
            asked none itself.
    """

    cues_off: tuple[CueFamily, ...] = ()
    model_ms: Milliseconds
    is_configured: bool = False
    is_model_asked: bool = False


class KeepProfile(_Profile, frozen=True, kw_only=True, tag="keep"):
    """Keeps candidates whose score is above a threshold that holds for one shape of call.

    Attributes:
        threshold_single: For one candidate a call; None: not calibrated.
        threshold_batched: For several candidates a call; None: not calibrated.
    """

    threshold_single: Threshold | None
    threshold_batched: Threshold | None


class SkillsProfile(_Profile, frozen=True, kw_only=True, tag="skills"):
    """Loads the bodies of skills that the message speaks of.

    Attributes:
        words_min: Words of the message that name and description must have.
        items_max: Bodies at a time.
    """

    words_min: Count
    items_max: Count


class RewriteProfile(_Profile, frozen=True, kw_only=True, tag="rewrite"):
    """Decides whether a message is worth a call that makes it stand alone, and what of the answer to use.

    Attributes:
        short_words_max: A message of so few words leans on what was said before.
        time_ms: How long the call may take.
        chars_max: A longer rewrite is not used.
        abstain_word: What the model says when it would not rewrite.
    """

    short_words_max: Count
    time_ms: Milliseconds
    chars_max: Count
    abstain_word: Annotated[str, Meta(min_length=1, max_length=40)]


class TimeChannelProfile(_Profile, frozen=True, kw_only=True, tag="time_channel"):
    """Opens the channel of time when the message speaks of one.

    Attributes:
        confidence_min: Expressions that are less sure leave it closed.
    """

    confidence_min: Annotated[float, Meta(ge=0, le=1)]


class SuggestionProfile(_Profile, frozen=True, kw_only=True, tag="suggestion"):
    """Shows a few records unasked, or stays silent.

    Attributes:
        terms_min: Salient terms that the message must have.
        session_terms_min: Distinct terms of the message that a session's candidates must have together.
        old_after_ms: Older candidates need more.
        old_hits_min: Terms an old candidate must have itself.
        items_max: Shown at most.
    """

    terms_min: Count
    session_terms_min: Count
    old_after_ms: Annotated[int, Meta(ge=1)]
    old_hits_min: Count
    items_max: Count


class WorldCheckProfile(_Profile, frozen=True, kw_only=True, tag="world_check"):
    """Checks what stored records claim about files, branches, versions and pull requests.

    Attributes:
        time_ms: For everything, the search for claims included.
        targets_max: Claims looked at.
    """

    time_ms: Milliseconds
    targets_max: Count


class SweepProfile(_Profile, frozen=True, kw_only=True, tag="sweep"):
    """Lets a sweep over sessions run when the caller limited it.

    Attributes:
        targets_max: Targets handed out at a time, unless the request says fewer.
    """

    targets_max: Count


class SessionReadProfile(_Profile, frozen=True, kw_only=True, tag="session_read"):
    """A staged search over the messages of past sessions: cards, then an index, then pages.

    Attributes:
        card_terms_min: Terms that a card must have to be read for.
        sessions_max: Sessions that are read.
        page_messages: Messages of one page.
        chars_per_session_max: Text of one session.
        chars_max: Text of the whole query.
    """

    card_terms_min: Count
    sessions_max: Count
    page_messages: Count
    chars_per_session_max: Count
    chars_max: Count


class AutoRecallProfile(_Profile, frozen=True, kw_only=True, tag="auto_recall"):
    """Recalls unasked on history cues alone.

    Attributes:
        cues_off: Families of history cues that are switched off.
        chars_min: Shorter messages are left alone.
        items_max: Shown at most.
        chars_max: Text shown at most.
    """

    cues_off: tuple[CueFamily, ...] = ()
    chars_min: Count
    items_max: Count
    chars_max: Count


class DebounceProfile(_Profile, frozen=True, kw_only=True, tag="debounce"):
    """Has a model read turns once a burst is over, or enough of them have gathered.

    Attributes:
        quiet_ms: After the last turn nothing must come for so long; None: quiet does not matter.
        wait_max_ms: The first turn waits no longer than this; None: as long as turns are kept.
        gathered_min: So many turns are read without waiting.
        batch_max: Turns of one call.
        cooldown_ms: Between two calls; 0: none.
        tries_max: Failures of one batch after which it is halved, or set aside when it is a single turn.
        pause_ms: After a batch's first failure it waits so long; doubles with each further one.
        keep_ms: Turns that have waited longer are let go.
    """

    quiet_ms: Milliseconds | None
    wait_max_ms: Milliseconds | None
    gathered_min: Count
    batch_max: Count
    cooldown_ms: Annotated[int, Meta(ge=0, le=3_600_000)]
    tries_max: Count
    pause_ms: Milliseconds
    keep_ms: Annotated[int, Meta(ge=1)]


class EchoProfile(_Profile, frozen=True, kw_only=True, tag="echo"):
    """Drops proposed facts that only restate what the turn was shown."""


class ConsolidationProfile(_Profile, frozen=True, kw_only=True, tag="consolidation"):
    """Merges clusters of records, some at a time, each with a bounded number of calls.

    Attributes:
        every_ms: Between the starts of two ticks.
        untouched_ms: No record of a cluster was touched for so long.
        cluster_min: Records of a cluster.
        clusters_max: Clusters of one tick.
        calls_per_cluster_max: Calls for one cluster, whatever is made of it.
        lease_ms: A tick that does not end holds others up no longer than this.
    """

    every_ms: Annotated[int, Meta(ge=1)]
    untouched_ms: Annotated[int, Meta(ge=1)]
    cluster_min: Count
    clusters_max: Count
    calls_per_cluster_max: Count
    lease_ms: Annotated[int, Meta(ge=1)]


class IndexProfile(_Profile, frozen=True, kw_only=True, tag="index"):
    """Keeps in permanent context what averts more error than the words it costs.

    Attributes:
        lines_max: Lines.
        tokens_max: Estimated tokens.
        value_min: Words of error averted for each word carried.
        error_cost_words: Words that one error costs until it is put right.
    """

    lines_max: Count
    tokens_max: Count
    value_min: Annotated[float, Meta(ge=0, le=1_000)]
    error_cost_words: Annotated[float, Meta(ge=1, le=100_000)]


class CapProfile(_Profile, frozen=True, kw_only=True, tag="cap"):
    """Refuses a batch with which the store would be over its cap.

    Attributes:
        chars_max: Characters of all entries, separators included.
        separator_chars: Characters between two entries.
        failures_max: With so many refusals in a turn, the last one is final for the turn.
    """

    chars_max: Count
    separator_chars: Annotated[int, Meta(ge=0, le=16)]
    failures_max: Count


class KnobBounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a knob may be set to, both ends included."""

    least: Threshold
    most: Threshold


class TuningProfile(_Profile, frozen=True, kw_only=True, tag="tuning"):
    """Declines tuning by too little, and keeps knobs within hard bounds.

    Attributes:
        memories_min: Active memories.
        samples_min: Samples behind a promotion; 0: none are needed.
        knobs: What may be tuned, and its bounds.
    """

    memories_min: Count
    samples_min: Annotated[int, Meta(ge=0, le=100_000)]
    knobs: Annotated[dict[Name, KnobBounds], Meta(min_length=1)]


Profile = (
    OpenProfile
    | TurnProfile
    | KeepProfile
    | SkillsProfile
    | RewriteProfile
    | TimeChannelProfile
    | SuggestionProfile
    | WorldCheckProfile
    | SweepProfile
    | SessionReadProfile
    | AutoRecallProfile
    | DebounceProfile
    | EchoProfile
    | ConsolidationProfile
    | IndexProfile
    | CapProfile
    | TuningProfile
)
"""Any gate's settings; `family` in the file says which."""


class ProfileError(ValueError):
    """A profile that cannot be used: the message names the file, the field and the remedy."""


def read_profile(content: bytes, *, file_name: str) -> Profile:
    """Read and check one profile.

    Args:
        content: JSON.
        file_name: What it is called; the name inside must be the same.

    Raises:
        ProfileError: It is no JSON, a field is missing, unknown or out of bounds, or it is called otherwise inside.
    """
    try:
        profile: Profile = msgspec.json.decode(content, type=Profile)
    except msgspec.DecodeError as error:
        message = f"{file_name}: {error}; correct the field"
        raise ProfileError(message) from error
    if f"{profile.name}.json" != file_name:
        message = f"{file_name}: name is {profile.name!r}; name the file {profile.name}.json"
        raise ProfileError(message)
    crossed = [name for name, bounds in _knobs(profile).items() if bounds.least > bounds.most]
    if crossed:
        message = f"{file_name}: knobs.{crossed[0]}: least is above most; exchange the two"
        raise ProfileError(message)
    return profile


def _knobs(profile: Profile) -> dict[str, KnobBounds]:
    match profile:
        case TuningProfile():
            return profile.knobs
        case _:
            return {}
