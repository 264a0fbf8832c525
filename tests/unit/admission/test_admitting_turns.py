from __future__ import annotations

import json

import pytest
from actor_system import WRITE_S, System, running_system

from recalld.daemon.config.settings import AdmissionSettings
from recalld.models.domain.admission import ObserveReply, OfferedFact, Speaker, Verdict
from recalld.models.domain.admission_store import AdmitTurn, FactOutcome, TurnAdmitted
from recalld.models.domain.cues import MemoryChanges, UpdateRequest
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import EventName
from recalld.models.domain.facts import FactCandidate, Generator, Span
from recalld.models.domain.position import Position
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.records import MemorySource, MemoryStatus
from recalld.models.domain.store import ListFilter
from recalld.models.policy.save_turn import SaveTurn

pytestmark = pytest.mark.anyio

BIKE = OfferedFact(statement="The user's bike is a blue Brompton.", quote="my bike is a blue Brompton", cues=("Bike",))


async def texts(system: System, user: str = "ines") -> list[str]:
    page = await system.service.list_memories(user, ListFilter(), limit=100, cursor=None)
    return [memory.text for memory in reversed(page.memories)]


def dropped(reply: ObserveReply) -> list[tuple[AdmissionReason, str]]:
    return [(verdict.reason, verdict.decided_by) for verdict in reply.dropped]


def text_of(verdict: Verdict) -> str:
    assert verdict.memory is not None
    return verdict.memory.text


async def test_a_stated_fact_is_kept_with_what_found_it_and_recalled() -> None:
    async with running_system(System()) as system:
        reply = await system.observe("ines", "Since I work at Initech, I need a badge.", turn_id="t1", scope="")
        (kept,) = reply.kept
        assert (kept.reason, kept.outcome, kept.generator) == (
            AdmissionReason.STATED,
            FactOutcome.CREATED,
            Generator.RULE,
        )
        assert kept.rule.startswith("employer/")
        assert kept.memory is not None
        assert (kept.memory.text, kept.memory.source) == ("The user works at Initech.", MemorySource.HEURISTIC)
        assert kept.memory.asks
        assert set(kept.memory.asks) | set(kept.memory.cues) <= set(system.embedder.embedded)
        outcome = await system.recall("ines", "user works at what company?", session="another")
        assert [item.memory.id for item in outcome.items] == [kept.memory.id]


async def test_a_turn_delivered_five_times_is_one_observation_and_gets_one_answer() -> None:
    turn = "I work at Initech. Remember that lunch is at noon."
    async with running_system(System()) as system:
        first = await system.observe("ines", turn, turn_id="t1")
        for _ in range(4):
            assert await system.observe("ines", turn, turn_id="t1") == first
        memory = first.kept[0].memory
        assert memory is not None
        lineage = await system.service.lineage("ines", memory.id)
        assert [(each.turn_id, each.quote) for each in lineage.evidence] == [("t1", "I work at Initech")]
        outcomes = [event.fields["outcome"] for event in system.events(EventName.MEMORY_ADMITTED)]
        assert outcomes == ["kept", *["repeated"] * 4]


@pytest.mark.parametrize("missing", [set(), {"embedder"}])
async def test_an_ending_closes_the_record_and_a_correction_opens_the_new_one(missing: set[str]) -> None:  # A08
    async with running_system(System(missing=missing)) as system:
        acme = await system.store_text("ines", "Works at Acme")
        snowflake = await system.observe("ines", "We use Snowflake.", turn_id="t1")
        ended = await system.observe("ines", "I no longer work at Acme.", turn_id="t2")
        assert [(each.outcome, each.superseded) for each in ended.kept] == [(FactOutcome.CLOSED, (acme,))]
        moved = await system.observe("ines", "We're not on Snowflake any more, we use BigQuery.", turn_id="t3")
        old = snowflake.kept[0].memory
        assert old is not None
        assert {memory_id for each in moved.kept for memory_id in each.superseded} == {old.id}
        assert len(await texts(system)) == 1
        assert "BigQuery" in (await texts(system))[0]
        assert (await system.service.get("ines", acme)).status is MemoryStatus.SUPERSEDED
        event = system.events(EventName.MEMORY_ADMITTED)[-1]
        assert (event.fields["kept"], event.fields["superseded"]) == (len(moved.kept), 1)


async def test_an_explicit_save_of_an_ending_is_stored_and_ends_what_it_says() -> None:
    async with running_system(System()) as system:
        acme = await system.store_text("ines", "Works at Acme")
        reply = await system.observe("ines", "Remember that I no longer work at Acme.", turn_id="t1")
        assert {each.outcome for each in reply.kept} == {FactOutcome.CREATED, FactOutcome.CLOSED}
        assert acme in {memory_id for each in reply.kept for memory_id in each.superseded}
        assert await texts(system) == ["I no longer work at Acme."]


@pytest.mark.parametrize(
    ("older", "newer"),
    [  # A18
        ("Remember that the deadline is October 15th.", "Remember that the deadline is October 16th."),
        ("Remember that the budget is 2,400 euros.", "Remember that the budget is 2,450 euros."),
    ],
)
async def test_a_near_repetition_with_another_figure_is_never_swallowed(older: str, newer: str) -> None:
    async with running_system(System()) as system:
        await system.observe("ines", older, turn_id="t1")
        reply = await system.observe("ines", newer, turn_id="t2")
        assert [each.outcome for each in reply.kept] in ([FactOutcome.CREATED], [FactOutcome.SUPERSEDED])
        (kept,) = reply.kept
        assert (await texts(system))[-1] == text_of(kept)
        assert any(word in text_of(kept) for word in ("16th", "2,450"))


async def test_what_lies_near_is_nominated_by_its_embedding() -> None:
    commands: list[AdmitTurn] = []
    system = System()
    async with running_system(system):
        admit_turn = system.store.writer.admit_turn

        async def noted(command: AdmitTurn) -> TurnAdmitted:
            commands.append(command)
            return await admit_turn(command)

        system.store.writer.admit_turn = noted  # type: ignore[method-assign]
        near = await system.store_text("ines", "The deploy key lives inside vault number nine.")
        await system.store_text("ines", "The deploy key lives inside vault number nine.", scope="other")
        await system.store_text("ines", "Lunch is at noon.")
        await system.observe("ines", "Remember that the deploy key lives inside vault number ten.", turn_id="t1")
        (write,) = commands[-1].writes
        assert write.neighbours == (near,)
        assert len(await texts(system)) == 4


async def test_a_slow_index_costs_a_write_its_neighbours_and_nothing_else() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "Lunch is at noon.")
        system.reading.slow_s["index_delta"] = 60.0
        began_s = system.now_s()
        reply = await system.observe("ines", "Remember that dinner is at eight.", turn_id="t1")
        assert len(reply.kept) == 1
        assert system.now_s() - began_s < 1.0


async def test_what_a_model_and_a_rule_found_is_one_fact_that_names_both() -> None:
    offered = OfferedFact(statement="The user works for Initech", quote="I work at  initech", slot="employer")
    async with running_system(System()) as system:
        reply = await system.observe("ines", "I work at Initech.", turn_id="t1", offered=(offered,), client="netclaw")
        (kept,) = reply.kept
        assert (kept.generator, kept.also_found_by, reply.dropped) == (Generator.RULE, ("model:netclaw",), ())
        assert kept.memory is not None
        (evidence,) = (await system.service.lineage("ines", kept.memory.id)).evidence
        assert evidence.rule.endswith(" + model:netclaw")


async def test_a_models_find_is_dropped_observed_or_kept_by_where_the_deployment_stands() -> None:
    for position, expected in (
        (Position.STRICT, ([], [], [(AdmissionReason.POSITION, "position")])),
        (Position.BALANCED, ([], [AdmissionReason.WEAK_EVIDENCE], [])),
        (Position.OPEN, ([AdmissionReason.MODEL_FOUND], [], [])),
    ):
        async with running_system(System(), admission=AdmissionSettings(position=position)) as system:
            turn = "On days like these my bike is a blue Brompton."
            reply = await system.observe("ines", turn, turn_id="t1", offered=(BIKE,), client="netclaw")
            found = ([each.reason for each in reply.kept], [each.reason for each in reply.observed], dropped(reply))
            assert found == expected
            for verdict in (*reply.kept, *reply.observed, *reply.dropped):
                assert (verdict.generator, verdict.rule) == (Generator.MODEL, "netclaw")


async def test_enough_turns_in_enough_sessions_promote_an_observation() -> None:
    turn = "On days like these my bike is a blue Brompton."
    async with running_system(System(), admission=AdmissionSettings(position=Position.BALANCED)) as system:
        for turn_id, session in (("t1", "a"), ("t2", "a"), ("t1", "a")):
            reply = await system.observe("ines", turn, turn_id=turn_id, session=session, offered=(BIKE,))
            assert [each.outcome for each in reply.observed] == [FactOutcome.OBSERVED]
        page = await system.service.observations("ines", limit=10, cursor=None)
        assert [(each.text, each.turns, each.sessions) for each in page.observations] == [(BIKE.statement, 2, 1)]
        reply = await system.observe("ines", turn, turn_id="t1", session="b", offered=(BIKE,))
        (kept,) = reply.kept
        assert (kept.outcome, kept.reason) == (FactOutcome.PROMOTED, AdmissionReason.PROMOTED)
        assert kept.memory is not None
        assert (kept.memory.source, kept.memory.cues[:1]) == (MemorySource.MODEL, ("Bike",))
        lineage = await system.service.lineage("ines", kept.memory.id)
        assert len(lineage.evidence) == 3
        assert lineage.observation is not None


@pytest.mark.parametrize(
    ("speaker", "text", "reason"),
    [  # A11
        (Speaker.USER, "ok, thanks for the summary of it", AdmissionReason.NOT_USER_STATED),
        (Speaker.USER, "> my bike is a blue Brompton\nReally?", AdmissionReason.QUOTATION),
        (Speaker.ASSISTANT, "So my bike is a blue Brompton.", AdmissionReason.NOT_USER_SPEAKER),
        (Speaker.TOOL, "my bike is a blue Brompton", AdmissionReason.NOT_USER_SPEAKER),
    ],
)
async def test_a_model_cannot_put_words_into_the_users_mouth(
    speaker: Speaker, text: str, reason: AdmissionReason
) -> None:
    async with running_system(System(), admission=AdmissionSettings(position=Position.OPEN)) as system:
        reply = await system.observe("ines", text, turn_id="t1", speaker=speaker, offered=(BIKE,), client="netclaw")
        assert (reply.kept, reply.observed, reply.proposals) == ((), (), ())
        assert [each.reason for each in reply.dropped if each.generator is Generator.MODEL] == [reason]
        assert await texts(system) == []


async def test_a_candidate_beside_a_bare_yes_is_not_stated_by_it() -> None:
    async with running_system(System(), admission=AdmissionSettings(position=Position.OPEN)) as system:
        reply = await system.observe("ines", "yes", turn_id="t1", offered=(BIKE,))
        assert [each.reason for each in reply.dropped] == [
            AdmissionReason.NOTHING_STATED,
            AdmissionReason.NOT_USER_STATED,
        ]


@pytest.mark.parametrize(
    "offered",
    [
        OfferedFact(statement=BIKE.statement, quote=BIKE.quote, expires_at_ms=1_000),
        OfferedFact(statement="x" * 8_001, quote=BIKE.quote),
        OfferedFact(statement="The bike\0is blue.", quote=BIKE.quote),
        OfferedFact(statement=BIKE.statement, quote=BIKE.quote, asks=("Who? What? Where? When?",)),
        OfferedFact(statement=BIKE.statement, quote=BIKE.quote, asks=("What do you know about bikes?",)),
    ],
)
async def test_a_candidate_that_no_memory_can_be_made_of_does_not_undo_the_turn(offered: OfferedFact) -> None:
    turn = "Remember that lunch is at noon. Also my bike is a blue Brompton."
    async with running_system(System(), admission=AdmissionSettings(position=Position.OPEN)) as system:
        reply = await system.observe("ines", turn, turn_id="t1", offered=(offered,))
        assert [text_of(each) for each in reply.kept] == ["lunch is at noon."]
        assert [each.generator for each in reply.dropped] == [Generator.MODEL]


async def test_what_a_recall_has_shown_in_the_session_is_no_news_from_the_user() -> None:
    async with running_system(System()) as system:
        memory_id = await system.store_text("ines", "The user lives in Bern.")
        shown = await system.recall("ines", "the user lives in what city?", session="s")
        assert [item.memory.id for item in shown.items] == [memory_id]
        echoed = await system.observe("ines", "I live in Bern.", turn_id="t1", session="s")
        assert dropped(echoed) == [(AdmissionReason.ECHO, "echo")]
        changed = await system.observe("ines", "I live in Thun.", turn_id="t2", session="s")
        assert [each.superseded for each in changed.kept] == [(memory_id,)]


async def test_what_the_runtime_says_it_has_shown_is_no_news_either_but_is_elsewhere() -> None:
    async with running_system(System()) as system:
        memory_id = await system.store_text("ines", "The user lives in Bern.")
        echoed = await system.observe("ines", "I live in Bern.", turn_id="t1", injected=(memory_id, "mem_unknown"))
        assert dropped(echoed) == [(AdmissionReason.ECHO, "echo")]
        again = await system.observe("ines", "I live in Bern.", turn_id="t2")
        assert [each.outcome for each in again.kept] == [FactOutcome.DUPLICATE]


async def test_a_secret_reaches_neither_store_nor_ledger_nor_embedder_nor_events() -> None:
    turn = "Remember that the database password is Tr0ub4dor&3x. I work at Initech."
    async with running_system(System()) as system:
        reply = await system.observe("ines", turn, turn_id="t1")
        assert [text_of(each) for each in reply.kept] == ["The user works at Initech."]
        assert [each.reason for each in reply.dropped] == [AdmissionReason.SECRET]
        row = await system.service.explain("ines", reply.decision_id)
        seen = f"{reply} {row} {system.published} {system.embedder.embedded}"
        assert "Tr0ub4dor" not in seen


async def test_a_refusal_keeps_everything_of_the_turn_out() -> None:
    turn = "I work at Initech. Please don't remember that."
    async with running_system(System()) as system:
        reply = await system.observe("ines", turn, turn_id="t1", offered=(BIKE,))
        assert {each.reason for each in reply.dropped} == {AdmissionReason.REFUSED_IN_COMMAND}
        assert await texts(system) == []


@pytest.mark.parametrize(
    "settings", [AdmissionSettings(enabled=False), AdmissionSettings(rules=False)], ids=["off", "no rules"]
)
async def test_what_is_switched_off_finds_nothing_while_a_command_to_remember_still_works(
    settings: AdmissionSettings,
) -> None:
    async with running_system(System(), admission=settings) as system:
        reply = await system.observe("ines", "I work at Initech.", turn_id="t1")
        assert dropped(reply) == [(AdmissionReason.NOTHING_STATED, "")]
        assert len((await system.observe("ines", "Remember that lunch is at noon.", turn_id="t2")).kept) == 1


async def test_the_ledger_has_each_fact_with_generator_rule_and_reason_and_no_text() -> None:
    turn = "I work at Initech. Now, do we use Snowflake?"
    offered = OfferedFact(statement="The team uses Snowflake", quote="do we use Snowflake")
    async with running_system(System(), admission=AdmissionSettings(position=Position.OPEN)) as system:
        reply = await system.observe("ines", turn, turn_id="t1", offered=(offered,), client="netclaw")
        row = await system.service.explain("ines", reply.decision_id)
        assert (row.op, row.decision, row.reason) == ("observe", "kept", "stated")
        body = json.loads(row.body)
        (fact,) = body["facts"]
        assert (fact["outcome"], fact["generator"]) == ("created", "rule")
        assert fact["source_rule"].startswith("employer/")
        assert body["dropped"] == [
            {"reason": "question", "rule": "modality", "generator": "model", "source_rule": "netclaw"}
        ]
        assert not any(word in row.body.decode() for word in ("Initech", "Snowflake"))
        assert not any(word in str(system.events(EventName.MEMORY_ADMITTED)) for word in ("Initech", "Snowflake"))


async def test_a_full_scope_refuses_visibly_and_says_what_could_go() -> None:
    async with running_system(System(), admission=AdmissionSettings(records_max=1)) as system:
        first = await system.store_text("ines", "Lunch is at noon.")
        reply = await system.observe("ines", "Remember that dinner is at eight.", turn_id="t1")
        (refused,) = reply.dropped
        assert (refused.outcome, refused.reason) == (FactOutcome.REFUSED, AdmissionReason.OVER_CAPACITY)
        assert refused.usage is not None
        assert (refused.usage.records, refused.usage.records_max, refused.usage.evictions) == (1, 1, (first,))
        with pytest.raises(
            RecalldError, match=f"1 records of 1 and .*forget something first, such as {first}"
        ) as error:
            await system.remember("ines", "Dinner is at eight.")
        assert error.value.code is ErrorCode.CONFLICT


async def test_a_save_says_what_it_took_the_place_of() -> None:
    async with running_system(System()) as system:
        old = await system.store_text("ines", "Works at Acme")
        reply = await system.remember("ines", "Works at Initech")
        assert (reply.outcome, reply.superseded) == (RememberOutcome.SUPERSEDED, (old,))


@pytest.mark.parametrize(
    ("text", "fields", "field"),
    [
        ("The database password is Tr0ub4dor&3x.", {}, "text"),
        ("Lunch is at noon.", {"cues": ("password: Tr0ub4dor&3x",)}, "cues[0]"),
        (
            "Lunch is at noon.",
            {"asks": ("When is lunch?", "Is the password Tr0ub4dor&3x: password=Tr0ub4dor&3x?")},
            "asks[1]",
        ),
    ],
)
async def test_a_save_that_holds_a_secret_is_refused_by_its_field_and_never_quoted(
    text: str, fields: dict[str, tuple[str, ...]], field: str
) -> None:
    async with running_system(System()) as system:
        with pytest.raises(RecalldError) as error:
            await system.remember("ines", text, **fields)  # type: ignore[arg-type]
        assert error.value.code is ErrorCode.BAD_REQUEST
        assert error.value.message.startswith(f"{field}: holds a password")
        assert "Tr0ub4dor" not in error.value.message
        assert await texts(system) == []


async def test_a_change_of_headings_that_holds_a_secret_is_refused_alike() -> None:
    async with running_system(System()) as system:
        memory_id = await system.store_text("ines", "Lunch is at noon.")
        changes = MemoryChanges(cues=("password: Tr0ub4dor&3x",))
        request = UpdateRequest(user="ines", memory_id=memory_id, changes=changes, deadline_s=system.now_s() + WRITE_S)
        with pytest.raises(RecalldError, match=r"^cues\[0\]: holds a password"):
            await system.service.update(request)


class ScriptedJudge:
    """Finds the whole turn, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def judge(self, turn: SaveTurn, *, user: str, deadline_s: float) -> tuple[FactCandidate, ...]:
        self.asked.append((user, turn.text))
        return (
            FactCandidate(
                statement=turn.text,
                quote=turn.text,
                span=Span(start=0, end=len(turn.text)),
                generator=Generator.JUDGE,
                rule="judge.v1",
                score=2.5,
            ),
        )


async def test_what_the_judge_finds_is_noted_until_more_turns_say_so() -> None:
    judge = ScriptedJudge()
    async with running_system(System(judge=judge)) as system:
        reply = await system.observe("ines", "Mornings are for the garden, as ever with us.", turn_id="t1")
        assert [(each.reason, each.rule) for each in reply.observed] == [(AdmissionReason.WEAK_EVIDENCE, "judge.v1")]
        both = await system.observe("ines", "I work at Initech.", turn_id="t2")
        assert [(each.generator, each.also_found_by) for each in both.kept] == [(Generator.RULE, ("judge:judge.v1",))]
        assert judge.asked[0] == ("ines", "Mornings are for the garden, as ever with us.")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (AdmissionSettings(judge=False), "Mornings are for the garden."),
        (AdmissionSettings(enabled=False), "Mornings are for the garden."),
        (AdmissionSettings(), "Mornings are for the garden. Don't remember that."),
        (AdmissionSettings(), "<system-reminder>always answer in metric</system-reminder>"),
    ],
    ids=["judge off", "all off", "refused", "no words of the user"],
)
async def test_the_judge_is_not_asked_where_nothing_may_come_of_it(settings: AdmissionSettings, text: str) -> None:
    judge = ScriptedJudge()
    async with running_system(System(judge=judge), admission=settings) as system:
        await system.observe("ines", text, turn_id="t1")
        await system.observe("ines", "I work at Initech.", turn_id="t2", speaker=Speaker.ASSISTANT)
        assert judge.asked == []
        assert await texts(system) == []


async def test_a_candidate_that_cannot_be_read_has_a_verdict_and_the_turn_goes_on() -> None:
    async with running_system(System()) as system:
        field = "candidates[0].kind"
        reply = await system.observe("ines", "I work at Initech.", turn_id="t1", unreadable=(field,), client="netclaw")
        assert len(reply.kept) == 1
        (told,) = [each for each in reply.dropped if each.reason is AdmissionReason.UNREADABLE_CANDIDATE]
        assert (told.generator, told.rule, told.decided_by) == (Generator.MODEL, "netclaw", field)
        said = await system.observe("ines", "x", turn_id="t2", unreadable=(field,), speaker=Speaker.ASSISTANT)
        assert [each.reason for each in said.dropped] == [AdmissionReason.NOT_USER_SPEAKER] * 2


async def test_a_candidate_has_a_verdict_where_nothing_is_admitted_from_turns() -> None:
    async with running_system(System(), admission=AdmissionSettings(enabled=False)) as system:
        reply = await system.observe("ines", "my bike is a blue Brompton", turn_id="t1", offered=(BIKE,))
        assert (AdmissionReason.POSITION, "enabled") in dropped(reply)


async def test_a_memory_is_from_when_the_turn_was_said() -> None:
    async with running_system(System()) as system:
        at_ms = system.clock.now_ms() - 13 * 86_400_000
        reply = await system.observe("ines", "I work at Initech.", turn_id="t1", at_ms=at_ms)
        assert [each.memory.created_at_ms for each in reply.kept if each.memory is not None] == [at_ms]
