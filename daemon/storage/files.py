"""The files of the store and who may read them: directory 0700, files 0600."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from recalld.daemon.private_directories import OPEN_TO_OTHERS, DirectoryRefusedError, claim_directory
from recalld.daemon.storage.errors import DatabaseRefusedError
from recalld.models.domain.errors import ErrorCode, RecalldError

DATABASE_NAME: Final = "recalld.db"
LOCK_NAME: Final = "recalld.lock"
DIRECTORY_MODE: Final = 0o700
FILE_MODE: Final = 0o600


def database_path(data_dir: Path) -> Path:
    """Where the database of a data directory lies."""
    return data_dir / DATABASE_NAME


def wal_path(database: Path) -> Path:
    """The database's write-ahead log."""
    return companions(database)[0]


def companions(database: Path) -> tuple[Path, Path]:
    """The files SQLite keeps beside a database in WAL mode: the log and its shared-memory index.

    They lie where a link leads that stands in the database's place.
    """
    real = Path(os.path.realpath(database))
    return real.with_name(real.name + "-wal"), real.with_name(real.name + "-shm")


def size_bytes(file: Path) -> int:
    """The file's size; 0 when there is none, or none that can be looked at."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def prepare_directory(data_dir: Path) -> None:
    """Make the data directory, or see to it that one that exists is ours alone; see `private_directories`.

    Raises:
        DatabaseRefusedError: It is open to others, and closing it would take it from them.
        RecalldError: `STORAGE_UNAVAILABLE` when it cannot be made, or is no directory.
    """
    try:
        claim_directory(data_dir, purpose="the data directory", mode=DIRECTORY_MODE, forbidden=OPEN_TO_OTHERS)
    except DirectoryRefusedError as refusal:
        message = f"{refusal}."
        raise DatabaseRefusedError(message) from refusal
    except OSError as error:
        message = (
            f"The data directory {data_dir} cannot be made private ({error}); give it to this user, with mode 0700."
        )
        raise RecalldError(ErrorCode.STORAGE_UNAVAILABLE, message) from error


def tighten(database: Path) -> None:
    """Take group and others out of the database's files.

    By name: opening and closing a database file outside SQLite would drop the locks this process holds on it. Files
    that SQLite makes later take their mode from the database file.

    Raises:
        RecalldError: `STORAGE_UNAVAILABLE` when a file is open to others and not ours.
    """
    for file in (database, *companions(database)):
        try:
            if stat.S_IMODE(file.stat().st_mode) & 0o077:
                file.chmod(FILE_MODE)
        except FileNotFoundError:
            continue
        except OSError as error:
            message = f"{file} cannot be made private ({error}); give it to this user, with mode 0600."
            raise RecalldError(ErrorCode.STORAGE_UNAVAILABLE, message) from error


def find_obstacle(database: Path) -> str:
    """Why what lies at the database's place cannot be opened; empty when it can be, or nothing is there.

    Looks at names only. A pipe or device would hold up whoever opens it, and a link that leads nowhere would be
    replaced by a new database.

    Raises:
        PermissionError: This account may not look into the directory.
    """
    for file in (database, *companions(database), database.with_name(database.name + "-journal")):
        try:
            is_file = stat.S_ISREG(file.stat().st_mode)
        except FileNotFoundError:
            if file.is_symlink():
                return f"{file} is a link to a file that is not there; put the file back, or remove the link."
            continue
        except PermissionError:
            raise
        except OSError as error:
            return f"{file} cannot be looked at ({error.strerror}); check the links and directories it leads through."
        if not is_file:
            return f"{file} is not a regular file; move it away or choose another data directory."
    return ""


def must_create(database: Path) -> bool:
    """Whether a new database is to be made: there is none, and nothing says that there was one.

    Raises:
        DatabaseRefusedError: The file is empty or no regular file, or its write-ahead log is there without it. A new
            database there would hide the loss of the old one.
    """
    obstacle = find_obstacle(database)
    if obstacle:
        raise DatabaseRefusedError(obstacle)
    try:
        status = database.stat()
    except FileNotFoundError:
        if size_bytes(wal_path(database)) > 0:
            message = f"{database} is missing but its write-ahead log is there; restore a backup, or move the log away."
            raise DatabaseRefusedError(message) from None
        return True
    if status.st_size == 0 and size_bytes(wal_path(database)) == 0:
        message = f"{database} is empty, which this program never leaves behind; restore a backup or remove the file."
        raise DatabaseRefusedError(message)
    return False


def create_private(file: Path) -> None:
    """Make an empty file that nobody else may read, not even for a moment and whatever the umask.

    Raises:
        FileExistsError: There is one already.
    """
    descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE)
    try:
        os.fchmod(descriptor, FILE_MODE)  # a umask may have taken our own rights
    finally:
        os.close(descriptor)


def sync_directory(directory: Path) -> None:
    """Make a rename in the directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
