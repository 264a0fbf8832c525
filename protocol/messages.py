"""The two unions of messages: what a client sends and what a server sends."""

from __future__ import annotations

from recalld.protocol import replies, requests

ServiceRequest = (
    requests.Recall
    | requests.Observe
    | requests.Remember
    | requests.Forget
    | requests.Get
    | requests.ListMemories
    | requests.Explain
    | requests.Session
    | requests.Health
    | requests.Stats
    | requests.Ping
)
"""Requests that have exactly one reply."""

Request = requests.Hello | requests.Subscribe | ServiceRequest

Reply = (
    replies.Welcome
    | replies.Recalled
    | replies.Admitted
    | replies.Remembered
    | replies.Forgotten
    | replies.Memory
    | replies.Memories
    | replies.Explanation
    | replies.Ok
    | replies.Subscribed
    | replies.Event
    | replies.HealthReport
    | replies.StatsReport
    | replies.Pong
    | replies.Error
)
