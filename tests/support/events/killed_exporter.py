"""Runs a consumer that records committed steps in a file and is killed before its cursor advances:
`python -m tests.support.events.killed_exporter URL FILE KILL_AFTER LEASE_S`.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from app.database import Database
from app.events.store import CommittedEvent
from workers.processes.event_follower import ExternalConsumer, Follower

NAME = "step-recorder"


def recorder(file: Path, *, kill_after: int | None = None) -> ExternalConsumer:
    """Returns a consumer that appends a line for each step; `kill_after` so many it crashes."""

    async def record(events: Sequence[CommittedEvent]) -> None:
        with file.open("a") as lines:
            for number, event in enumerate(events, start=1):
                step = event.data["data"]["step"]
                lines.write(json.dumps([event.id, event.subject, step]) + "\n")
                lines.flush()
                if number == kill_after:
                    os.kill(os.getpid(), signal.SIGKILL)

    return ExternalConsumer(NAME, record, types=frozenset({"job.metrics"}))


async def _main(url: str, file: str, kill_after: str, lease_s: str) -> None:
    consumer = recorder(Path(file), kill_after=int(kill_after))
    database = Database(url, pool_size=1)
    await Follower(database, (consumer,), lease_s=float(lease_s)).catch_up()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
