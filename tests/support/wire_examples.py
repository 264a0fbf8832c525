"""One example of every message, behind the golden vectors in tests/data/wire_v1.

`python tests/support/wire_examples.py` writes the vectors. A vector that exists may only change with the version of the
protocol: clients in the field read these very bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec

from recalld.protocol import audit_items as au
from recalld.protocol import decide_items as d
from recalld.protocol import drift_items as di
from recalld.protocol import items as i
from recalld.protocol import portable_items as p
from recalld.protocol import replies as r
from recalld.protocol import requests as q
from recalld.protocol import stats_items as si
from recalld.protocol.codec import encode_message
from recalld.protocol.messages import Reply, Request

VECTORS = Path(__file__).parents[1] / "data" / "wire_v1"

_MEMORY = i.MemoryItem(
    id="mem_01JZ4Q7W8E",
    user="ines",
    text="The user drinks tea, never coffee.",
    kind="preference",
    scope="",
    cues=("Drinks",),
    asks=("What does the user drink?",),
    source="explicit",
    status="active",
    created_at_ms=1_782_900_000_000,
    updated_at_ms=1_782_900_000_000,
    expires_at_ms=1_814_436_000_000,
    revision=1,
    cue_origins=("given",),
    ask_origins=("rule",),
)
_OLDER = msgspec.structs.replace(_MEMORY, id="mem_01JZ4Q7W8B", text="The user drinks coffee.", status="superseded")
_OBSERVATION = i.ObservationItem(
    id="obs_01JZ4Q7W8R",
    text="The user cycles to work.",
    kind="fact",
    scope="",
    turns=2,
    sessions=2,
    first_at_ms=1_782_800_000_000,
    last_at_ms=1_782_900_000_000,
)
_PROPOSAL = i.ProposalItem(
    id="obs_01JZ4Q7W8S",
    session="s1",
    text="The user wants answers in French.",
    kind="preference",
    scope="",
    slot="answer_language",
    reason="needs_confirmation",
    state="pending",
    created_at_ms=1_782_900_000_000,
    expires_at_ms=1_783_504_800_000,
    proposer="example",
)
_EVIDENCE = p.PortableEvidence(
    session="s1",
    turn_id="t9",
    at_ms=1_782_900_000_000,
    generator="rule",
    rule="drink/only",
    reason="stated",
    quote="From now on, tea.",
    decision_id="adm_01JZ4Q7W8T",
)
_FACT = p.PortableFact(
    text="The user wants answers in French.",
    kind="preference",
    scope="work",
    cues=("Language",),
    asks=("Which language?",),
    source="model",
    expires_at_ms=1_814_436_000_000,
    added_cues=1,
    added_asks=1,
    slot=p.PortableSlot(slot="answer_language", value="French"),
    is_ending=True,
)
_RECORDS: tuple[p.Portable, ...] = (
    p.PortableMemory(
        memory_id="mem_01JZ4Q7W8E",
        text="The user drinks tea, never coffee.",
        kind="preference",
        scope="work",
        cues=("Drinks",),
        asks=("What does the user drink?",),
        cue_origins=("given",),
        ask_origins=("rule",),
        source="explicit",
        status="superseded",
        created_at_ms=1_782_900_000_000,
        updated_at_ms=1_782_900_000_001,
        expires_at_ms=1_814_436_000_000,
        revision=2,
        slots=(p.PortableSlot(slot="drink", subject="Dana", value="tea", is_single_valued=False),),
        evidence=(_EVIDENCE,),
        superseded_by="mem_01JZ4Q7W8F",
        closed_at_ms=1_782_900_000_001,
    ),
    p.PortableObservation(
        observation_id="obs_01JZ4Q7W8R",
        fact=_FACT,
        first_at_ms=1_782_800_000_000,
        last_at_ms=1_782_900_000_000,
        promoted_to="mem_01JZ4Q7W8E",
        evidence=(_EVIDENCE,),
    ),
    p.PortableProposal(
        proposal_id="obs_01JZ4Q7W8S",
        session="s1",
        fact=_FACT,
        reason="needs_confirmation",
        state="accepted",
        created_at_ms=1_782_900_000_000,
        expires_at_ms=1_783_504_800_000,
        proposer="example",
        memory_id="mem_01JZ4Q7W8E",
        accepted_text="The user wants answers in Breton.",
        evidence=(_EVIDENCE,),
    ),
)
_MODEL = i.ModelState(state="ready", model_id="ms-marco-minilm-l-12-v2-int8", jobs=12)

REQUESTS: dict[str, Request] = {
    "hello": q.Hello(id=1, client=i.ClientInfo(name="example", version="1.0"), wants=("events",)),
    "recall": q.Recall(id=2, user="ines", session="s1", text="What should I order?", turn_id="t7", budget_ms=200),
    "recall_with_everything": q.Recall(
        id=3,
        user="ines",
        session="s1",
        turn_id="t8",
        parts=(i.TextPart(role="user", text="Tea or coffee?"), i.TextPart(role="host", text="[12:30]")),
        turns=(i.PastTurn(speaker="assistant", text="Good morning."),),
        time="filter",
        scope="kitchen",
        exclude=("mem_01JZ4Q7W8F",),
        budget_ms=200,
        max_items=3,
        max_chars=2_000,
        mode="search",
        now="2026-07-01T12:00:00+02:00",
        time_zone="Europe/Berlin",
        explain=True,
    ),
    "observe": q.Observe(
        id=4, user="ines", session="s1", turn_id="t9", speaker="user", text="From now on, tea.", at=1_782_900_000_000
    ),
    "observe_with_everything": q.Observe(
        id=40,
        user="ines",
        session="s1",
        turn_id="t10",
        speaker="user",
        parts=(i.TextPart(role="user", text="Until Friday I work from Porto."),),
        at="2026-07-01T12:00:00",
        time_zone="Europe/Lisbon",
        scope="kitchen",
        candidates=(
            i.OfferedFact(
                statement="The user works from Porto.",
                kind="fact",
                scope="",
                quote="I work from Porto",
                cues=("Location",),
                asks=("Where does the user work from?",),
                expires_at="2026-07-03",
                slot="location",
            ),
        ),
        injected=("mem_01JZ4Q7W8E",),
    ),
    "confirm": q.Confirm(
        id=41, user="ines", proposal_id="obs_01JZ4Q7W8S", accept=True, edited_text="The user wants answers in Breton."
    ),
    "proposals": q.ListProposals(id=42, user="ines", state="pending", limit=10),
    "observations": q.ListObservations(id=43, user="ines", cursor="c1AAAA"),
    "lineage": q.GetLineage(id=44, user="ines", memory_id="mem_01JZ4Q7W8E"),
    "settle": q.Settle(
        id=45,
        user="ines",
        observation_id="obs_01JZ4Q7W8R",
        accept=True,
        edited_text="The user cycles to work, but not in winter.",
    ),
    "export": q.Export(id=46, user="ines", limit=50, cursor="m.c1AAAA", waiting_only=True),
    "import": q.Import(id=47, user="ines", records=(p.PortableMemory(text="Prefers tea"), *_RECORDS), dry_run=True),
    "purge_user": q.PurgeUser(id=48, user="ines"),
    "note_audit": q.NoteAudit(id=49, user="ines"),
    "samples": q.ListSamples(id=50, user="ines", kinds=("gate_drop", "injection"), marked=True, limit=20),
    "mark_sample": q.MarkSample(id=51, user="ines", sample_id="smp_01", answer="yes", by="ines"),
    "mark_sample_taken_back": q.MarkSample(id=52, user="ines", sample_id="smp_01", answer=None),
    "remember": q.Remember(
        id=5,
        user="ines",
        text="The user drinks tea, never coffee.",
        kind="preference",
        cues=("Drinks",),
        asks=("What does the user drink?",),
        expires_at="2027-07-01",
        time_zone="Europe/Berlin",
    ),
    "forget": q.Forget(id=6, user="ines", query="tea coffee", dry_run=True),
    "get": q.Get(id=7, user="ines", memory_id="mem_01JZ4Q7W8E"),
    "list": q.ListMemories(id=8, user="ines", kind="preference", contains="tea", limit=10),
    "update": q.Update(
        id=31,
        user="ines",
        memory_id="mem_01JZ4Q7W8E",
        cues=("Drinks",),
        asks=("What do I drink?", "Tea or coffee?"),
        expires_at="",
        if_revision=1,
    ),
    "backfill": q.Backfill(id=32, user="ines", limit=5, cursor="c1AAAA"),
    "extract_result": q.ExtractResult(
        id=33, batch_id="batch_7", reply='{"cues": ["Drinks"], "asks": ["What do I drink?"]}'
    ),
    "decide": q.Decide(
        id=30,
        op="rewrite",
        profile="atomic_rewrite",
        user="ines",
        session="s1",
        turn_id="t7",
        text="And who may rotate it?",
        turns=(i.PastTurn(speaker="user", text="Where is the deploy key?"),),
    ),
    "decide_with_everything": q.Decide(
        id=31,
        op="sweep",
        profile="opencode_sweep",
        user="ines",
        session="s1",
        turn_id="t8",
        scope=d.DecideScope(
            project="recalld", project_root="/home/ines/recalld", family=("s0",), agent="a", namespace="n"
        ),
        parts=(i.TextPart(role="user", text="Look through March."),),
        now="2026-07-01T12:00:00+02:00",
        time_zone="Europe/Berlin",
        budget_ms=500,
        candidates=(
            d.DecideCandidate(
                id="s3",
                text="x",
                title="t",
                description="d",
                digest="1",
                session="s3",
                score=0.5,
                at_ms=1_782_900_000_000,
                age_ms=1,
                hits=2,
                files=("a.md",),
                is_injected=True,
                presence="stored",
                cluster="tea",
                failures=1,
            ),
        ),
        sweep=d.SweepArguments(sessions=("s3",), target="s3", cursor="AAAA", since_ms=1, targets_max=5),
        stage="index",
        call_shape="single",
        model=d.ModelReport(text="NONE", was_truncated=True, failure="timeout"),
        probe_answers=(d.ProbeAnswer(claim_id="c1", answer="open"),),
        declined=("s3",),
        wanted_files=("a.md",),
        usage={"chars": 10},
        counters={"index_lag": 2},
        explicit=("sessions",),
    ),
    "explain": q.Explain(id=9, user="ines", decision_id="rec_01JZ4Q7W8G"),
    "session": q.Session(id=10, user="ines", session="s1", event="compacted"),
    "standing": q.Standing(id=20, user="ines", session="s1", scope="kitchen", max_chars=1_000, explain=True),
    "set_standing": q.SetStanding(id=21, user="ines", memory_id="mem_01JZ4Q7W8E", action="pin"),
    "outcome": q.Outcome(
        id=22,
        user="ines",
        recall_id="rec_01JZ4Q7W8G",
        item_id="mem_01JZ4Q7W8E",
        result="used",
        at="2026-07-01T12:00:00",
        time_zone="Europe/Berlin",
    ),
    "outcomes": q.Outcomes(id=23, user="ines", memory_id="mem_01JZ4Q7W8E"),
    "subscribe": q.Subscribe(id=11, events=("memory_recall_gate_degraded",), user="ines"),
    "health": q.Health(id=12, deep=True),
    "stats": q.Stats(id=13),
    "stats_of_days": q.Stats(id=36, user="ines", days=7),
    "stats_ever": q.Stats(id=37, ever=True),
    "ping": q.Ping(id=4_294_967_295),
}

_HALF = si.Share(k=1, n=2, rate=0.5, low=0.0625, high=0.9375)

LEDGER_REPORT = si.LedgerReport(
    since_ms=1_780_000_200_000,
    until_ms=1_780_600_000_000,
    decisions=(si.DecisionCount(op="recall", decision="silent", reason="gated", share=_HALF),),
    modes=(si.ModeCount(mode="floor_only", degraded_reason="breaker_open", share=_HALF),),
    candidates=(si.CandidateCount(stage="relevance", reason="below_threshold", share=_HALF),),
    facts=(si.FactCount(found_by="rule", outcome="dropped", reason="guess", share=_HALF),),
    reconciliations=(si.Reconciliation(name="recalls", total=2, parts={"injected": 1, "silent:gated": 1}, holds=True),),
    times=(
        si.GateTime(
            gate="relevance",
            n=2,
            total_ms=48.5,
            p50_ms=20.5,
            p95_ms=41.0,
            p99_ms=41.0,
            buckets=(si.TimeBucket(up_to_ms=20.5, count=1), si.TimeBucket(up_to_ms=41.0, count=1)),
        ),
    ),
    compound=si.CompoundReport(steps=(si.CompoundStep(gate="turn", passed=_HALF),), candidates=_HALF, recalls=_HALF),
    costs=(
        si.GateCost(
            gate="relevance",
            decisions=2,
            spent_ms=48.5,
            p50_ms=20.5,
            p95_ms=41.0,
            spent_tokens=0,
            avoided=3,
            avoided_tokens=75,
        ),
    ),
    pairs_scored=7,
)

REPLIES: dict[str, Reply] = {
    "welcome": r.Welcome(
        id=1,
        protocol=1,
        server=i.ServerInfo(name="recalld", version="0.1.0"),
        limits=i.ServerLimits(
            frame_bytes_max=1_048_576,
            in_flight_max=32,
            turn_chars_max=65_536,
            memory_chars_max=8_000,
            recall_items_max=20,
            list_limit_max=100,
            idle_timeout_ms=600_000,
        ),
        features=("events",),
        session_defaults=i.SessionDefaults(budget_ms=300, user_prefix=""),
    ),
    "recalled": r.Recalled(
        id=2,
        recall_id="rec_01JZ4Q7W8G",
        decision="inject",
        mode="gated",
        reason="relevant",
        items=(
            i.RecalledItem(
                id="mem_01JZ4Q7W8E",
                text="The user drinks tea, never coffee.",
                kind="preference",
                scope="",
                cosine=0.75,
                ask_cosine=0.8125,
                lexical=1.5,
                logit=3.25,
                relevance=0.9375,
                age_s=86_400.0,
                why="passed_gate",
                mention=1.0,
            ),
            i.RecalledItem(
                id="mem_01JZ4Q7W8D",
                text="Tea: from the shop in Mill Lane.",
                kind="entity",
                scope="",
                why="brought_along",
                brought_by="mem_01JZ4Q7W8E",
            ),
        ),
        floor_items=("mem_01JZ4Q7W8E", "mem_01JZ4Q7W8F"),
        dropped=(i.DroppedItem(id="mem_01JZ4Q7W8F", reason="below_threshold", cosine=0.5, relevance=0.0078125),),
        coverage=i.Coverage(discovered=2, searched=2, limited_by=("max_items",), index_seq=2, store_seq=2),
        gate=i.GateReport(threshold=0.0234375, pairs_scored=2, dropped_by_gate=1, calibration_id="cal_1"),
        timings=i.Timings(total_ms=42.5, gate_ms=31.25),
    ),
    "recalled_in_shadow": r.Recalled(
        id=2,
        recall_id="rec_01JZ4Q7W8J",
        decision="silent",
        mode="gated",
        reason="shadow",
        shadow=i.ShadowItem(mode="shadow_silent", decision="inject", reason="relevant", item_ids=("mem_01JZ4Q7W8E",)),
    ),
    "recalled_nothing": r.Recalled(
        id=2,
        recall_id="rec_01JZ4Q7W8H",
        decision="silent",
        mode="floor_only",
        reason="below_floor",
        degraded_reason="breaker_open",
    ),
    "admitted": r.Admitted(id=4, decision_id="dec_1", kept=(i.Verdict(reason="explicit_save", memory=_MEMORY),)),
    "admitted_with_everything": r.Admitted(
        id=40,
        decision_id="adm_01JZ4Q7W8T",
        kept=(
            i.Verdict(
                reason="stated",
                memory=_MEMORY,
                outcome="superseded",
                superseded=("mem_01JZ4Q7W8B",),
                generator="rule",
                rule="drink/only",
                decided_by="admitted",
                evidence=("model:example",),
                usage=i.UsageItem(records=95, chars=4_000, records_max=100, evictions=("mem_01JZ4Q7W8D",)),
            ),
        ),
        observed=(
            i.Verdict(
                reason="weak_evidence",
                outcome="observed",
                generator="judge",
                rule="judge.v1",
                observation=_OBSERVATION,
            ),
        ),
        proposals=(
            i.Verdict(
                reason="needs_confirmation",
                outcome="proposed",
                generator="model",
                rule="example",
                decided_by="position",
                proposal=_PROPOSAL,
            ),
        ),
        dropped=(i.Verdict(reason="negated", generator="model", rule="example", decided_by="modality"),),
    ),
    "confirmed": r.Confirmed(
        id=41,
        proposal=msgspec.structs.replace(_PROPOSAL, state="accepted", memory_id="mem_01JZ4Q7W8E"),
        verdict=i.Verdict(reason="confirmed", memory=_MEMORY, outcome="created"),
        decision_id="cfm_01JZ4Q7W8V",
    ),
    "proposals_reply": r.Proposals(id=42, proposals=(_PROPOSAL,), cursor="c1CCCC", total=2),
    "observations_reply": r.Observations(id=43, observations=(_OBSERVATION,), total=1),
    "lineage_reply": r.Lineage(
        id=44,
        memory=_MEMORY,
        evidence=(
            i.EvidenceItem(
                session="s1",
                turn_id="t9",
                at_ms=1_782_900_000_000,
                generator="rule",
                rule="drink/only",
                reason="stated",
                quote="From now on, tea.",
                decision_id="adm_01JZ4Q7W8T",
            ),
        ),
        observation=_OBSERVATION,
        proposal=_PROPOSAL,
        supersedes=(_OLDER,),
        superseded_by=_OLDER,
        slot="drink",
    ),
    "settled": r.Settled(
        id=45,
        observation=msgspec.structs.replace(_OBSERVATION, promoted_to="mem_01JZ4Q7W8E"),
        verdict=i.Verdict(reason="confirmed", memory=_MEMORY, outcome="created"),
        decision_id="cfm_01JZ4Q7W8W",
        is_repeat=True,
    ),
    "exported": r.Exported(id=46, records=_RECORDS, cursor="o."),
    "imported": r.Imported(
        id=47,
        lines=(
            p.ImportedItem(record_id="mem_01JZ4Q7W8Z", outcome="imported"),
            p.ImportedItem(record_id="mem_01JZ4Q7W8E", outcome="known", known_as="mem_01JZ4Q7W8E"),
        ),
        is_dry_run=True,
        decision_id="adm_01JZ4Q7W8X",
    ),
    "purged": r.Purged(id=48, memories=3, observations=2, proposals=1, is_erasure_pending=True),
    "remembered": r.Remembered(id=5, memory=_MEMORY, outcome="created", decision_id="dec_2", is_embedded=True),
    "forgotten": r.Forgotten(
        id=6,
        count=1,
        ids=("mem_01JZ4Q7W8E",),
        items=(i.ForgottenItem(id="mem_01JZ4Q7W8E", preview="The user drinks tea", kind="preference", scope=""),),
        is_dry_run=True,
    ),
    "memory": r.Memory(id=7, memory=_MEMORY),
    "memories": r.Memories(id=8, memories=(_MEMORY,), cursor="eyJhIjoxfQ", total=2),
    "updated": r.Updated(id=31, memory=_MEMORY, decision_id="upd_01JZ4Q7W8P", is_embedded=False),
    "backfilled": r.Backfilled(
        id=32,
        asked=5,
        updated=3,
        refused=1,
        failed=1,
        remaining=9,
        reason="limit",
        refusals={"no_asks": 1},
        failures={"timeout": 1},
        cursor="c1BBBB",
    ),
    "extract_request": r.ExtractRequest(
        id=1,
        batch_id="batch_7",
        user="ines",
        purpose="cues",
        prompt='Write headings and questions for the record.\n{"text": "The user drinks tea, never coffee."}',
        prompt_version="cues.v1",
        deadline_ms=20_000,
        reply_chars_max=16_000,
    ),
    "decision": r.Decision(
        id=30,
        decision_id="dec_01JZ4Q7W8K",
        op="rewrite",
        profile="atomic_rewrite",
        policy_version="atomic_rewrite@1+0f3a9c2e",
        decision="run",
        reason_code="leans_on_history",
        reason="The message leans on the turns before it.",
        params=d.DecideParams(
            query="And who may rotate it?", limits=d.DecideLimits(chars_max=400, time_ms=10_000), targets=("x",)
        ),
        evidence=d.DecideEvidence(
            candidates=(d.JudgedCandidate(id="a", reason="passed", score=0.5, threshold=0.25, terms=("key",)),),
            probes=(
                d.ClaimVerdict(
                    claim_id="c1", candidate_id="a", kind="file_exists", outcome="confirmed", reason="as_claimed"
                ),
            ),
            thresholds={"single": 1.75},
            counts={"index_lag": 2},
        ),
        decided_by="reference",
        cost_ms=0.5,
    ),
    "explanation": r.Explanation(
        id=9,
        decision_id="rec_01JZ4Q7W8G",
        user="ines",
        session="s1",
        op="recall",
        at_ms=1_782_900_000_000,
        decision="inject",
        reason="relevant",
        mode="gated",
        body='{"threshold":0.0234375}',
    ),
    "standing_block": r.StandingBlock(
        id=20,
        decision_id="std_01JZ4Q7W8K",
        reason="given",
        items=(
            i.StandingItem(
                id="mem_01JZ4Q7W8E",
                text="The user drinks tea, never coffee.",
                kind="preference",
                scope="",
                age_s=86_400.0,
                is_pinned=True,
            ),
        ),
        pointers=(i.StandingPointer(id="mem_01JZ4Q7W8L", kind="convention", cue="Cups"),),
        left_out=2,
        chars=65,
        chars_max=1_000,
        tokens=18,
        ranking=(
            i.StandingRank(
                id="mem_01JZ4Q7W8E",
                verdict="shown",
                usefulness=0.625,
                value=20.5,
                words=6,
                source="explicit",
                outcomes=i.OutcomeCounts(used=2),
                turns=1,
                choice="pinned",
                cue="Drinks",
                word="asked",
            ),
        ),
    ),
    "standing_set": r.StandingSet(
        id=21,
        memory_id="mem_01JZ4Q7W8E",
        choice="pinned",
        is_changed=True,
        decision_id="sts_01JZ4Q7W8M",
        is_standing=True,
    ),
    "outcome_report": r.OutcomeReport(
        id=23,
        counts=i.OutcomeCounts(used=1),
        outcomes=(
            i.ReportedOutcome(
                decision_id="rec_01JZ4Q7W8G", item_id="mem_01JZ4Q7W8E", result="used", at_ms=1_782_900_000_000
            ),
        ),
        choice="pinned",
    ),
    "ok": r.Ok(id=10),
    "subscribed": r.Subscribed(id=11),
    "event": r.Event(
        id=11,
        name="memory_recall_gate_degraded",
        at_ms=1_782_900_000_000,
        fields={"reason": "breaker_open", "suppressed_count": 3, "share": 0.5, "is_new": True, "detail": None},
        dropped=1,
    ),
    "health_report": r.HealthReport(
        id=12,
        version="0.1.0",
        pid=4242,
        uptime_s=12.5,
        is_draining=False,
        store=i.StoreState(
            is_readable=True,
            is_writable=True,
            schema_version=1,
            users=1,
            live=2,
            blank=0,
            fts_rows=2,
            fts_matches=True,
            pending_embedding=0,
            other_embedder=0,
            db_bytes=65_536,
            wal_bytes=0,
        ),
        scorer=_MODEL,
        embedder=i.ModelState(state="loading"),
        breaker="closed",
        gate_mode="on",
        calibration_id="cal_1",
        calibration_matches=True,
        probe=i.ProbeResult(is_ok=True, relevant=0.9375, irrelevant=0.0078125, elapsed_ms=21.5),
        window_s=300.0,
        window_recalls=10,
        window_degraded={"breaker_open": 1},
        actors_active=2,
        actor_restarts=0,
        queue_depth=0,
        ledger_rows_dropped=0,
        rss_bytes=134_217_728,
        open_fds=24,
    ),
    "stats_report": r.StatsReport(id=13, uptime_s=12.5, counters={"recalls": 10}, latencies_ms={"total_p50": 42.5}),
    "stats_report_with_ledger": r.StatsReport(
        id=36, uptime_s=12.5, counters={"recalls": 10}, latencies_ms={"total_p50": 42.5}, ledger=LEDGER_REPORT
    ),
    "samples_page": r.Samples(
        id=50,
        samples=(
            au.SampleItem(
                id="smp_01",
                kind="gate_drop",
                decision_id="rec_1",
                memory_id="mem_1",
                memory_text="Drinks tea",
                text="What shall I bring Ines to drink?",
                probability=0.0625,
                relevance=0.25,
                reason="below_threshold",
                at_ms=1_800_000_000_000,
                answer="yes",
                marked_at_ms=1_800_000_100_000,
                marked_by="ines",
            ),
            au.SampleItem(
                id="smp_02",
                kind="turn_skip",
                decision_id="rec_2",
                text="and the other one?",
                probability=0.0625,
                reason="too_short",
                at_ms=1_800_000_000_000,
            ),
        ),
        left=3,
    ),
    "stats_report_with_audit": r.StatsReport(
        id=38,
        uptime_s=12.5,
        counters={},
        latencies_ms={},
        audit=au.AuditSection(
            recall_misses=au.EstimateItem(rate=0.125, low=0.03125, high=0.5, audited=40),
            counts=(au.SampleCount(kind="gate_drop", probability=0.0625, sampled=64, yes=1, no=20, unsure=2),),
        ),
    ),
    "stats_report_with_drift": r.StatsReport(
        id=37,
        uptime_s=12.5,
        counters={},
        latencies_ms={},
        drift=di.DriftSection(
            users=(
                di.UserDrift(
                    user="ines",
                    gates=(
                        di.GateDriftItem(
                            gate="relevance",
                            n=500,
                            fired=250,
                            earlier_n=1_000,
                            earlier_fired=250,
                            shifts=(
                                di.DriftShift(
                                    what="scores",
                                    statistic="psi",
                                    reference="earlier",
                                    value=0.5,
                                    limit=0.25,
                                    band="large",
                                    n=500,
                                    reference_n=1_000,
                                ),
                            ),
                            alarms=(di.DriftAlarmItem(name="score_shift", seen="PSI 0.50", remedy="calibrate again"),),
                        ),
                        di.GateDriftItem(
                            gate="write",
                            n=37,
                            fired=3,
                            earlier_n=0,
                            earlier_fired=0,
                            too_few="too few decisions: 37 of 200",
                        ),
                    ),
                    shadow=(
                        di.ShadowCountItem(
                            gate="relevance", mode="shadow_silent", decisions=20, differing=8, decided=11, served=0
                        ),
                    ),
                ),
            )
        ),
    ),
    "pong": r.Pong(id=4_294_967_295),
    "error": r.Error(id=2, code="busy", message="too many requests are in flight", retryable=True),
    "error_without_id": r.Error(code="frame_too_large", message="a frame of 4294967295 bytes"),
}


def as_json(message: Request | Reply) -> str:
    """What the frame's body holds, for people."""
    encoded = msgspec.msgpack.decode(encode_message(message)[4:])
    return json.dumps(encoded, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write every vector."""
    VECTORS.mkdir(parents=True, exist_ok=True)
    for name, message in {**REQUESTS, **REPLIES}.items():
        (VECTORS / f"{name}.hex").write_text(encode_message(message).hex() + "\n")
        (VECTORS / f"{name}.json").write_text(as_json(message))
    sys.stdout.write(f"wrote {len(REQUESTS) + len(REPLIES)} vectors to {VECTORS}\n")


if __name__ == "__main__":
    main()
