import asyncio
import gc
import time
from pathlib import Path

import pytest

from app.files.row_files import Inspections
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest
from app.kit.ids import OrganizationId, ProjectId
from tests.support.objects.in_memory import in_memory_objects


def tenant(project: str, organization: str) -> Tenant:
    return Tenant(OrganizationId(organization), ProjectId(project), organization, "key")


MINE, THEIRS = tenant("mine", "one"), tenant("theirs", "other")


@pytest.fixture
def inspections(tmp_path: Path) -> Inspections:
    return Inspections(in_memory_objects(), tmp_path)


async def test_an_organization_leaves_a_process_to_another(inspections: Inspections) -> None:
    assert await inspections.run(MINE, abs, -1) == 1  # a process takes a moment to start
    of_several = [tenant(f"mine{n % 4}", "one") for n in range(8)]
    mine = [asyncio.create_task(inspections.run(each, time.sleep, 3600)) for each in of_several]
    await asyncio.sleep(0.1)
    found = await asyncio.gather(*(inspections.run(THEIRS, abs, -n) for n in range(3)))
    assert found == [0, 1, 2]
    assert not any(task.done() for task in mine)
    assert all(task.cancel() for task in mine)
    assert all(
        isinstance(result, asyncio.CancelledError)
        for result in await asyncio.gather(*mine, return_exceptions=True)
    )
    # The slots are free, and nothing is kept of projects that read nothing now.
    assert await inspections.run(MINE, abs, -2) == 2
    mine.clear()
    gc.collect()
    assert len(inspections.slots) == 0


async def test_a_file_that_is_gone_is_the_callers(inspections: Inspections) -> None:
    with pytest.raises(InvalidRequest, match="gone"):
        await inspections.run(MINE, open, "/nowhere/at/all")
    with pytest.raises(InvalidRequest, match="gone") as caught:
        async with inspections.copies([None, "files/nowhere"]):
            pass
    assert caught.value.param == "training_file"
    own = InvalidRequest("the tasks' file is gone", param="environment.problem_file")
    with pytest.raises(InvalidRequest) as caught:
        async with inspections.copy("files/nowhere", gone=own):
            pass
    assert caught.value is own
