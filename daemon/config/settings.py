"""The settings of the daemon: one frozen struct a section of `recalld.toml`.

Each description below is the remedy in an error message and the text of the reference in docs/operating.md, so it says
what the number means and in which unit. Bounds are refused, never clamped.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recalld.models.domain.position import Position
from recalld.models.domain.shadow import GateMode, WriteMode
from recalld.models.policy.turn.cues import CueFamily

MIB = 1024 * 1024

DEFAULT_CROSS_ENCODER = "ms-marco-minilm-l-12-v2-int8"
DEFAULT_EMBEDDER = "bge-small-en-v1.5-int8"


class ServerMode(enum.StrEnum):
    """Whom the daemon serves."""

    USER = "user"
    """One account: the uid it runs as, and root."""
    SYSTEM = "system"
    """Every account that may reach the socket, each one kept to its own users."""


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all sections have in common: immutable, and no key that nobody reads."""


class ServerSettings(_Section, frozen=True, kw_only=True):
    """`[server]`: the socket and its limits."""

    socket_path: Annotated[Path, Meta(description="Unix socket to listen on: an absolute path of at most 107 bytes.")]
    mode: Annotated[
        ServerMode,
        Meta(
            description='"user" serves the account the daemon runs as; "system" serves every account, each on its own.'
        ),
    ] = ServerMode.USER
    idle_timeout_s: Annotated[
        float, Meta(gt=0, le=7 * 86_400, description="Close a connection that asked nothing for so many seconds.")
    ] = 3_600.0
    in_flight_per_connection_max: Annotated[
        int, Meta(ge=1, le=4_096, description="Requests of one connection answered at the same time; more get `busy`.")
    ] = 32
    in_flight_per_uid_max: Annotated[
        int, Meta(ge=1, le=65_536, description="Requests of one account answered at the same time; more get `busy`.")
    ] = 128
    connections_max: Annotated[
        int, Meta(ge=1, le=65_536, description="Open connections; further ones are told `busy` and closed.")
    ] = 256
    connections_per_uid_max: Annotated[
        int,
        Meta(ge=1, le=65_536, description="The same for one account; root and the daemon's own are not bound by it."),
    ] = 64
    connections_kept: Annotated[
        int,
        Meta(ge=0, le=65_535, description="Of all connections, those that only root and the daemon's own account get."),
    ] = 16


class StorageSettings(_Section, frozen=True, kw_only=True):
    """`[storage]`: the database."""

    data_dir: Annotated[Path, Meta(description="Directory of the database: an absolute path on a local file system.")]
    journal_bytes_max: Annotated[
        int,
        Meta(
            ge=MIB, le=16_384 * MIB, description="Size the write-ahead log is cut back to after a checkpoint, in bytes."
        ),
    ] = 64 * MIB
    ledger_days: Annotated[
        float, Meta(gt=0, le=3_650, description="Days a decision stays explainable before its row is removed.")
    ] = 90.0


class ModelsSettings(_Section, frozen=True, kw_only=True):
    """`[models]`: which models run, and where their files are."""

    dir: Annotated[Path, Meta(description="Directory of the model files: an absolute path.")]
    auto_provision: Annotated[
        bool, Meta(description="Fetch missing models in the background; false never touches the network.")
    ] = True
    cross_encoder: Annotated[str, Meta(description="Id of the relevance model, as `recalld models list` shows it.")] = (
        DEFAULT_CROSS_ENCODER
    )
    embedder: Annotated[str, Meta(description="Id of the embedding model, as `recalld models list` shows it.")] = (
        DEFAULT_EMBEDDER
    )
    lanes: Annotated[
        int, Meta(ge=0, le=256, description="Pairs scored at the same time; 0 means one for each usable core.")
    ] = 0


_TurnDirection = Literal["run", "skip"]


class TurnGateSection(_Section, frozen=True, kw_only=True):
    """`[recall.turn_gate]`: which turns are searched for at all."""

    enabled: Annotated[
        bool, Meta(description="Skip turns that need no memory; false searches every turn with something to look for.")
    ] = True
    cues_off: Annotated[
        tuple[CueFamily, ...],
        Meta(description="Families of history cues that no longer speak for a search; each can be switched off."),
    ] = ()
    line_markers: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...] | None,
        Meta(description="Beginnings of lines that the runtime writes into a message; unset takes the shipped ones."),
    ] = None
    on_weak: Annotated[
        _TurnDirection, Meta(description="What happens to a turn that nothing speaks for or against.")
    ] = "run"
    on_error: Annotated[
        _TurnDirection, Meta(description="What happens when the store or the runtime's model failed to answer.")
    ] = "run"
    on_timeout: Annotated[
        _TurnDirection, Meta(description="What happens when the store or the runtime's model answered too late.")
    ] = "run"
    on_missing_input: Annotated[
        _TurnDirection, Meta(description="What happens when the turn leans on earlier ones that were not supplied.")
    ] = "run"
    on_budget: Annotated[
        _TurnDirection, Meta(description="What happens when there was no time, or nobody free, to ask the model.")
    ] = "run"
    model: Annotated[
        Literal["on", "off"],
        Meta(description='"on" asks a connected runtime\'s own model about turns that nothing else decides.'),
    ] = "off"
    model_ms: Annotated[
        Annotated[float, Meta(gt=0, le=60_000)] | None,
        Meta(description="Milliseconds the model may take, at most 80 % of what is left; unset takes these 80 %."),
    ] = None


class RecallSettings(_Section, frozen=True, kw_only=True):
    """`[recall]`: time, size and the relevance gate."""

    envelope_ms: Annotated[
        float, Meta(gt=0, le=60_000, description="Milliseconds a recall may take in all; a request may ask for less.")
    ] = 300.0
    gate_ms: Annotated[
        float, Meta(gt=0, le=60_000, description="Milliseconds of the envelope that the relevance gate may use.")
    ] = 60.0
    reserve_ms: Annotated[
        float,
        Meta(gt=0, le=10_000, description="Milliseconds kept back so that a degraded answer still leaves in time."),
    ] = 15.0
    max_items: Annotated[int, Meta(ge=1, le=20, description="Memories handed over at most.")] = 5
    max_chars: Annotated[int, Meta(ge=1, le=160_000, description="Characters handed over at most.")] = 8_000
    degraded_max_items: Annotated[
        int, Meta(ge=0, le=20, description="Memories handed over at most when no gate judged them.")
    ] = 3
    candidates_max: Annotated[int, Meta(ge=1, le=200, description="Candidates the gate may judge.")] = 8
    mode: Annotated[
        GateMode,
        Meta(
            description=(
                '"enforce" does what the gates decide; "shadow_inject" and "shadow_silent" only write it down, and '
                "inject as if there were no gates, or nothing."
            )
        ),
    ] = GateMode.ENFORCE
    gate: Annotated[
        Literal["on", "off"], Meta(description='"on" judges each candidate; "off" leaves the similarity floor alone.')
    ] = "on"
    threshold: Annotated[
        Annotated[float, Meta(gt=0, lt=1)] | None,
        Meta(description="Relevance a memory must reach: between 0 and 1, both excluded; unset takes the model's own."),
    ] = None
    lexical_limit: Annotated[int, Meta(ge=1, le=1_000, description="Hits taken from the full-text index.")] = 20
    vector_limit: Annotated[int, Meta(ge=1, le=1_000, description="Hits taken from the vector index.")] = 50
    calibration_path: Annotated[
        Path | None, Meta(description="Calibration file to use before one's own and the shipped one: an absolute path.")
    ] = None
    turn_gate: TurnGateSection = TurnGateSection()


class StandingSettings(_Section, frozen=True, kw_only=True):
    """`[standing]`: what a session is given before anything is asked."""

    enabled: Annotated[
        bool, Meta(description="Answers `standing` with a block; false answers that it is disabled.")
    ] = True
    max_chars: Annotated[
        int,
        Meta(
            ge=1,
            le=8_000,
            description="Characters of a block at most, separators included; a request may say otherwise.",
        ),
    ] = 1_375
    max_lines: Annotated[int, Meta(ge=1, le=200, description="Lines of a block at most.")] = 30
    value_min: Annotated[
        float,
        Meta(
            ge=0,
            le=1_000,
            description="Words of error that a memory must avert for each word it costs; below, it is demoted.",
        ),
    ] = 1.0
    error_cost_words: Annotated[
        float, Meta(gt=0, le=100_000, description="Words that one error costs until it is put right: an assumption.")
    ] = 200.0


class WriteSettings(_Section, frozen=True, kw_only=True):
    """`[write]`: what happens to a memory that is stored."""

    enrich: Annotated[
        bool,
        Meta(description="Adds cues and asks to a memory with room for them, by shipped rules; false stores as given."),
    ] = True


class ExtractionSection(_Section, frozen=True, kw_only=True):
    """`[admission.extraction]`: when a language model reads what the user said."""

    quiet_s: Annotated[
        float, Meta(ge=0, le=86_400, description="Seconds without a further turn after which turns are read.")
    ] = 30.0
    wait_max_s: Annotated[
        float, Meta(gt=0, le=86_400, description="Seconds that a turn waits at most, however many come after it.")
    ] = 300.0
    gathered_min: Annotated[
        int, Meta(ge=1, le=200, description="Turns that are read at once, without waiting for quiet.")
    ] = 6
    batch_max: Annotated[int, Meta(ge=1, le=50, description="Turns that a model is asked about at a time.")] = 12
    cooldown_s: Annotated[
        float, Meta(ge=0, le=86_400, description="Seconds between two calls for one user; what is due waits.")
    ] = 60.0
    tries_max: Annotated[
        int,
        Meta(
            ge=1,
            le=100,
            description="Unusable answers after which a batch is halved, and a turn that fails alone is set aside, "
            "to be tried again after the next usable one.",
        ),
    ] = 3
    keep_days: Annotated[
        float, Meta(gt=0, le=3_650, description="Days that turns are kept while no model can be asked.")
    ] = 30.0
    pending_max: Annotated[
        int, Meta(ge=1, le=100_000, description="Turns of one user that may wait; further ones are not read.")
    ] = 1_000


class EndpointSection(_Section, frozen=True, kw_only=True):
    """`[admission.endpoint]`: an OpenAI-compatible endpoint for `model_gate = "endpoint"`."""

    url: Annotated[
        str,
        Meta(
            max_length=2_000,
            description="Address up to and without /chat/completions, such as http://127.0.0.1:8080/v1.",
        ),
    ] = ""
    model: Annotated[str, Meta(max_length=256, description="Name of the model there.")] = ""
    api_key_file: Annotated[
        Path | None, Meta(description="File that holds the key: an absolute path. Leave it out where none is needed.")
    ] = None
    timeout_s: Annotated[float, Meta(gt=0, le=600, description="Seconds that one try may take as a whole.")] = 60.0
    retries: Annotated[
        int, Meta(ge=0, le=10, description="Further tries when the endpoint is busy, broken or not there.")
    ] = 2
    max_tokens: Annotated[
        int, Meta(ge=16, le=100_000, description="Tokens of an answer; one that reaches this counts as none.")
    ] = 4_000


class AdmissionSettings(_Section, frozen=True, kw_only=True):
    """`[admission]`: what observed turns may lead to."""

    enabled: Annotated[
        bool, Meta(description="Looks for facts in observed turns; false keeps only what the user says to remember.")
    ] = True
    mode: Annotated[
        WriteMode,
        Meta(
            description=(
                '"enforce" does what the write gate decides about a turn; "shadow" only writes it down: what it would '
                "store or ask is kept as an observation."
            )
        ),
    ] = WriteMode.ENFORCE
    position: Annotated[
        Position,
        Meta(
            description=(
                'Who may write: "strict" rules, saves, confirmations, and the local judge where it is sure; "balanced" '
                'also the judge where it is less sure, and models, as observations; "open" also models, as records, '
                "which has to be earned."
            )
        ),
    ] = Position.STRICT
    rules: Annotated[bool, Meta(description="Lets the rules look for facts that are stated plainly.")] = True
    judge: Annotated[bool, Meta(description="Lets the local judge look for facts in sentences that no rule reads.")] = (
        True
    )
    promote_after: Annotated[
        int, Meta(ge=1, le=1_000, description="Turns that must say the same before an observation becomes a record.")
    ] = 3
    promote_sessions: Annotated[
        int, Meta(ge=1, le=1_000, description="Sessions that these turns must come from, at least.")
    ] = 2
    promote_window_days: Annotated[
        float, Meta(gt=0, le=3_650, description="Days after which an observation no longer counts.")
    ] = 90.0
    proposals_per_session: Annotated[
        int, Meta(ge=0, le=100, description="Times that a session may ask the user to confirm something; 0: never.")
    ] = 1
    proposals_max: Annotated[
        int, Meta(ge=0, le=10_000, description="Proposals of one user that may wait at the same time.")
    ] = 20
    proposal_ttl_days: Annotated[
        float, Meta(gt=0, le=3_650, description="Days that a proposal waits for an answer.")
    ] = 7.0
    records_max: Annotated[
        int, Meta(ge=0, le=10_000_000, description="Live memories of one user in one scope, at most; 0: no cap.")
    ] = 0
    chars_max: Annotated[
        int,
        Meta(
            ge=0, le=10_000_000_000, description="Characters of the same, line breaks between them counted; 0: no cap."
        ),
    ] = 0
    model_gate: Annotated[
        Literal["off", "runtime", "endpoint"],
        Meta(
            description=(
                'Which language model reads turns in batches: "runtime" one that a connected runtime lends, "endpoint" '
                "the one below; nothing is kept for it, and nothing sent, while this is off."
            )
        ),
    ] = "off"
    extraction: ExtractionSection = ExtractionSection()
    endpoint: EndpointSection = EndpointSection()


class ActorsSettings(_Section, frozen=True, kw_only=True):
    """`[actors]`: what is kept in memory for users."""

    users_active_max: Annotated[int, Meta(ge=1, le=100_000, description="Users kept ready at the same time.")] = 256
    passivate_after_s: Annotated[
        float, Meta(gt=0, le=7 * 86_400, description="Seconds without a request after which a user is put to rest.")
    ] = 600.0
    index_bytes_max: Annotated[
        int, Meta(ge=MIB, le=1_048_576 * MIB, description="Bytes that all vector indices may take together.")
    ] = 512 * MIB


class EventsSettings(_Section, frozen=True, kw_only=True):
    """`[events]`: how trouble is reported, and when the breaker opens."""

    degraded_cooldown_s: Annotated[
        float, Meta(gt=0, le=86_400, description="Seconds between two degraded events of the same cause.")
    ] = 300.0
    breaker_failures: Annotated[
        int, Meta(ge=1, le=1_000, description="Failures in a row after which the scorer is left alone for a while.")
    ] = 3
    breaker_open_s: Annotated[
        float, Meta(gt=0, le=86_400, description="Seconds the scorer is left alone before it is tried again.")
    ] = 30.0


class DriftSettings(_Section, frozen=True, kw_only=True):
    """`[drift]`: when a gate that decides otherwise than before, or always the same, raises an alarm."""

    enabled: Annotated[
        bool,
        Meta(description="Looks at the ledger now and then and publishes alarms; `doctor` and `stats` look anyway."),
    ] = True
    window: Annotated[
        int, Meta(ge=50, le=10_000, description="Newest decisions of a gate that are compared with those before.")
    ] = 500
    decisions_min: Annotated[
        int, Meta(ge=20, le=10_000, description="Decisions on either side below which nothing is said.")
    ] = 200
    silent_after: Annotated[
        int,
        Meta(ge=50, le=10_000, description="Decisions, all the same, after which a gate never, or always, fires."),
    ] = 500
    check_every_s: Annotated[
        float, Meta(ge=1, le=7 * 86_400, description="Seconds between two looks at the newest decisions.")
    ] = 900.0
    alarm_every_s: Annotated[
        float, Meta(gt=0, le=90 * 86_400, description="Seconds between two events of one alarm for one user.")
    ] = 86_400.0


class AuditSettings(_Section, frozen=True, kw_only=True):
    """`[audit]`: decisions that are kept by chance for `recalld audit`, so that error rates can be measured."""

    sample_rate: Annotated[
        float, Meta(ge=0, le=1, description="Share of decisions that are kept; 0 keeps none, nor notes what to audit.")
    ] = 0.01
    text: Annotated[
        bool,
        Meta(description="Keeps the user's own words with them, without secrets; false leaves records alone to judge."),
    ] = True
    retention_days: Annotated[
        float, Meta(gt=0, le=3_650, description="Days that samples and the marks on them are kept.")
    ] = 30.0
    max_rows: Annotated[
        int, Meta(ge=1, le=100_000, description="Samples of one user that are kept; the oldest go.")
    ] = 5_000


class LogSettings(_Section, frozen=True, kw_only=True):
    """`[log]`: what is logged and how."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="The least severe level that is logged.")
    ] = "info"
    format: Annotated[
        Literal["auto", "json", "console"],
        Meta(description='"json", "console", or "auto": console on a terminal, else JSON.'),
    ] = "auto"


class AccessRule(_Section, frozen=True, kw_only=True):
    """`[[access]]`: for which users an account may act in system mode, beside those below `uid:<number>/`."""

    uid: Annotated[int, Meta(ge=0, le=4_294_967_294, description="Number of the account, as `id -u` shows it.")]
    users: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=256)], ...],
        Meta(min_length=1, max_length=1_000, description="Names of recalld users, compared byte by byte; no patterns."),
    ]


class DebugSettings(_Section, frozen=True, kw_only=True):
    """`[debug]`: for drills. Never set in production."""

    fault_injection: Annotated[
        bool, Meta(description="Lets the demo and drills break the scorer on purpose; leave it false.")
    ] = False


class Settings(_Section, frozen=True, kw_only=True):
    """Everything the daemon can be told. Made by `load_settings`, which fills in the three paths."""

    server: ServerSettings
    storage: StorageSettings
    models: ModelsSettings
    recall: RecallSettings = RecallSettings()
    standing: StandingSettings = StandingSettings()
    write: WriteSettings = WriteSettings()
    admission: AdmissionSettings = AdmissionSettings()
    actors: ActorsSettings = ActorsSettings()
    events: EventsSettings = EventsSettings()
    drift: DriftSettings = DriftSettings()
    audit: AuditSettings = AuditSettings()
    log: LogSettings = LogSettings()
    access: tuple[AccessRule, ...] = ()
    debug: DebugSettings = DebugSettings()
