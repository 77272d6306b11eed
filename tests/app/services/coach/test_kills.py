"""The process that advances a session, and the workers of what it waits for, are killed in every
phase: the session ends as an undisturbed one does.
"""

import random
from pathlib import Path

import pytest

from tests.support.coach.killed_classroom import Kills
from tests.support.coach.lesson import PHASES, killed_lesson, quiet_lesson
from tests.support.stack import Services

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1800)]


async def test_a_session_whose_processes_are_killed_in_every_phase_ends_as_a_quiet_one(
    services: Services, tmp_path: Path, engine_url: str
) -> None:
    quiet = await quiet_lesson(services, tmp_path / "quiet", engine_url)
    assert (quiet.session["outcome"], quiet.session["promoted"]) == ("target", 1)
    assert len(set(quiet.logbook)) == len(quiet.logbook)
    kills = Kills(random.Random(1), turns=120, samples=100, workers=frozenset({"training"}))
    assert await killed_lesson(services, tmp_path / "killed", engine_url, kills) == quiet
    assert {*PHASES, "worker of training"} <= kills.counted.keys()
