"""Fetch one file from a hub: the program that `hub.py` runs as a child.

    hub_child REPO_ID REVISION FILENAME SIZE_BYTES TARGET_DIR

Prints whom it asks, then `reached` once the hub has described the file, then fetches it below TARGET_DIR. Its own
process, because the library reads its settings from the environment while it is imported, and because a process can
be ended.
"""

from __future__ import annotations

import sys

EXIT_FAILED = 3


def main(arguments: list[str]) -> int:
    """Fetch, and return an exit code; what failed is the last line printed."""
    repo_id, revision, filename, size_text, target_dir = arguments
    from huggingface_hub import (  # noqa: PLC0415 - takes half a second, which is not the hub's
        constants,
        get_hf_file_metadata,
        hf_hub_download,
        hf_hub_url,
    )

    _say(f"asking {constants.ENDPOINT}")
    try:
        metadata = get_hf_file_metadata(hf_hub_url(repo_id, filename, revision=revision))
        _say("reached")
        if metadata.size is not None and metadata.size != int(size_text):
            _say(f"error: the hub offers {metadata.size} bytes instead of {size_text}")
            return EXIT_FAILED
        hf_hub_download(repo_id, filename, revision=revision, local_dir=target_dir)
    except Exception as error:  # noqa: BLE001 - the border to a library; the type and first line are the report
        _say(f"error: {type(error).__name__}: {_first_line(error)}")
        return EXIT_FAILED
    return 0


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - standard output is how the parent watches


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
