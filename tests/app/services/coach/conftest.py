"""A classroom on a fresh database, with the engine of the shipped model."""

from collections.abc import AsyncIterator, Iterator

import pytest

from app.settings import shipped_models
from tests.support import stack
from tests.support.coach.classroom import Classroom, classroom_of
from tests.support.engines.engine_server import running_engine


@pytest.fixture(scope="session")
def engine_url() -> Iterator[str]:
    with running_engine(list(shipped_models())) as url:
        yield url


@pytest.fixture
async def classroom(database: stack.Database, engine_url: str) -> AsyncIterator[Classroom]:
    async with classroom_of(database, engine_url, Classroom) as room:
        yield room
