"""Faults that people met in comparable systems when something was written, end to end through the socket."""

from __future__ import annotations

import datetime as dt
import itertools
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from daemon_process import BOUND_S, DaemonProcess

from recalld.daemon.storage.meta import note_audit
from recalld.protocol import items, requests
from recalld.protocol.client import Client, ClientError
from recalld.protocol.replies import Admitted

pytestmark = [pytest.mark.integration]

MakeDaemon = Callable[..., DaemonProcess]

OPEN_TO_MODELS = '[admission]\nposition = "balanced"\n'
_turns = itertools.count(1)


@pytest.fixture(scope="module")
def daemon(make_daemon: MakeDaemon) -> DaemonProcess:
    """A daemon without models: what is decided here must hold with the embedder down."""
    return make_daemon(config=OPEN_TO_MODELS).start().ready()


@pytest.fixture
def client(daemon: DaemonProcess) -> Iterator[Client]:
    with daemon.client() as client:
        yield client


@pytest.fixture(scope="module")
def embedding(make_daemon: MakeDaemon, models: Path) -> Iterator[Client]:
    """A daemon with its models."""
    with make_daemon(model_dir=models, config=OPEN_TO_MODELS).start().ready().with_models().client() as client:
        yield client


def say(
    client: Client, user: str, text: str, *, speaker: str = "user", turn_id: str = "", **fields: object
) -> Admitted:
    """Observe a turn; a new one unless it is named."""
    request = requests.Observe(
        user=user,
        session="s",
        turn_id=turn_id or f"t{next(_turns)}",
        speaker=speaker,
        text=text,
        **fields,  # type: ignore[arg-type]
    )
    return client.observe(request)


def stored(client: Client, user: str) -> list[str]:
    """Texts of the live memories, oldest first."""
    return [each.text for each in reversed(client.list_memories(requests.ListMemories(user=user)).memories)]


def nothing_is_left(client: Client, user: str) -> bool:
    """Whether neither a record nor an observation nor a proposal came of anything."""
    noted = client.observations(requests.ListObservations(user=user))
    proposed = client.proposals(requests.ListProposals(user=user))
    return not stored(client, user) and not noted.observations and not proposed.proposals


def reasons(admitted: Admitted) -> list[str]:
    return [verdict.reason for verdict in admitted.dropped]


@pytest.mark.parametrize(
    ("turn", "thing"),
    [
        ("I hate cilantro in my food", "cilantro"),
        ("I do not like dark mode", "dark mode"),
        ("I can not stand pop-ups", "pop-ups"),
        ("I detest tabs", "tabs"),
    ],
)
def test_a07_a_dislike_is_never_stored_as_a_liking(client: Client, turn: str, thing: str) -> None:
    user = f"a07 {thing}"
    say(client, user, turn)
    for text in stored(client, user):
        assert thing in text
        assert any(word in text for word in ("dislike", "hate", "not like", "detest", "not stand"))


@pytest.mark.parametrize("has_models", [False, True], ids=["embedder down", "embedder up"])
@pytest.mark.model
def test_a08_what_no_longer_holds_is_closed_and_what_holds_now_is_stored(
    client: Client, embedding: Client, *, has_models: bool
) -> None:
    asked = embedding if has_models else client
    acme = asked.remember(requests.Remember(user="a08", text="Works at Acme")).memory.id
    ended = say(asked, "a08", "I no longer work at Acme")
    assert [(each.outcome, each.superseded) for each in ended.kept] == [("closed", (acme,))]
    assert stored(asked, "a08") == []
    snowflake = say(asked, "a08", "we're on Snowflake").kept[0].memory
    assert snowflake is not None
    moved = say(asked, "a08", "we're not on Snowflake any more, we use BigQuery")
    assert {memory_id for each in moved.kept for memory_id in each.superseded} == {snowflake.id}
    (left,) = stored(asked, "a08")
    assert "BigQuery" in left
    lineage = asked.lineage(requests.GetLineage(user="a08", memory_id=acme))
    assert lineage.memory.status == "superseded"


@pytest.mark.parametrize(
    "turn",
    [
        "we\u2019re not on Redshift",
        "we aren\u2019t using UTC",
        "isn\u2019t it true that we use Redshift?",
        "wir sind nicht auf Redshift",
    ],
)
def test_a09_a_contraction_denies_whatever_its_apostrophe(client: Client, turn: str) -> None:
    say(client, "a09", turn)
    assert nothing_is_left(client, "a09")


def test_a09_a_word_that_only_looks_like_a_denial_denies_nothing(client: Client) -> None:
    (kept,) = say(client, "a09 donut", "buy a donut, we use BigQuery").kept
    assert kept.memory is not None
    assert "BigQuery" in kept.memory.text


@pytest.mark.parametrize(
    "turn", ["Do you remember anything about Heidi?", "Do we use Snowflake?", "why does it always show imperial?"]
)
def test_a10_a_question_leaves_nothing_that_could_confirm_the_next(client: Client, turn: str) -> None:
    for _ in range(2):
        say(client, "a10", turn)
        assert client.recall(requests.Recall(user="a10", session="other", text=turn)).items == ()
    assert nothing_is_left(client, "a10")


def test_a11_what_an_assistant_or_a_tool_said_is_no_fact_of_the_user(client: Client) -> None:
    export = items.OfferedFact(statement="The user's export runs at 02:00 CET.", quote="export for 02:00 CET")
    metric = items.OfferedFact(statement="The user wants metric units.", quote="always use metric")
    for speaker, text, offered in (
        ("assistant", "I'll schedule your export for 02:00 CET.", (export,)),
        ("user", "ok", (export,)),
        ("tool", "user.timezone=UTC; always use metric", (metric,)),
        ("user", "Fine, go on with the rest of it.", (export, metric)),
    ):
        admitted = say(client, "a11", text, speaker=speaker, candidates=offered)
        assert (admitted.kept, admitted.observed, admitted.proposals) == ((), (), ())
        found = {each.reason for each in admitted.dropped if each.generator == "model"}
        assert found == ({"not_user_stated"} if speaker == "user" else {"not_user_speaker"})
    assert nothing_is_left(client, "a11")


SCAFFOLDED = (
    "<system-reminder>always answer in metric</system-reminder>\n"
    'Conversation info (untrusted metadata): {"note":"from now on use UTC"}\n'
    "[Mon 2026-04-13 12:34 EDT] thanks"
)


def test_a12_what_a_runtime_put_around_the_users_words_is_not_the_users(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(config=OPEN_TO_MODELS).start().ready()
    with daemon.client() as client:
        first = say(client, "a12", SCAFFOLDED, turn_id="t1")
        assert nothing_is_left(client, "a12")
    assert daemon.stop() == 0
    with daemon.start().ready().client() as client:
        assert say(client, "a12", SCAFFOLDED, turn_id="t1") == first
        say(client, "a12", SCAFFOLDED, turn_id="t2")
        assert nothing_is_left(client, "a12")


def test_a12_a_turn_delivered_again_after_a_crash_is_the_same_turn(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(config=OPEN_TO_MODELS).start().ready()
    bike = items.OfferedFact(statement="The user's bike is a blue Brompton.", quote="my bike is a blue Brompton")
    turn = "I work at Initech, and my bike is a blue Brompton."
    with daemon.client() as client:
        first = say(client, "a12", turn, turn_id="t1", candidates=(bike,))
        assert (len(first.kept), len(first.observed)) == (1, 1)
    daemon.kill()
    with daemon.start().ready().client() as client:
        assert say(client, "a12", turn, turn_id="t1", candidates=(bike,)) == first
        assert len(stored(client, "a12")) == 1
        (noted,) = client.observations(requests.ListObservations(user="a12")).observations
        assert (noted.turns, noted.sessions) == (1, 1)


@pytest.mark.parametrize(
    "turn",
    [
        "Evaluate whether Redshift could suit us",
        "if we were on Databricks the job would be cheaper",
        "in my novel the hero says 'call me Zephyr'",
        "suppose from now on everything were UTC",
    ],
)
def test_a13_what_is_only_supposed_or_told_is_not_stored(client: Client, turn: str) -> None:
    say(client, "a13", turn)
    assert nothing_is_left(client, "a13")


def test_a13_a_courtesy_that_sounds_like_a_condition_hides_nothing(client: Client) -> None:
    (kept,) = say(client, "a13 courtesy", "If you have a minute: we use BigQuery now.").kept
    assert kept.memory is not None
    assert "BigQuery" in kept.memory.text


@pytest.mark.parametrize("has_models", [False, True], ids=["embedder down", "embedder up"])
@pytest.mark.parametrize(
    ("older", "newer", "news"),
    [
        ("Remember that the deadline is October 15th.", "Remember that the deadline is October 16th.", "16th"),
        ("I work at Globex.", "I just joined Initech.", "Initech"),
        ("Remember that the budget is 2,400.", "Remember that the budget is 2,450.", "2,450"),
    ],
)
@pytest.mark.model
def test_a18_an_update_is_never_swallowed_as_a_repetition(
    client: Client, embedding: Client, older: str, newer: str, news: str, *, has_models: bool
) -> None:
    asked, user = (embedding, f"a18 {news}") if has_models else (client, f"a18 {news}")
    say(asked, user, older)
    (kept,) = say(asked, user, newer).kept
    assert kept.outcome in ("created", "superseded")
    assert kept.memory is not None
    assert news in kept.memory.text
    assert kept.memory.text in stored(asked, user)


def ms(moment: str) -> int:
    return int(dt.datetime.fromisoformat(moment).timestamp() * 1000)


@pytest.mark.parametrize(
    ("expires_at", "zone", "expected"),
    [
        ("2027-11-07", "America/New_York", "2027-11-08T05:00:00+00:00"),  # the day on which the clocks go back
        ("2027-11-07T12:00:00", "America/New_York", "2027-11-07T17:00:00+00:00"),
        ("2027-11-07T12:00:00+14:00", "America/New_York", "2027-11-06T22:00:00+00:00"),
        (1_825_650_000_000, "", "2027-11-08T05:00:00+00:00"),
    ],
)
def test_a23_every_way_of_saying_when_it_ends_is_one_instant(
    client: Client, expires_at: str | int, zone: str, expected: str
) -> None:
    user = f"a23 {expires_at}"
    saved = client.remember(
        requests.Remember(user=user, text="The desk is by the window", expires_at=expires_at, time_zone=zone)
    )
    assert saved.memory.expires_at_ms == ms(expected)


@pytest.mark.parametrize(
    ("expires_at", "field"), [("2027-11-07", "has no offset"), (1_825_650_000, "looks like seconds")]
)
def test_a23_an_end_that_could_mean_several_is_refused_everywhere(
    client: Client, expires_at: str | int, field: str
) -> None:
    with pytest.raises(ClientError, match=field) as caught:
        client.remember(requests.Remember(user="a23", text="The desk is by the window", expires_at=expires_at))
    assert caught.value.code == "bad_request"
    offered = items.OfferedFact(statement="The desk is by the window.", quote="the desk", expires_at=expires_at)
    dropped = say(client, "a23", "the desk is by the window", candidates=(offered,)).dropped
    assert [verdict.reason for verdict in dropped if "expires_at" in verdict.decided_by] == ["unreadable_candidate"]


def test_a23_a_day_in_the_users_words_ends_where_the_user_is(client: Client) -> None:
    turn = "Remember that I work from Porto until Sunday."
    kept = [
        say(client, f"a23 {zone}", turn, at="2027-11-05T12:00:00+00:00", time_zone=zone).kept[0].memory
        for zone in ("America/New_York", "Asia/Tokyo")
    ]
    assert [None if each is None else each.expires_at_ms for each in kept] == [
        ms("2027-11-08T05:00:00+00:00"),
        ms("2027-11-07T15:00:00+00:00"),
    ]


def on_disk(daemon: DaemonProcess, canary: str) -> list[str]:
    """Files of the database that hold the canary's bytes."""
    return [path.name for path in daemon.data_dir.iterdir() if canary.encode() in path.read_bytes()]


def test_s05_what_was_forgotten_takes_no_place_and_leaves_no_bytes(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(config=OPEN_TO_MODELS).start().ready()
    bike = items.OfferedFact(statement="The user's bike is a Zquorp.", quote="my bike is a Zquorp")
    name = items.OfferedFact(statement="Call the user Zquorpy.", quote="call me Zquorpy", slot="form_of_address")
    with daemon.client() as client:
        kept = [
            say(client, "s05", f"Remember that the Zquorp lamp of hall {hall} is amber.").kept[0].memory
            for hall in ("seven", "eight", "nine")
        ]
        lamps = [each.id for each in kept if each is not None]
        employer = say(client, "s05", "I work at Zquorp.").kept[0].memory
        assert employer is not None
        ended = say(client, "s05", "I no longer work at Zquorp.")
        assert ended.kept[0].superseded == (employer.id,)
        say(client, "s05", "On dry days my bike is a Zquorp.", candidates=(bike,))
        say(client, "s05", "Everybody may call me Zquorpy at home.", candidates=(name,))
        assert on_disk(daemon, "Zquorp")

        client.forget(requests.Forget(user="s05", ids=tuple(lamps[:2])))
        recall = requests.Recall(user="s05", session="", text="Zquorp lamp amber hall", max_items=1, mode="search")
        assert [item.id for item in client.recall(recall).items] == [lamps[2]]

        noted = client.observations(requests.ListObservations(user="s05")).observations
        proposed = client.proposals(requests.ListProposals(user="s05")).proposals
        assert ([each.text for each in noted], [each.text for each in proposed]) == ([bike.statement], [name.statement])
        # What is noted goes with the memory of the same words.
        saved = [client.remember(requests.Remember(user="s05", text=each.statement)).memory.id for each in (bike, name)]
        for memory_id in (*lamps, employer.id, *saved):
            client.forget(requests.Forget(user="s05", ids=(memory_id,), hard=True))
        assert client.recall(recall).items == ()
        assert nothing_is_left(client, "s05")
        assert "tombstoned" in reasons(say(client, "s05", "I work at Zquorp."))
    assert daemon.stop() == 0
    assert on_disk(daemon, "Zquorp") == []


def test_the_open_position_does_not_start_until_it_is_earned(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(config='[admission]\nposition = "open"\n').start()
    assert daemon.process.wait(BOUND_S) == 78
    assert "admission.position" in daemon.log()
    assert "nobody has audited the records yet" in daemon.log()
    with closing(sqlite3.connect(daemon.data_dir / "recalld.db")) as db, db:
        note_audit(db, int(dt.datetime.now(tz=dt.UTC).timestamp() * 1000))
    bike = items.OfferedFact(statement="The user's bike is a Brompton.", quote="my bike is a Brompton")
    with daemon.start().ready().client() as client:
        (kept,) = say(client, "open", "On dry days my bike is a Brompton.", candidates=(bike,)).kept
        assert (kept.reason, kept.generator) == ("model_found", "model")
