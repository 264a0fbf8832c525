"""Checks of the database, with the daemon up or down. They go through SQLite only.

Opening and closing the file in any other way would be harmless here, in a process of its own, but the same code run
inside the daemon would drop the locks that SQLite holds on it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from recalld.daemon.cli.words import counted, counted_memories
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.holders import processes_with_open
from recalld.daemon.doctor.result import Finding, failed, not_checked, noted, passed, warned
from recalld.daemon.positions import lacking
from recalld.daemon.storage.connection import open_reading, open_writing
from recalld.daemon.storage.errors import DatabaseRefusedError
from recalld.daemon.storage.files import database_path, find_obstacle
from recalld.daemon.storage.integrity import find_damage
from recalld.daemon.storage.migrations import MIGRATIONS, check_identity
from recalld.daemon.storage.schema_check import is_rebuildable
from recalld.daemon.storage.search_rows import rebuild_index
from recalld.daemon.storage.space import find_shortage
from recalld.daemon.storage.transactions import in_transaction
from recalld.models.domain.position import Position
from recalld.models.domain.store import StoreHealth

BLANK_FAIL_SHARE: Final = 0.05
"""Above this share of blank memories the store is not worth searching."""
WAL_BYTES_WARN: Final = 64 * 1024 * 1024
_MIB: Final = 1024 * 1024
_REBUILD: Final = "run `recalld doctor --rebuild-index`"
_RESTORE: Final = "stop the daemon and restore a backup"

_Judge = Callable[[DoctorContext, StoreHealth], Finding]


def _of_database(judge: _Judge) -> Callable[[DoctorContext], Finding]:
    """Make a check of a reading of the database; says why when there is none to read."""

    def check(context: DoctorContext) -> Finding:
        problem = _cannot_look(context)
        return problem if problem is not None else judge(context, context.database.health)

    check.__doc__ = judge.__doc__
    return check


def check_identity_and_schema(context: DoctorContext) -> Finding:
    """It is a recalld database of a schema that this version can read."""
    problem = _cannot_look(context)
    if problem is not None:
        return problem
    path, health = context.database.path, context.database.health
    if not health.is_readable:
        return failed(f"{path} cannot be read: {health.detail}", "restore a backup, or ask before you remove anything")
    try:
        with closing(open_reading(path)) as db:
            version = check_identity(db, path)
    except DatabaseRefusedError as error:
        return failed(error.message, "use the version of recalld that wrote it, or restore a backup")
    if health.missing:
        seen = f"{path} is not made as this version makes it: {', '.join(health.missing)}"
        is_index_only = all(map(is_rebuildable, health.missing))
        return failed(seen, _REBUILD if is_index_only else _RESTORE)
    newest = MIGRATIONS[-1].number
    seen = f"{path}, schema {version}"
    return passed(seen) if version == newest else noted(f"{seen}; the daemon brings it to {newest} when it starts")


def judge_writable(context: DoctorContext, health: StoreHealth) -> Finding:
    """Whether the account that runs the daemon could write; a running daemon knows better, and is asked elsewhere."""
    if health.is_writable and not health.is_readable:
        return not_checked("the database cannot be read")
    if health.is_writable:
        return passed("file and directory are writable")
    if health.missing:
        return failed("writes that need what is missing fail", "see the check of the database")
    data_dir = context.settings.storage.data_dir
    if find_shortage(context.database.path) is not None:
        return failed(
            health.detail, f"free some space there, or raise the limit that is named; the database is in {data_dir}"
        )
    remedy = f"give {data_dir} and the files in it to the account that runs the daemon, with modes 0700 and 0600"
    return failed(health.detail or "the database cannot be written", remedy)


def judge_memories(context: DoctorContext, health: StoreHealth) -> Finding:  # noqa: ARG001 - one signature for all
    """Memories that cannot be read, or whose text is blank, were never written by recalld: something damaged them."""
    if not health.is_readable:
        return not_checked("the database cannot be read")
    if health.damaged:
        shown = ", ".join(health.damaged_ids) + (", …" if health.damaged > len(health.damaged_ids) else "")
        return failed(
            f"{health.damaged} of the memories cannot be read, so nothing finds them: {shown}",
            f"restore a backup, or let go of them with `recalld forget --hard {health.damaged_ids[0]}` and so on",
        )
    if not health.live:
        return noted("nothing stored yet")
    seen = f"{counted_memories(health.live)} of {counted(health.users, 'user')}, {health.blank} blank"
    if health.blank > BLANK_FAIL_SHARE * health.live:
        return failed(seen, "restore a backup: the text of these memories is gone")
    if health.blank:
        return warned(seen, "`recalld list` shows them; forget them, or restore a backup")
    return passed(seen)


def judge_index(context: DoctorContext, health: StoreHealth) -> Finding:  # noqa: ARG001 - one signature for all
    """The full-text index has one row for each live memory."""
    if not health.is_readable:
        return not_checked("the database cannot be read")
    if not health.fts_matches:
        return failed(health.detail, _REBUILD)
    return passed(f"{health.fts_rows} rows, one for each indexed memory")


def judge_embeddings(context: DoctorContext, health: StoreHealth) -> Finding:
    """Live memories that meaning cannot find: no vector yet, or one that another embedder made."""
    if not health.is_readable:
        return not_checked("the database cannot be read")
    if not health.live:
        return not_checked("nothing stored yet")
    if health.other_embedder:
        rows = "row needs" if health.other_embedder == 1 else "rows need"
        return warned(
            f"{health.other_embedder} {rows} re-embedding: their vectors belong to another embedder",
            "leave the daemon running; it embeds them in the background. Until then only words find them",
        )
    if health.pending_embedding:
        return noted(
            f"{health.pending_embedding} of {counted_memories(health.live)} not embedded yet",
            "leave the daemon running; it embeds them in the background",
        )
    embedder = context.settings.models.embedder
    return passed(f"{counted_memories(health.live)}, all embedded by {embedder}")


def judge_position(context: DoctorContext, health: StoreHealth) -> Finding:
    """Whether the looseness of the write path is earned by what bounds the life of a wrong memory."""
    position = context.settings.admission.position
    if position is Position.STRICT:
        return passed(f"{position}: rules, saves and confirmations write")
    if not health.is_readable:
        return not_checked("the database cannot be read", matters=True, remedy="see the check of the database")
    missing = lacking(context.settings, health, now_ms=context.clock.now_ms())
    if not missing:
        return passed(f"{position}, and earned: memories can be seen, forgotten and corrected, and were audited")
    seen = f"{position}, and not earned: {'; '.join(each.what for each in missing)}"
    remedy = f'{"; ".join(each.remedy for each in missing)}; or set admission.position to "strict"'
    if position is Position.OPEN:
        return failed(f"{seen}; the daemon does not start like that", remedy)
    return warned(seen, remedy)


def judge_write_ahead_log(context: DoctorContext, health: StoreHealth) -> Finding:
    """A log that keeps growing is pinned by a reader that never finishes."""
    limit_bytes = max(WAL_BYTES_WARN, context.settings.storage.journal_bytes_max)
    seen = f"{health.wal_bytes / _MIB:.1f} MiB"
    if health.wal_bytes <= limit_bytes:
        return passed(seen)
    daemon_pid = context.live.health.pid if context.live.health else 0
    others = {
        pid: name
        for pid, name in processes_with_open(context.database.path).items()
        if pid not in (daemon_pid, context.pid)
    }
    if others:
        shown = ", ".join(f"{name} (pid {pid})" for pid, name in sorted(others.items()))
        return warned(f"{seen}; {shown} has the database open, too", "end its reading; the log then shrinks by itself")
    return warned(seen, "a reader may pin it; restart the daemon, and look for programs that have the database open")


check_writable = _of_database(judge_writable)
check_memories = _of_database(judge_memories)
check_index = _of_database(judge_index)
check_embeddings = _of_database(judge_embeddings)
check_position = _of_database(judge_position)
check_write_ahead_log = _of_database(judge_write_ahead_log)


def check_integrity(context: DoctorContext) -> Finding:
    """Every page, and every word of the full-text index against the text it stands for."""
    problem = _cannot_look(context)
    if problem is not None:
        return problem
    health = context.database.health
    if not health.is_writable and not health.missing:
        return not_checked(
            "SQLite takes the check of a full-text index for a write, and this account may not write",
            matters=True,
            remedy="run the doctor as the account that runs the daemon",
        )
    if not health.is_readable:
        return failed(f"the database cannot be read: {health.detail}", _RESTORE)
    with closing(open_writing(context.database.path)) as db:
        damage = in_transaction(db, find_damage)
    if not damage:
        return passed("no damage, and the full-text index says what the memories say")
    is_index_only = all("index" in sentence for sentence in damage)
    return failed(" ".join(damage), _REBUILD if is_index_only else _RESTORE)


def rebuild_full_text_index(data_dir: Path) -> None:
    """Make the full-text index anew from the memories, in one transaction; recall goes on meanwhile.

    Raises:
        sqlite3.Error: There is no database, or it could not be made; the old one is as it was.
    """
    with closing(open_writing(database_path(data_dir))) as db:
        in_transaction(db, rebuild_index)


def _cannot_look(context: DoctorContext) -> Finding | None:
    """Why there is no database to look at; None when there is one."""
    path = context.database.path
    try:
        obstacle = find_obstacle(path)
        if obstacle:
            return failed(obstacle, "the daemon does not start until that is done")
        path.stat()
    except FileNotFoundError:
        if context.live.health is not None:
            return failed(
                f"the daemon runs, but {path} is not there: it uses another directory, or its files were removed",
                "give the doctor the daemon's configuration (--config, --data-dir), or restart the daemon",
            )
        return not_checked(f"{path} does not exist: nothing stored yet")
    except PermissionError as error:
        return not_checked(
            f"this account may not look at {path} ({error.strerror})",
            matters=context.live.health is None,
            remedy="run the doctor as the account that runs the daemon, or as root",
        )
    return None
