from __future__ import annotations

import msgspec
import pytest

from recalld.daemon.gateway import translate_cues
from recalld.models.domain.cues import BackfillEnd, BackfillReply, MemoryChanges
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.records import MemoryKind
from recalld.protocol import requests

NOW_MS = 1_800_000_000_000


def changes_of(**fields: object) -> MemoryChanges:
    request = msgspec.convert({"type": "update", "user": "u", "memory_id": "mem_1", **fields}, requests.Update)
    return translate_cues.update_request(request, now_ms=NOW_MS, deadline_s=7.5).changes


def test_an_update_is_translated_field_by_field() -> None:
    request = requests.Update(
        user="u",
        memory_id="mem_1",
        cues=("a",),
        asks=(),
        kind="note",
        scope="",
        expires_at="2030-01-01",
        time_zone="Europe/Berlin",
        if_revision=3,
    )
    update = translate_cues.update_request(request, now_ms=NOW_MS, deadline_s=7.5)
    assert (update.user, update.memory_id, update.if_revision, update.deadline_s) == ("u", "mem_1", 3, 7.5)
    assert update.changes == MemoryChanges(
        cues=("a",), asks=(), kind=MemoryKind.NOTE, scope="", expires_at_ms=1_893_538_800_000
    )


def test_what_is_left_out_stays_as_it_is() -> None:
    assert changes_of() == MemoryChanges()


def test_an_empty_expiry_means_never() -> None:
    assert changes_of(expires_at="") == MemoryChanges(expires_at_ms=None)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at: .* is not in the future"),
        ({"expires_at": "2030-01-01T00:00:00"}, "expires_at: .* no time zone is known"),
        ({"time_zone": "Mars/Olympus"}, "time_zone: "),
        ({"scope": "  "}, "scope: is only white space"),
    ],
)
def test_a_wrong_value_is_refused_by_its_field(fields: dict[str, object], message: str) -> None:
    with pytest.raises(RecalldError, match=message):
        changes_of(**fields)


def test_a_backfill_is_translated_both_ways() -> None:
    request = requests.Backfill(user="u", limit=3, dry_run=True, cursor="c")
    asked = translate_cues.backfill_request(request, deadline_s=60.0)
    assert (asked.user, asked.limit, asked.is_dry_run, asked.cursor, asked.deadline_s) == ("u", 3, True, "c", 60.0)
    reply = BackfillReply(
        updated=4,
        refusals={"no_asks": 1, "repeated": 1},
        failures={"timeout": 3},
        remaining=9,
        end=BackfillEnd.LIMIT,
        cursor="d",
    )
    sent = translate_cues.backfilled(8, reply)
    assert (sent.id, sent.asked, sent.updated, sent.refused, sent.failed) == (8, 9, 4, 2, 3)
    assert (sent.remaining, sent.reason, sent.cursor) == (9, "limit", "d")
    assert (sent.refusals, sent.failures) == ({"no_asks": 1, "repeated": 1}, {"timeout": 3})
