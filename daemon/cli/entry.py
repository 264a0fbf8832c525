"""Entry point of the command: the table of commands, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

import click

from recalld.daemon.cli.common import Common
from recalld.daemon.cli.lazy_group import LazyGroup
from recalld.daemon.cli.output import write_error, write_error_line
from recalld.daemon.cli.standard_streams import OutputError, checked_streams, discard_unwritten
from recalld.daemon.cli.translation import EXPECTED, translated
from recalld.daemon.config import forbid_runtime_telemetry, process_environment, use_one_numeric_thread
from recalld.daemon.exit_codes import ExitCode

_COMMANDS: Final = MappingProxyType(
    {
        "serve": ("recalld.daemon.cli.commands.serve", "Run the daemon in the foreground."),
        "demo": ("recalld.daemon.cli.commands.demo", "Show what recall and silence look like, on made-up memories."),
        "recall": ("recalld.daemon.cli.commands.recall", "Ask which memories help with a turn."),
        "remember": ("recalld.daemon.cli.commands.remember", "Store a memory."),
        "observe": ("recalld.daemon.cli.commands.observe", "Hand over a turn, and see what it leads to."),
        "forget": ("recalld.daemon.cli.commands.forget", "Forget memories, after a preview."),
        "review": ("recalld.daemon.cli.commands.review", "Accept or turn down what waits to be a memory."),
        "audit": ("recalld.daemon.cli.commands.audit", "Go through the newest memories."),
        "why": ("recalld.daemon.cli.commands.why", "Show everything behind a memory."),
        "get": ("recalld.daemon.cli.commands.get", "Show one memory in full."),
        "list": ("recalld.daemon.cli.commands.list_memories", "List memories, newest first."),
        "standing": ("recalld.daemon.cli.commands.standing", "Show and arrange what a session is given unasked."),
        "outcome": ("recalld.daemon.cli.commands.outcome", "Report what became of what was shown."),
        "cues": ("recalld.daemon.cli.commands.cues", "Show and change headings and questions of memories."),
        "export": ("recalld.daemon.cli.commands.export", "Write everything that is kept of a user into a file."),
        "import": ("recalld.daemon.cli.commands.import_file", "Take over an exported file, or plain texts."),
        "purge-user": ("recalld.daemon.cli.commands.purge_user", "Leave nothing of a user behind."),
        "decide": ("recalld.daemon.cli.commands.decide", "Ask a gate whether something may be done."),
        "gates": ("recalld.daemon.cli.commands.gates", "List gates and show their settings."),
        "explain": ("recalld.daemon.cli.commands.explain", "Say why a decision went as it did."),
        "events": ("recalld.daemon.cli.commands.events", "Watch what the daemon reports."),
        "status": ("recalld.daemon.cli.commands.status", "Show the state of the running daemon."),
        "stats": ("recalld.daemon.cli.commands.stats", "Count what was decided, why, and at what cost."),
        "metrics": ("recalld.daemon.cli.commands.metrics", "Print figures for Prometheus."),
        "doctor": ("recalld.daemon.cli.commands.doctor", "Check the whole installation."),
        "eval": ("recalld.daemon.cli.commands.eval", "Measure the gate on labelled rows."),
        "drill": ("recalld.daemon.cli.commands.drill", "Force the gates shut on labelled rows, and see what is lost."),
        "replay": ("recalld.daemon.cli.commands.replay", "Measure the write path on labelled conversations."),
        "calibrate": ("recalld.daemon.cli.commands.calibrate", "Fit the gate to one's own labelled turns."),
        "models": ("recalld.daemon.cli.commands.models", "List, fetch, verify and import models."),
    }
)

root = LazyGroup(
    "recalld", commands=_COMMANDS, help="A memory daemon for local agent runtimes that knows when to stay silent."
)
click.version_option(package_name="recalld", message="%(prog)s %(version)s")(root)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code of the process.

    Args:
        arguments: The words after `recalld`; those of this process by default.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    forbid_runtime_telemetry()  # before any command can load the model runtime
    use_one_numeric_thread()  # before any command can load numpy
    try:
        with checked_streams():
            return _run(words)
    except OutputError as error:
        if error.is_reader_gone:
            return ExitCode.READER_GONE
        # Also with --json: what cannot be written to standard output can only be said elsewhere.
        with contextlib.suppress(OSError):
            write_error_line(f"standard output: {error.reason}; what it should have held is lost or incomplete")
        return ExitCode.FAILURE
    finally:
        discard_unwritten()


def _run(words: list[str]) -> int:
    """Run one command; everything a person can do something about becomes one line on standard error."""
    common = Common(environment=process_environment())
    try:
        with root.make_context("recalld", list(words), obj=common) as context:
            result = root.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        click.echo(err=True)
        return ExitCode.INTERRUPTED
    except EXPECTED as error:
        if isinstance(error, click.UsageError) and error.ctx is None:
            error.ctx = _context_of(words)
        trouble = translated(error, common)
        write_error(trouble, as_json=_wants_json(words))
        return trouble.exit_code
    return result if isinstance(result, int) else ExitCode.OK


def _context_of(words: Sequence[str]) -> click.Context:
    """The command that these words are for: the parser does not say it of an option that lacks a value."""
    context = click.Context(root, info_name="recalld")
    for word in words:
        if not isinstance(context.command, click.Group):
            break
        command = context.command.get_command(context, word)
        if command is not None:
            context = click.Context(command, info_name=word, parent=context)
    return context


def _wants_json(words: Sequence[str]) -> bool:
    """Whether `--json` was given; also known when the command line could not be parsed to its end."""
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options
