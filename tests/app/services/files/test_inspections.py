import asyncio
import gc
import time

import pytest

from app.domain.errors import InvalidRequest
from app.services.files.inspections import Inspections


async def test_a_project_waits_for_its_own_work_and_delays_no_other() -> None:
    inspections = Inspections()
    assert await inspections.run("warm", abs, -1) == 1  # a process takes a moment to start
    mine = [asyncio.create_task(inspections.run("mine", time.sleep, 3600)) for _ in range(8)]
    await asyncio.sleep(0.1)
    found = await asyncio.gather(*(inspections.run("theirs", abs, -n) for n in range(3)))
    assert found == [0, 1, 2]
    assert not any(task.done() for task in mine)
    assert all(task.cancel() for task in mine)
    assert all(
        isinstance(result, asyncio.CancelledError)
        for result in await asyncio.gather(*mine, return_exceptions=True)
    )
    # KeyPlaces were given back, and nothing is kept of projects that read nothing now.
    assert await inspections.run("mine", abs, -2) == 2
    mine.clear()
    gc.collect()
    assert list(inspections._projects) == []


async def test_a_file_that_is_gone_is_the_callers() -> None:
    with pytest.raises(InvalidRequest, match="gone"):
        await Inspections().run("mine", open, "/nowhere/at/all")
