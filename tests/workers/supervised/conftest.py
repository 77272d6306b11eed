"""Supervised and preference jobs in the test process: real files, Postgres, CPU engine and trainer
on a tiny model.
"""

import pytest

from app.models.models import BaseModelSpec
from tests.support.runs.real_run import TinyEngine
from tests.support.runs.world import World
from tests.support.supervised.runs import SupervisedRuns


@pytest.fixture(scope="session")
def spec(engine: TinyEngine) -> BaseModelSpec:
    return engine.spec


@pytest.fixture
def runs(world: World, engine: TinyEngine) -> SupervisedRuns:
    return SupervisedRuns(world, engine)
