"""The process that writes one job with a tracker's library: `python -m workers.trackers.libraries`.
It reads an assignment, then updates, as lines of JSON from its standard input, and answers each
with a line. It has no database. At the end of its input it ends at once, also while a library
waits, with all that the library has started: the next process continues.
"""

import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Final

from app.kit.egress import EgressPolicy
from app.kit.processes import keep_priority
from workers.sandbox import kernel as landlock
from workers.trackers.libraries.guarded_sockets import guard_sockets
from workers.trackers.tracker import Assignment, LibraryRun, TrackerFault, TrackerUpdate

_STDIN: Final = 0


def open_run(assignment: Assignment) -> LibraryRun:
    library = import_module(f"workers.trackers.libraries.{assignment.kind}_run")
    run: LibraryRun = library.Run(assignment)
    return run


def confine(assignment: Assignment) -> None:
    """Makes the directory of the job, and confines this process to it: no other file changes where
    the kernel has Landlock, and only the server of W&B, which the operator names, is dialled
    without the egress guard.
    """
    directory = Path(assignment.directory)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.rmtree(assignment.scratch, ignore_errors=True)
    assignment.scratch.mkdir(mode=0o700)
    os.chdir(directory)  # libraries read files of settings in the working directory
    sys.dont_write_bytecode = True
    with suppress(OSError):  # no Landlock
        landlock.restrict_writes([str(directory), os.devnull])
    if assignment.kind == "wandb":
        return
    policy = EgressPolicy(frozenset(assignment.allow_endpoints), assignment.allow_plain_http)
    guard_sockets(None if assignment.is_local else policy)


def serve(lines: Iterator[bytes], replies: IO[str]) -> None:
    def reply(**fields: Any) -> None:
        replies.write(json.dumps(fields) + "\n")
        replies.flush()

    try:
        assignment = Assignment.from_json(json.loads(next(lines)))
        confine(assignment)
        run = open_run(assignment)
        reply()
        for line in lines:
            sent = json.loads(line)
            if "close" in sent:
                run.close()
                reply()
                return
            written = run.write(TrackerUpdate.from_json(sent))
            reply(url=written.url, notes=list(written.notes))
    except TrackerFault as fault:
        reply(fault=str(fault))
    except Exception as error:  # noqa: BLE001 - a process boundary: the text may hold a credential
        known = error.strerror if isinstance(error, OSError) else None
        reply(fault=known or type(error).__name__)


def _sent_lines() -> Iterator[bytes]:
    """A thread reads them, and ends this process with their end."""
    waiting = SimpleQueue[bytes]()

    def read() -> None:
        with open(_STDIN, "rb", closefd=False) as sent:
            for line in sent:
                waiting.put(line)
        _end()

    threading.Thread(target=read, name="lines", daemon=True).start()
    while True:
        yield waiting.get()


def _end() -> None:
    if os.getpid() == os.getpgrp():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def main() -> None:
    keep_priority()
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print
    serve(_sent_lines(), replies)
    # Without the handlers of libraries for the end of a process, which may wait for a network.
    os._exit(0)


if __name__ == "__main__":
    main()
