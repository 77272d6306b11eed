"""Takes the due steps of sessions as a process of the API does, and is killed:
`python -m tests.support.coach.killed_step TURN`.
"""

import sys

from app.settings import load_settings
from app.teaching.coach.driver import CoachRunner
from app.wiring import Factory, ProcessContext
from tests.support.processes.counted_turns import run_turns

_LEASE_S = 0.02
"""Time of a claim, after which another process takes the step of one that was killed."""


async def _take() -> None:
    context = ProcessContext(load_settings())
    runner = CoachRunner(
        context.database,
        lambda tenant: Factory(context, tenant).coach_driver(),
        poll_s=0,
        lease_s=_LEASE_S,
    )
    await runner.take_due_steps()
    await context.aclose()


if __name__ == "__main__":
    run_turns(_take(), int(sys.argv[1]))
