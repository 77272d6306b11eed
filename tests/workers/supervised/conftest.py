"""Supervised and preference jobs in the test process: real files, Postgres, CPU engine and trainer
on a tiny model.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app.domain.models.models import BaseModelSpec
from tests.support import stack
from tests.support.runs.real_run import TinyEngine, tiny_engine
from tests.support.runs.world import World, opened_world
from tests.support.supervised.runs import SupervisedRuns


@pytest.fixture
async def world(database: stack.Database, tmp_path: Path) -> AsyncIterator[World]:
    async with opened_world(database, tmp_path) as world:
        yield world


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyEngine]:
    with tiny_engine(tmp_path_factory.mktemp("tiny")) as running:
        yield running


@pytest.fixture(scope="session")
def spec(engine: TinyEngine) -> BaseModelSpec:
    return engine.spec


@pytest.fixture
def runs(world: World, engine: TinyEngine) -> SupervisedRuns:
    return SupervisedRuns(world, engine)
