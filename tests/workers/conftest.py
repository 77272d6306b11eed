"""Fixtures of the GPU plane: a database with a claimed job, and whole runs on a tiny model."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support import stack
from tests.support.runs.real_run import RealRuns, TinyEngine, tiny_engine
from tests.support.runs.world import World, opened_world


@pytest.fixture
async def world(database: stack.Database, tmp_path: Path) -> AsyncIterator[World]:
    """Opens the stores of a fresh database, without engine or torch."""
    async with opened_world(database, tmp_path) as world:
        yield world


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyEngine]:
    with tiny_engine(tmp_path_factory.mktemp("tiny")) as running:
        yield running


@pytest.fixture
def runs(world: World, engine: TinyEngine) -> RealRuns:
    return RealRuns(world, engine)
