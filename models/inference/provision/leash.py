"""Run a module as a program, on a leash: `python -m recalld.models.inference.provision.leash MODULE ARGUMENT…`.

A downloader must not outlive the process that wants its file. That process holds the other end of standard input;
when it dies, however it dies, the pipe closes and this one ends at once.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading

EXIT_OWNER_GONE = 70


def main() -> None:
    """Run the module named by the first argument with the arguments after it."""
    threading.Thread(target=_end_with_owner, name="leash", daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _end_with_owner() -> None:
    while os.read(0, 1024):
        pass
    # Not sys.exit: that would only end this thread.
    os._exit(EXIT_OWNER_GONE)


if __name__ == "__main__":
    main()
