"""Ids of a copy: others than the original's, the same each time, and still pointing at one another."""

from __future__ import annotations

from recalld.daemon.cli.copied_ids import copied, copied_id
from recalld.models.policy.ids import encode_id
from recalld.protocol import portable_items as p

OLD = encode_id("mem", 1_790_000_000_000, 7)
NEWER = encode_id("mem", 1_790_000_000_001, 8)


def test_a_copy_has_an_id_of_its_own_the_same_each_time_and_another_for_each_user() -> None:
    ids = {copied_id("mem", OLD, user) for user in ("ana", "bob", "ana")}
    assert len(ids) == 2
    assert OLD not in ids
    assert {each[:14] for each in ids} == {OLD[:14]}  # it sorts as the old one does
    assert {len(each) for each in ids} == {len(OLD)}
    assert copied_id("mem", "", "ana") == ""


def test_an_id_of_another_program_becomes_one_of_this_kind() -> None:
    made = copied_id("mem", "note 17", "ana")
    assert made.startswith("mem_0000000000")
    assert len(made) == len(OLD)


def test_what_points_at_one_another_still_does() -> None:
    newer = copied(p.PortableMemory(memory_id=NEWER, text="b"), "ana")
    older = copied(p.PortableMemory(memory_id=OLD, text="a", superseded_by=NEWER), "ana")
    fact = p.PortableFact(text="b")
    observation = p.PortableObservation(
        observation_id="obs_1", fact=fact, first_at_ms=1, last_at_ms=1, promoted_to=NEWER
    )
    proposal = p.PortableProposal(
        proposal_id="obs_2", fact=fact, reason="position", created_at_ms=1, expires_at_ms=2, memory_id=NEWER
    )
    assert isinstance(newer, p.PortableMemory)
    assert isinstance(older, p.PortableMemory)
    noted, asked = copied(observation, "ana"), copied(proposal, "ana")
    assert isinstance(noted, p.PortableObservation)
    assert isinstance(asked, p.PortableProposal)
    assert {older.superseded_by, noted.promoted_to, asked.memory_id} == {newer.memory_id}
    assert (noted.observation_id, asked.proposal_id) != ("obs_1", "obs_2")
