"""The round trip proves that recall works, notices when it does not, and leaves nothing behind either way."""

from collections.abc import Callable
from typing import Self

import msgspec
import pytest

from recalld.daemon.doctor.context import DoctorContext, Live
from recalld.daemon.doctor.result import Finding, Status
from recalld.daemon.doctor.round_trip import check_round_trip
from recalld.protocol import items, replies, requests
from recalld.protocol.client.errors import ClientError

MakeContext = Callable[..., DoctorContext]

NOT_FOUND = ClientError("not_found", "no such decision")
REFUSED = ClientError("storage_unavailable", "the test said no")


class MemoryDaemon:
    """What the round trip needs of a client, over a dict; each fault can be switched on."""

    def __init__(
        self,
        *,
        finds: bool = True,
        mode: str = "gated",
        forgets: bool = True,
        keeps_row: bool = False,
        late_rows: int = 0,
    ) -> None:
        self.finds, self.mode, self.forgets, self.keeps_row, self.late_rows = finds, mode, forgets, keeps_row, late_rows
        self.memories: dict[str, items.MemoryItem] = {}
        self.decisions: set[str] = set()
        self.users: set[str] = set()
        self.refuses: str = ""
        self.forget_requests: list[requests.Forget] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def remember(self, request: requests.Remember) -> replies.Remembered:
        self._maybe_refuse("remember")
        self.users.add(request.user)
        memory = items.MemoryItem(
            id="mem_1",
            user=request.user,
            text=request.text,
            kind="fact",
            scope="",
            source="explicit",
            status="active",
            created_at_ms=0,
            updated_at_ms=0,
            revision=1,
        )
        self.memories[memory.id] = memory
        self.decisions.add("dec_1")
        return replies.Remembered(memory=memory, outcome="created", decision_id="dec_1", is_embedded=True)

    def recall(self, request: requests.Recall, *, timeout_s: float) -> replies.Recalled:
        self._maybe_refuse("recall")
        self.decisions.add("rec_1")
        found = tuple(
            items.RecalledItem(id=memory.id, text=memory.text, kind="fact", scope="")
            for memory in self.memories.values()
            if self.finds
        )
        return replies.Recalled(
            recall_id="rec_1",
            decision="inject" if found else "silent",
            mode=self.mode,
            reason="relevant" if found else "gated",
            degraded_reason=None if self.mode == "gated" else "scorer_unavailable",
            items=found,
        )

    def explain(self, request: requests.Explain) -> replies.Explanation:
        if self.late_rows > 0 or request.decision_id not in self.decisions:
            self.late_rows -= 1
            raise NOT_FOUND
        return replies.Explanation(
            decision_id=request.decision_id, user=request.user, session="", op="recall", at_ms=0, decision="", reason=""
        )

    def list_memories(self, request: requests.ListMemories) -> replies.Memories:
        self._maybe_refuse("list")
        return replies.Memories(memories=tuple(self.memories.values()), total=len(self.memories))

    def forget(self, request: requests.Forget) -> replies.Forgotten:
        self.forget_requests.append(request)
        if self.forgets:
            for memory_id in request.ids:
                self.memories.pop(memory_id, None)
            if not self.keeps_row:
                self.decisions.clear()
        return replies.Forgotten(count=len(request.ids))

    def _maybe_refuse(self, what: str) -> None:
        if self.refuses == what:
            raise REFUSED


@pytest.fixture
def examine(make_context: MakeContext, healthy: replies.HealthReport) -> Callable[..., Finding]:
    def run(daemon: MemoryDaemon, *, prefix: str = "", **changed: object) -> Finding:
        welcome = replies.Welcome(
            protocol=1,
            server=items.ServerInfo(name="recalld", version="0"),
            limits=items.ServerLimits(**dict.fromkeys(items.ServerLimits.__struct_fields__, 1)),
            session_defaults=items.SessionDefaults(budget_ms=300, user_prefix=prefix),
        )
        return check_round_trip(make_context(Live(welcome=welcome, health=healthy), connect=lambda: daemon, **changed))

    return run


def test_a_working_daemon_passes_and_keeps_nothing(examine: Callable[..., Finding]) -> None:
    daemon = MemoryDaemon()
    finding = examine(daemon)
    assert finding.status is Status.PASS
    assert "gated" in finding.seen
    assert (daemon.memories, daemon.decisions) == ({}, set())
    (request,) = daemon.forget_requests
    assert request.hard
    assert request.purge


@pytest.mark.parametrize("prefix", ["", "uid:1000/"])
def test_the_reserved_user_lies_where_this_account_may_act(examine: Callable[..., Finding], prefix: str) -> None:
    daemon = MemoryDaemon()
    examine(daemon, prefix=prefix)
    assert daemon.users == {f"{prefix}__doctor__:4711"}


def test_a_recall_that_does_not_bring_the_memory_back_fails(examine: Callable[..., Finding]) -> None:
    daemon = MemoryDaemon(finds=False)
    finding = examine(daemon)
    assert finding.status is Status.FAIL
    assert "silent, gated" in finding.seen
    assert daemon.memories == {}


def test_a_recall_without_the_gate_is_a_warning_unless_the_gate_is_off(
    examine: Callable[..., Finding], make_context: MakeContext
) -> None:
    assert examine(MemoryDaemon(mode="floor_only")).status is Status.WARN
    settings = make_context().settings
    off = msgspec.structs.replace(settings, recall=msgspec.structs.replace(settings.recall, gate="off"))
    assert examine(MemoryDaemon(mode="floor_only"), settings=off).status is Status.PASS


@pytest.mark.parametrize("refuses", ["remember", "recall"])
def test_a_refusal_fails_and_is_cleaned_up(examine: Callable[..., Finding], refuses: str) -> None:
    daemon = MemoryDaemon()
    daemon.refuses = refuses
    finding = examine(daemon)
    assert finding.status is Status.FAIL
    assert "the test said no" in finding.seen
    assert daemon.memories == {}


def test_a_memory_that_stays_fails_and_names_the_user(examine: Callable[..., Finding]) -> None:
    finding = examine(MemoryDaemon(forgets=False))
    assert finding.status is Status.FAIL
    assert "1 memories are still listed" in finding.seen
    assert "__doctor__:4711" in finding.remedy


def test_a_ledger_row_that_stays_fails(examine: Callable[..., Finding]) -> None:
    finding = examine(MemoryDaemon(keeps_row=True))
    assert finding.status is Status.FAIL
    assert "dec_1, rec_1 are still in the ledger" in finding.seen


def test_the_purge_waits_for_the_row_of_the_recall(examine: Callable[..., Finding]) -> None:
    pauses: list[float] = []
    finding = examine(MemoryDaemon(late_rows=3), pause=pauses.append)
    assert finding.status is Status.PASS
    assert len(pauses) == 3


def test_a_cleanup_that_fails_is_a_failure(examine: Callable[..., Finding]) -> None:
    daemon = MemoryDaemon()
    daemon.refuses = "list"
    finding = examine(daemon)
    assert finding.status is Status.FAIL
    assert "left something behind" in finding.seen


def test_without_a_daemon_nothing_is_checked(make_context: MakeContext) -> None:
    finding = check_round_trip(make_context())
    assert not finding.is_checked
    assert finding.status is Status.INFO
