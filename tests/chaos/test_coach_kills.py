"""Sessions of the Coach whose processes are killed at many instants of every phase; the seed is
printed for a replay.
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from app.settings import shipped_models
from tests.support.coach.killed_classroom import Kills
from tests.support.coach.lesson import PHASES, killed_lesson, quiet_lesson
from tests.support.engines.engine_server import running_engine
from tests.support.stack import Services

KILLS = 5
"""Fewest kills in each phase."""
WAITS = frozenset({"measuring", "prompting", "training", "gating"})

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_session_that_is_killed_at_many_instants_ends_as_a_quiet_one(
    services: Services, tmp_path: Path, record_property: Callable[[str, object], None], seed: int
) -> None:
    kills = Kills(random.Random(seed), turns=8, samples=16, workers=WAITS)
    with running_engine(list(shipped_models())) as engine_url:
        quiet = await quiet_lesson(services, tmp_path / "quiet", engine_url)
        killed = await killed_lesson(services, tmp_path / "killed", engine_url, kills)
    record_property("kills", dict(kills.counted))
    assert killed == quiet, (seed, kills.counted)
    assert all(kills.counted[phase] >= KILLS for phase in PHASES), (seed, kills.counted)
    assert {f"worker of {phase}" for phase in WAITS} <= kills.counted.keys()
