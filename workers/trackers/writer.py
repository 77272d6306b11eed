"""The process that writes one job with a tracker's library: `python -m workers.trackers.writer`.

It reads an opening, then records, as lines of JSON from its standard input, and answers each with a
line. It has no database. At the end of its input it ends at once: the next process continues.
"""

import json
import os
import sys
from pathlib import Path
from typing import IO, Any, assert_never

from workers.trackers.opening import Opening
from workers.trackers.records import Record, Run, TrackerFault


def open_run(opening: Opening) -> Run:
    """Imports the library and opens the run."""
    match opening.kind:
        case "wandb":
            from workers.trackers.libraries.wandb_run import WandbRun  # noqa: PLC0415 - an optional library

            return WandbRun(opening)
        case "mlflow":
            from workers.trackers.libraries.mlflow_run import MlflowRun  # noqa: PLC0415 - an optional library

            return MlflowRun(opening)
        case "trackio":
            from workers.trackers.libraries.trackio_run import TrackioRun  # noqa: PLC0415 - an optional library

            return TrackioRun(opening)
        case "tensorboard":
            raise ValueError("event files are written without a process of their own")
        case _:
            assert_never(opening.kind)


def _made(opening: Opening) -> Opening:
    """Makes the directory of the job."""
    Path(opening.directory).mkdir(mode=0o700, parents=True, exist_ok=True)
    return opening


def serve(lines: IO[bytes], replies: IO[str]) -> None:
    """Answers each line until the run is closed, fails, or the input ends."""

    def reply(**fields: Any) -> None:
        replies.write(json.dumps(fields) + "\n")
        replies.flush()

    try:
        opening = lines.readline()
        if not opening:
            return
        run = open_run(_made(Opening.from_json(json.loads(opening))))
        reply()
        for line in lines:
            sent = json.loads(line)
            if "close" in sent:
                run.close()
                reply()
                return
            written = run.write(Record.from_json(sent))
            reply(url=written.url, notes=list(written.notes))
    except TrackerFault as fault:
        reply(fault=str(fault))
    except Exception as error:  # noqa: BLE001 - a process boundary: the text may hold a credential
        known = error.strerror if isinstance(error, OSError) else None
        reply(fault=known or type(error).__name__)


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print
    serve(sys.stdin.buffer, replies)
    # Without the handlers of libraries for the end of a process, which may wait for a network.
    os._exit(0)


if __name__ == "__main__":
    main()
