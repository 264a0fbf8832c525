"""Exporting into files and importing from them, from the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
import pytest
from stand_in_daemon import Run, StandIn

from recalld.daemon.cli.commands.import_file import BATCH_BYTES, batches
from recalld.daemon.cli.copied_ids import copied_id
from recalld.daemon.cli.export_file import LINE_BYTES_MAX, BadLine, GoodLine, Header, line_of, read_lines
from recalld.daemon.cli.whole_file import whole_file
from recalld.protocol import portable_items as p
from recalld.protocol import replies, requests

MEMORY = p.PortableMemory(memory_id="mem_1", text="Prefers tea ☕", created_at_ms=5, updated_at_ms=5)
FACT = p.PortableFact(text="Likes rum")
OBSERVATION = p.PortableObservation(observation_id="obs_1", fact=FACT, first_at_ms=1, last_at_ms=2)
PROPOSAL = p.PortableProposal(
    proposal_id="obs_2", fact=FACT, reason="needs_confirmation", created_at_ms=1, expires_at_ms=2
)
NOW_MS = 1_796_000_000_000


def plan_export(daemon: StandIn) -> None:
    daemon.plan(
        requests.Export,
        replies.Exported(records=(MEMORY,), cursor="o."),
        replies.Exported(cursor="p."),
        replies.Exported(records=(OBSERVATION, PROPOSAL)),
    )


def imported(*outcomes: str) -> replies.Imported:
    lines = tuple(p.ImportedItem(record_id=f"mem_{place}", outcome=each) for place, each in enumerate(outcomes))
    return replies.Imported(lines=lines)


def lines_in(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def read(content: bytes) -> list[Header | GoodLine | BadLine]:
    return list(read_lines(io.BytesIO(content), "ines", now_ms=NOW_MS))


# --- export ----------------------------------------------------------------------------------------------------------


def test_an_export_goes_through_every_page_and_its_header_counts_them(daemon: StandIn, run: Run) -> None:
    plan_export(daemon)
    ended = run("export")
    assert ended.code == 0
    header, *records = lines_in(ended.out)
    assert (header["type"], header["version"], header["user"]) == ("recalld_export", 1, "ines")
    assert (header["memories"], header["observations"], header["proposals"]) == (1, 1, 1)
    assert [each["type"] for each in records] == ["memory_record", "observation_record", "proposal_record"]
    assert [request.cursor for request in daemon.seen if isinstance(request, requests.Export)] == [None, "o.", "p."]


def test_an_export_into_a_file_is_private_and_says_how_much_it_holds(daemon: StandIn, run: Run, tmp_path: Path) -> None:
    plan_export(daemon)
    out = tmp_path / "ines.jsonl"
    ended = run("export", "--out", str(out), "--json")
    assert json.loads(ended.out) == {"file": str(out), "memories": 1, "observations": 1, "proposals": 1}
    assert out.stat().st_mode & 0o777 == 0o600
    assert [type(each) for each in read(out.read_bytes())] == [Header, GoodLine, GoodLine, GoodLine]


def test_an_export_that_breaks_off_leaves_the_older_file_as_it_was(daemon: StandIn, run: Run, tmp_path: Path) -> None:
    daemon.plan(
        requests.Export,
        replies.Exported(records=(MEMORY,), cursor="o."),
        replies.Error(code="storage_unavailable", message="the database cannot be read", retryable=True),
    )
    out = tmp_path / "ines.jsonl"
    out.write_text("older")
    assert run("export", "--out", str(out)).code == 75
    assert out.read_text() == "older"
    assert sorted(each.name for each in tmp_path.iterdir() if "jsonl" in each.name) == ["ines.jsonl"]


@pytest.mark.parametrize(("name", "remedy"), [("none/x.jsonl", "make the directory"), (".", "name a file")])
def test_a_place_that_cannot_be_written_is_named_as_it_was_given(
    daemon: StandIn, run: Run, tmp_path: Path, name: str, remedy: str
) -> None:
    daemon.plan(requests.Export, replies.Exported())
    out = tmp_path / name
    ended = run("export", "--out", str(out))
    assert ended.code == 1
    assert ended.err.startswith(f"recalld: {out}: ")
    assert ".part" not in ended.err
    assert remedy in ended.err


def test_a_file_that_cannot_be_finished_leaves_no_trace(tmp_path: Path) -> None:
    out = tmp_path / "x"
    out.write_text("older")

    def fail() -> None:
        with whole_file(out) as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (out.read_text(), list(tmp_path.glob(".x*"))) == ("older", [])


# --- reading a file --------------------------------------------------------------------------------------------------


def test_what_was_written_is_read_back_as_it_was() -> None:
    content = b"".join(line_of(each) for each in (Header(memories=1), MEMORY, OBSERVATION, PROPOSAL))
    header, *lines = read(content)
    assert header == Header(memories=1)
    assert [each.record for each in lines if isinstance(each, GoodLine)] == [MEMORY, OBSERVATION, PROPOSAL]


def test_a_line_with_nothing_but_a_text_is_a_memory() -> None:
    assert read(b'\n{"text": "Prefers tea", "source_app": "other"}') == [
        GoodLine(line=2, record=p.PortableMemory(text="Prefers tea"))
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "is no JSON object of a record"),
        (b"[]", "is no JSON object of a record"),
        (b'{"text": "\xff"}', "is no JSON object of a record"),
        (b'{"txt": "x"}', "text: is missing; give it"),
        (b'{"text": ""}', "text: is empty"),
        (b'{"text": "  "}', "text: is blank"),
        (b'{"text": "a\\u0000b"}', "text: contains a NUL"),
        (b'{"text": "x", "kind": "rumour"}', "kind: 'rumour' is not one of its values"),
        (b'{"text": "x", "cues": ["a"], "cue_origins": ["given", "rule"]}', "cue_origins: has 2 entries for 1 texts"),
        (b'{"text": "x", "status": "superseded"}', "status: is not active"),
        (b'{"text": "x", "expires_at_ms": 5}', "expires_at: is not in the future"),
        (b'{"text": "x", "type": "dream"}', "type: "),
        (
            b'{"text": "x", "evidence": [{"at_ms": 1, "generator": "rule", "reason": "magic"}]}',
            "evidence[0].reason: is 'magic'",
        ),
        (b'{"type": "recalld_export", "version": 1}', "is a second header"),
        (line_of(msgspec.structs.replace(OBSERVATION, fact=p.PortableFact(text=" "))), "fact.text: is blank"),
        (b'{"text": "' + b"x" * LINE_BYTES_MAX + b'"}', "is longer than"),
    ],
)  # fmt: skip
def test_a_bad_line_is_told_with_its_number_the_field_and_the_remedy(line: bytes, problem: str) -> None:
    bad, good = read(b"\n" + line + b'\n{"text": "sound"}')
    assert isinstance(bad, BadLine)
    assert (bad.line, problem in bad.problem) == (2, True), bad.problem
    assert isinstance(good, GoodLine)


def test_a_header_of_a_newer_format_is_refused() -> None:
    (bad,) = read(b'{"type": "recalld_export", "version": 2}')
    assert isinstance(bad, BadLine)
    assert "bring it up to date" in bad.problem


def test_a_request_never_holds_more_than_it_may() -> None:
    small = [GoodLine(line=place, record=MEMORY) for place in range(250)]
    assert [len(batch) for batch in batches(iter(small))] == [100, 100, 50]
    large = p.PortableMemory(text="x", slots=(p.PortableSlot(slot="s", value="v" * (BATCH_BYTES // 3)),))
    assert [len(batch) for batch in batches(iter([GoodLine(line=1, record=large)] * 5))] == [2, 2, 1]


# --- import ----------------------------------------------------------------------------------------------------------


def test_what_became_of_each_record_is_counted_and_refusals_are_named_by_line(
    daemon: StandIn, run: Run, tmp_path: Path
) -> None:
    daemon.plan(requests.Import, imported("imported", "updated", "known", "tombstoned", "over_capacity"))
    file = tmp_path / "f.jsonl"
    file.write_text("".join(f'{{"text": "fact {number}"}}\n' for number in range(5)))
    ended = run("import", str(file), "--user", "omar")
    assert ended.code == 1
    assert "Created 1, updated 1, unchanged 1, refused 2." in ended.out
    assert "1 refused: forgotten here on purpose; `recalld remember` brings it back\n    line 4 (mem_3)" in ended.out
    (request,) = daemon.seen
    assert isinstance(request, requests.Import)
    assert (request.user, request.dry_run, len(request.records)) == ("omar", False, 5)


OF_ANA = b"".join(
    line_of(each) for each in (Header(user="ana", memories=2), *(p.PortableMemory(memory_id=i, text=i) for i in "ab"))
)


def test_of_another_users_export_nothing_is_imported_where_ids_are_in_use(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Import, imported("conflict", "imported"))
    ended = run("import", "-", "--user", "omar", stdin=OF_ANA)
    assert ended.code == 1
    assert "nothing was imported" in ended.err
    assert "--new-ids" in ended.err
    assert [request.dry_run for request in daemon.seen if isinstance(request, requests.Import)] == [True]


def test_copies_of_another_users_records_get_ids_of_their_own(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Import, imported("imported", "imported"))
    assert run("import", "-", "--user", "omar", "--new-ids", stdin=OF_ANA).code == 0
    (request,) = daemon.seen
    assert isinstance(request, requests.Import)
    ids = [each.memory_id for each in request.records if isinstance(each, p.PortableMemory)]
    assert ids == [copied_id("mem", each, "omar") for each in "ab"]


def test_nothing_is_sent_of_a_file_with_a_bad_line(daemon: StandIn, run: Run) -> None:
    ended = run("import", "-", stdin=b'{"text": "x"}\n{"txt": 1}\nnonsense\n')
    assert ended.code == 64
    assert "line 2: text: is missing; give it" in ended.err
    assert "line 3: is no JSON object" in ended.err
    assert "--skip-bad" in ended.err
    assert daemon.seen == []


def test_bad_lines_are_left_out_when_that_is_asked_for(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Import, imported("imported"))
    ended = run("import", "-", "--skip-bad", "--json", stdin=b'{"txt": 1}\n{"text": "x"}\n')
    assert ended.code == 0
    document = json.loads(ended.out)
    assert (document["created"], document["skipped_lines"], document["refused"]) == (1, 1, {})


def test_a_file_that_ends_early_is_not_imported(daemon: StandIn, run: Run) -> None:
    content = line_of(Header(memories=2)) + line_of(MEMORY)
    ended = run("import", "-", stdin=content)
    assert ended.code == 64
    assert "the header announces 2 records, and 1 follow" in ended.err
    assert daemon.seen == []


def test_a_dry_run_is_told_as_one(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.Import, imported("imported"))
    ended = run("import", "-", "--dry-run", stdin=line_of(MEMORY))
    assert "Would create 1, update 0" in ended.out
    (request,) = daemon.seen
    assert isinstance(request, requests.Import)
    assert request.dry_run


def test_a_file_that_is_not_there_is_said_so(run: Run, tmp_path: Path) -> None:
    ended = run("import", str(tmp_path / "none.jsonl"))
    assert ended.code == 1
    assert "none.jsonl" in ended.err


# --- purge -----------------------------------------------------------------------------------------------------------


def test_a_purge_counts_what_went(daemon: StandIn, run: Run) -> None:
    daemon.plan(requests.PurgeUser, replies.Purged(memories=1, observations=2, proposals=0, is_erasure_pending=True))
    ended = run("purge-user", "omar", "--yes")
    assert ended.code == 0
    assert "Purged: 1 memory, 2 observations and 0 proposals. Nothing is left of omar." in ended.out
    assert "write-ahead log" in ended.out
    assert [request.user for request in daemon.seen if isinstance(request, requests.PurgeUser)] == ["omar"]


def test_a_purge_without_a_terminal_needs_a_yes(daemon: StandIn, run: Run) -> None:
    ended = run("purge-user", "omar")
    assert ended.code == 64
    assert "--yes" in ended.err
    assert daemon.seen == []


@pytest.mark.parametrize(("typed", "code"), [("omar", 0), ("Omar", 1)])
def test_on_a_terminal_the_name_is_typed_again(
    daemon: StandIn, run: Run, monkeypatch: pytest.MonkeyPatch, typed: str, code: int
) -> None:
    monkeypatch.setattr("recalld.daemon.cli.common.Common.is_interactive", True)
    monkeypatch.setattr("click.prompt", lambda *_args, **_options: typed)
    daemon.plan(requests.ListMemories, replies.Memories(total=3))
    daemon.plan(requests.PurgeUser, replies.Purged(memories=3))
    ended = run("purge-user", "omar")
    assert ended.code == code
    assert "3 memories and everything else of omar will be gone" in ended.out
    assert any(isinstance(request, requests.PurgeUser) for request in daemon.seen) is (code == 0)
