"""`recalld events`: watch what the daemon reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import anyio
import click
import msgspec

from recalld.daemon.cli.common import Common, client_options
from recalld.daemon.cli.output import moment, printable, write_json
from recalld.daemon.cli.parameters import USER, seconds, text_of, whole
from recalld.daemon.cli.standard_streams import OutputError
from recalld.daemon.cli.version import own_version
from recalld.daemon.exit_codes import ExitCode
from recalld.models.domain.events import EventName
from recalld.protocol.client.asynchronous import AsyncClient
from recalld.protocol.client.errors import ClientError
from recalld.protocol.replies import Event
from recalld.protocol.requests import Subscribe

RECONNECT_PAUSE_S = 1.0


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """How long to watch.

    Attributes:
        request: What to subscribe to.
        count: Stop after so many events; None: no limit.
        timeout_s: Stop after so many seconds; None: no limit.
        is_following: Connect again when the daemon goes away, instead of ending.
    """

    request: Subscribe
    count: int | None = None
    timeout_s: float | None = None
    is_following: bool = False


@click.command("events")
@click.option(
    "--name",
    "names",
    multiple=True,
    type=click.Choice([name.value for name in EventName]),
    metavar="NAME",
    help="Only this event; may be repeated. Default: all.",
)
@click.option(
    "--user",
    "only_user",
    type=text_of(USER),
    help="Only events of this user, and those of no user. Default: all you may see.",
)
@click.option("--follow", is_flag=True, help="Go on when the daemon restarts.")
@click.option("--count", type=whole(1), help="Stop after so many events.")
@click.option("--timeout", "timeout_s", type=seconds, help="Stop after so many seconds.")
@client_options
@click.pass_obj
def command(
    common: Common,
    *,
    names: tuple[str, ...],
    only_user: str | None,
    follow: bool,
    count: int | None,
    timeout_s: float | None,
) -> int:
    """Show events as they happen, until Ctrl-C; with --json one object a line.

    Exit code 1 when --timeout ends it before --count events have come.
    """
    watch = Watch(
        request=Subscribe(events=names, user=only_user), count=count, timeout_s=timeout_s, is_following=follow
    )
    show = write_json if common.as_json else _show
    seen = anyio.run(partial(watch_events, common, watch, show))
    return ExitCode.FAILURE if count is not None and seen < count else ExitCode.OK


async def watch_events(common: Common, watch: Watch, show: Callable[[Event], None]) -> int:
    """Show events until the watch ends.

    Returns:
        How many were shown.

    Raises:
        ClientError: The daemon cannot be reached, or refuses; when following only before the first connection.
        OutputError: Standard output does not take an event.
    """
    progress = _Progress()
    with anyio.move_on_after(watch.timeout_s):
        while True:
            trouble = await _watch_once(common, watch, show, progress)
            if watch.count is not None and progress.seen >= watch.count:
                break
            if trouble is not None and not (watch.is_following and progress.has_connected and _may_pass(trouble)):
                raise trouble
            if not watch.is_following:
                break
            await anyio.sleep(RECONNECT_PAUSE_S)
    return progress.seen


@dataclasses.dataclass
class _Progress:
    """What has happened so far, over all connections."""

    seen: int = 0
    has_connected: bool = False


async def _watch_once(
    common: Common, watch: Watch, show: Callable[[Event], None], progress: _Progress
) -> ClientError | OutputError | None:
    """Show events of one connection until it or the watch ends; what ended it, unless that was in order.

    The error is returned rather than raised: a client's task group may wrap what passes through it.
    """
    async with _client(common) as client:
        try:
            await client.ping()
            progress.has_connected = True
            async for event in client.subscribe(watch.request):
                show(event)
                progress.seen += 1
                if watch.count is not None and progress.seen >= watch.count:
                    return None
        except (ClientError, OutputError) as error:
            return error
    return None


def _may_pass(trouble: ClientError | OutputError) -> bool:
    return isinstance(trouble, ClientError) and trouble.retryable


def _client(common: Common) -> AsyncClient:
    return AsyncClient(common.settings.server.socket_path, name="recalld-cli", version=own_version())


def _show(event: Event) -> None:
    fields = " ".join(f"{name}={printable(str(value))}" for name, value in event.fields.items())
    user = f" user={printable(event.user)}" if event.user else ""
    if event.dropped:
        click.echo(f"({event.dropped} events were dropped: this reader is too slow)", err=True)
    click.echo(f"{moment(event.at_ms)} {event.name}{user} {fields}".rstrip())
