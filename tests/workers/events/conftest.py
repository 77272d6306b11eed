"""A claimed job on a fresh database, whose steps a reporter commits."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support import stack
from tests.support.runs.world import World, opened_world


@pytest.fixture
async def world(database: stack.Database, tmp_path: Path) -> AsyncIterator[World]:
    async with opened_world(database, tmp_path) as opened:
        yield opened
