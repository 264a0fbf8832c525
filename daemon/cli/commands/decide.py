"""`recalld decide`: ask a gate from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click
import msgspec

from recalld.daemon.cli.commands.decide_view import decision_lines
from recalld.daemon.cli.common import Common, session_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.local_zone import local_zone
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import SCOPE, path, text_of
from recalld.daemon.cli.text_input import STDIN, read_text
from recalld.protocol import decide_items, faults, fields, requests
from recalld.protocol.items import PastTurn
from recalld.protocol.strict import unknown_key


@click.command("decide")
@click.argument("op", metavar="OP", type=click.Choice(get_args(decide_items.DecideOpName)))
@click.option("--profile", default="", help="Which gate decides; see `recalld gates`. Default: the operation's own.")
@click.option("--text", help="The user's message (`-`: standard input).")
@click.option("--turn", "turns", multiple=True, help="An earlier turn, oldest first; may be repeated.")
@click.option("--no-turns", is_flag=True, help="Say that there are no earlier turns; else they count as not known.")
@click.option("--project", type=text_of(SCOPE), help="The project this is about.")
@click.option("--project-root", type=path, help="Its directory, for gates that look at files; relative to here.")
@click.option(
    "--request", "request_path", type=path, help="A JSON file with further fields of the request (`-`: stdin)."
)
@session_options
@click.pass_obj
def command(
    common: Common,
    *,
    op: decide_items.DecideOpName,
    profile: str,
    text: str | None,
    turns: tuple[str, ...],
    no_turns: bool,
    project: str | None,
    project_root: Path | None,
    request_path: Path | None,
) -> None:
    """Ask whether OP may be done now, and how.

    OP is recall, rewrite, inject, probe, sweep, consolidate, extract, admit, tune or load_skill. What the options do
    not cover stands in a JSON file with the fields of the request `decide` of the protocol: candidates, sweep, model
    and so on; options come before what it says. Exit code 0 means that there is a decision, whichever.
    """
    if turns and no_turns:
        message = "--no-turns: there are turns from --turn; leave one of the two out"
        raise usage_error(message)
    if project_root is not None and not project_root.is_dir():
        message = f"--project-root: {project_root.absolute()} is no directory; give the project's own"
        raise usage_error(message)
    request = _from_file(common, op, request_path)
    request = msgspec.structs.replace(
        request,
        op=op,
        user=common.user_name,
        session=common.session_name or request.session,
        profile=profile or request.profile,
        text=request.text if text is None else read_text(text, chars_max=fields.TURN_CHARS_MAX),
        parts=request.parts if text is None else (),
        turns=_turns(turns, request, no_turns=no_turns),
        scope=_scope(request, project, project_root),
        time_zone=request.time_zone or local_zone(common.environment),
        explicit=request.explicit if project is None else (*request.explicit, "project"),
    )
    with common.client() as client:
        decision = client.decide(request)
    if common.as_json:
        write_json(decision)
        return
    for line in decision_lines(decision):
        click.echo(line)


def _from_file(common: Common, op: decide_items.DecideOpName, request_path: Path | None) -> requests.Decide:
    """The request in a file; operation and user need not stand there."""
    empty = requests.Decide(op=op, user=common.user_name)
    if request_path is None:
        return empty
    if str(request_path) == STDIN:
        content = read_text(STDIN, chars_max=fields.FRAME_BYTES_MAX)
    else:
        try:
            content = request_path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            message = f"--request: {request_path} is not UTF-8 at byte {error.start}; write it in UTF-8"
            raise usage_error(message) from error
        except OSError as error:
            message = (
                f"--request: {request_path} cannot be read ({error.strerror}); give the path of a readable file,"
                " or - for standard input"
            )
            raise usage_error(message) from error
    if unknown := unknown_key(content, requests.Decide):
        message = f"--request: {unknown}"
        raise usage_error(message)
    try:
        given = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        given |= {"op": msgspec.Raw(msgspec.json.encode(op)), "user": msgspec.Raw(msgspec.json.encode(empty.user))}
        return msgspec.json.decode(msgspec.json.encode(given), type=requests.Decide)
    except msgspec.ValidationError as error:
        message = f"--request: {faults.describe(str(error))}"
        raise usage_error(message) from error
    except msgspec.DecodeError as error:
        message = f"--request: {request_path} is no JSON ({error}); give one object with fields of the request"
        raise usage_error(message) from error


def _turns(turns: tuple[str, ...], request: requests.Decide, *, no_turns: bool) -> tuple[PastTurn, ...] | None:
    if turns or no_turns:
        return tuple(PastTurn(speaker="", text=turn) for turn in turns)
    return request.turns


def _scope(request: requests.Decide, project: str | None, project_root: Path | None) -> decide_items.DecideScope:
    scope = request.scope
    return msgspec.structs.replace(
        scope,
        project=scope.project if project is None else project,
        project_root=scope.project_root if project_root is None else str(project_root.absolute()),
    )
