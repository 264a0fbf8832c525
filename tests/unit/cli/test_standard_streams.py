"""Standard streams that are closed, full or left: one line or none, an exit code, and never a traceback."""

import os
import subprocess
import sys

import pytest
from stand_in_daemon import StandIn

from recalld.protocol import replies, requests

RECALLD = f"{sys.executable} -c 'import sys; from recalld.daemon.cli import main; sys.exit(main())'"
FULL = "recalld: standard output: No space left on device; what it should have held is lost or incomplete\n"
CLOSED = "recalld: standard output: Bad file descriptor; what it should have held is lost or incomplete\n"


@pytest.fixture(autouse=True)
def planned(daemon: StandIn) -> None:
    daemon.plan(requests.ListMemories, replies.Memories(total=0))
    daemon.plan(requests.Recall, replies.Recalled(recall_id="r", decision="silent", mode="gated", reason="gated"))
    daemon.plan_events(replies.Event(name="daemon_ready", at_ms=0))


def shell(line: str) -> tuple[int, str, str]:
    """Run a line with a real shell and real streams: exit code, standard output and standard error."""
    done = subprocess.run(
        ["bash", "-c", line.replace("recalld ", f"{RECALLD} ")],
        env={**os.environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "command", ["list", "list --json", "recall x", "recall x --explain", "events --json --count 1", "--help"]
)
def test_a_full_output_is_one_line_on_standard_error_and_exit_code_1(command: str) -> None:
    assert shell(f"recalld {command} >/dev/full") == (1, "", FULL)


def test_an_output_and_an_error_that_are_both_full_leave_the_exit_code() -> None:
    assert shell("recalld list >/dev/full 2>/dev/full") == (1, "", "")


@pytest.mark.parametrize("command", ["list", "list --json", "recall x"])
def test_a_closed_output_is_no_fault_of_the_program(command: str) -> None:
    assert shell(f"recalld {command} >&-") == (1, "", CLOSED)


@pytest.mark.parametrize("command", ["list", "list --json", "recall x --explain", "events --json --count 1"])
def test_a_reader_that_has_left_is_met_with_silence_and_the_code_of_sigpipe(command: str) -> None:
    # The reader closes its end before it lets the command begin, which waits for the other end of a named pipe.
    line = f"mkfifo $D/gone; (recalld {command} 3<$D/gone; echo $? >&2) > >(exec 0<&-; echo >$D/gone)"
    code, out, err = shell(f"D=$(mktemp -d); {line}; rm -r $D")
    assert (code, out, err) == (0, "", "141\n")


def test_a_closed_input_is_one_line_that_says_what_to_do() -> None:
    code, out, err = shell("recalld recall - <&-")
    assert (code, out) == (64, "")
    assert err.startswith("recalld: standard input cannot be read (Bad file descriptor); pipe the text in")


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_an_error_that_nobody_can_be_told_still_has_its_exit_code(where: str) -> None:
    assert shell(f"recalld list --nonsense {where}") == (64, "", "")


def test_without_any_stream_a_command_still_does_its_work(daemon: StandIn) -> None:
    code, _, _ = shell("recalld recall hello <&- >&- 2>&-")
    assert code == 1  # what it had to say could not be said
    assert [request.text for request in daemon.seen if isinstance(request, requests.Recall)] == ["hello"]
