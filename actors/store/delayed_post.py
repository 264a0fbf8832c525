"""What the store actor tells itself to do later."""

from __future__ import annotations

import anyio

from recalld.actors.kernel import ActorContext, PostOutcome
from recalld.actors.store.messages import StoreMessage


def post_later(ctx: ActorContext[StoreMessage], message: StoreMessage, delay_s: float, *, name: str) -> None:
    """Post a message to the actor itself once `delay_s` seconds have passed. A drain does not wait for it."""
    ctx.spawn(_post, ctx, message, delay_s, name=name, is_background=True)


async def _post(ctx: ActorContext[StoreMessage], message: StoreMessage, delay_s: float) -> None:
    """Post the message; if the mailbox is full, try again after another pause."""
    await anyio.sleep(delay_s)
    while ctx.address.post(message) is PostOutcome.FULL:  # noqa: ASYNC110 - a mailbox tells nobody when it has room
        await anyio.sleep(delay_s)
