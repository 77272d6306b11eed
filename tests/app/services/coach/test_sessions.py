"""Sessions of the Coach on the shipped model: what they find, train, keep and refuse."""

from typing import Any

import pytest

from tests.support.coach.classroom import STRONG, WEAK, Classroom, rows

TRAINING = rows(*WEAK, STRONG, count=12, start=100)
HELD_OUT = rows(*WEAK, STRONG, count=12)
KNOBS = {"practice_mode": "quick", "effort": "light", "drift_guard": 0}


def _texts(logbook: list[Any], kind: str) -> list[str]:
    return [entry["text"] for entry in logbook if entry["kind"] == kind]


@pytest.mark.long
async def test_two_planted_weaknesses_are_found_named_and_closed(classroom: Classroom) -> None:
    await classroom.student()
    path = await classroom.session(TRAINING, HELD_OUT, target=0.85, knobs=KNOBS)
    ended = await classroom.finish(path)
    logbook = await classroom.logbook(path)
    story = "\n".join(entry["text"] for entry in logbook)
    assert (ended["status"], ended["outcome"]) == ("completed", "target"), story
    first = _texts(logbook, "measured")[0]
    assert all(f"tag '{tag}'" in first for tag in WEAK), first
    assert f"tag '{STRONG}'" not in first
    assert set(logbook[2]["data"]["gains"]) == {f"tag:{tag}" for tag in WEAK}
    assert (ended["promoted"], ended["round"], ended["waiting_for"]) == (1, 1, None)
    assert ended["mean"] >= 0.85 > ended["first_mean"]
    student = await classroom.get("/v1/students/clerk")
    assert student["current_skill"] is not None
    assert [entry["number"] for entry in logbook] == list(range(1, len(logbook) + 1))
    jobs = [await classroom.get(f"/v1/fine_tuning/jobs/{job}") for job in classroom.played]
    roles = [(job["metadata"]["coach_role"], job["status"]) for job in jobs]
    assert roles == [("measure", "cancelled"), ("round 1", "succeeded")]
    assert ended["spent"]["jobs"] == len(jobs)
    used = sum(job["usage_metrics"]["rollouts"] for job in jobs)
    assert ended["spent"]["rollouts"] == used > 0


async def test_with_nothing_to_gain_nothing_is_trained(classroom: Classroom) -> None:
    await classroom.student()
    path = await classroom.session(
        rows(STRONG, count=12, start=100), rows(STRONG, count=12), samples=2
    )
    ended = await classroom.finish(path)
    assert (ended["status"], ended["outcome"]) == ("completed", "nothing_to_gain")
    assert "There is nothing to gain, so I train nothing" in ended["reason"]
    assert (ended["round"], len(classroom.played), ended["weaknesses"]) == (0, 1, [])
    assert (await classroom.get("/v1/students/clerk"))["current_skill"] is None
