"""Texts for memories of which only the ids are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from recalld.models.domain.errors import ErrorCode
from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import ClientError
from recalld.protocol.requests import Get

TEXTS_MAX: Final = 10
"""Each text is a request of its own, about a millisecond; more than this nobody reads in a table."""


def texts_of(client: Client, user: str, ids: Sequence[str]) -> Mapping[str, str]:
    """The texts of the first `TEXTS_MAX` memories; one that is not there any more is left out.

    They are an extra: when the daemon stops answering, what has come by then must do.
    """
    texts = {}
    for memory_id in ids[:TEXTS_MAX]:
        try:
            texts[memory_id] = client.get(Get(user=user, memory_id=memory_id)).memory.text
        except ClientError as error:
            if error.code != ErrorCode.NOT_FOUND:
                break
    return texts
