"""A claimed job on a fresh database, without engine or torch."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support import stack
from tests.support.runs.world import World, opened_world


@pytest.fixture
async def world(database: stack.Database, tmp_path: Path) -> AsyncIterator[World]:
    async with opened_world(database, tmp_path) as world:
        yield world
