"""What is loaded for good is taken out of the garbage collector's sight.

Word lists, patterns and classes are hundreds of thousands of objects that live as long as the process. A full
collection walks all of them, holding up the event loop meanwhile, to find that none of them is garbage; and every few
recalls make enough new objects for one.
"""

from __future__ import annotations

import gc


def settle_memory() -> None:
    """Have the collector look no more at anything that is there now. Takes microseconds.

    What of it becomes garbage in a cycle later on is never freed: call it once, when loading is over.
    """
    gc.freeze()
