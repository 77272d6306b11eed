"""Children of a fork server use the GPU, because the server itself never does."""

import pytest

from tests.support.processes.child_processes import child

pytestmark = pytest.mark.gpu

SUM_ON_GPU = (
    "import sys, torch; total = torch.ones(1000, device='cuda').sum(); sys.exit(total != 1000)"
)


async def test_two_forked_children_compute_on_the_gpu() -> None:
    for _ in range(2):
        with child("-c", SUM_ON_GPU, settings=None) as computing:
            assert await computing.exit_code() == 0
