"""The two unions of messages: what a client sends and what a server sends."""

from __future__ import annotations

from recalld.protocol import replies, requests

ServiceRequest = (
    requests.Recall
    | requests.Observe
    | requests.Confirm
    | requests.ListProposals
    | requests.ListObservations
    | requests.GetLineage
    | requests.Settle
    | requests.Export
    | requests.Import
    | requests.PurgeUser
    | requests.Remember
    | requests.Forget
    | requests.Get
    | requests.ListMemories
    | requests.Update
    | requests.Backfill
    | requests.Standing
    | requests.SetStanding
    | requests.NoteAudit
    | requests.ListSamples
    | requests.MarkSample
    | requests.Outcome
    | requests.Outcomes
    | requests.Decide
    | requests.Explain
    | requests.Session
    | requests.Health
    | requests.Stats
    | requests.Ping
)
"""Requests that have exactly one reply."""

Request = requests.Hello | requests.Subscribe | requests.ExtractResult | ServiceRequest

Reply = (
    replies.Welcome
    | replies.Recalled
    | replies.Admitted
    | replies.Confirmed
    | replies.Proposals
    | replies.Observations
    | replies.Lineage
    | replies.Settled
    | replies.Exported
    | replies.Imported
    | replies.Purged
    | replies.Remembered
    | replies.Forgotten
    | replies.Memory
    | replies.Memories
    | replies.Updated
    | replies.Backfilled
    | replies.ExtractRequest
    | replies.StandingBlock
    | replies.StandingSet
    | replies.OutcomeReport
    | replies.Samples
    | replies.Decision
    | replies.Explanation
    | replies.Ok
    | replies.Subscribed
    | replies.Event
    | replies.HealthReport
    | replies.StatsReport
    | replies.Pong
    | replies.Error
)
