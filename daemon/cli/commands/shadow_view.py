"""How shadow mode is told to a person: what the gates decided beside what was done."""

from __future__ import annotations

from collections.abc import Sequence

from recalld.daemon.cli.output import printable
from recalld.daemon.cli.words import counted_memories
from recalld.protocol.items import ShadowItem


def shadow_headline(shadow: ShadowItem, count: int) -> str:
    """One line above what a recall handed over.

    Args:
        shadow: What the gates decided.
        count: How many memories were handed over.
    """
    done = f"{counted_memories(count)} handed over" if count else "nothing is handed over"
    verdict = f"{shadow.decision}, {shadow.reason}"
    decided = (
        f"{counted_memories(len(shadow.item_ids))} would have been" if shadow.item_ids else "nothing would have been"
    )
    return printable(f"Shadow mode ({shadow.mode}): {done}; with the gates obeyed, {decided} ({verdict}).")


def shadow_lines(mode: str, decided_ids: Sequence[str], served_ids: Sequence[str]) -> list[str]:
    """What the ledger holds of a recall in shadow mode; nothing for one whose gates were obeyed.

    Args:
        mode: The shadow mode; empty: none.
        decided_ids: What the gates would have injected.
        served_ids: What was injected instead.
    """
    if not mode:
        return []
    decided, served = (", ".join(ids) or "nothing" for ids in (decided_ids, served_ids))
    return [printable(f"Shadow mode ({mode}): the gates decided to inject {decided}; injected was {served}.")]
