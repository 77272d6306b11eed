"""Takes the due steps of sessions as a process of the API does, and is killed:
`python -m tests.support.coach.killed_step TURN`.
"""

import sys

from app.factory.process import ProcessContext
from app.factory.project import coach_runner
from app.settings.settings import load_settings
from tests.support.processes.counted_turns import run_turns


async def _take() -> None:
    context = ProcessContext.of(load_settings())
    await coach_runner(context).take_due_steps()
    await context.aclose()


if __name__ == "__main__":
    run_turns(_take(), int(sys.argv[1]))
