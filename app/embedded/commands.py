"""Programs that run once and end: initdb, psql, a version question.

Owns: running one with a time limit and turning its failure into one readable error.
Promises: the error carries the program's last lines, never its input or environment.
"""

import subprocess
from collections.abc import Mapping, Sequence

from app.embedded.errors import EmbeddedError
from app.embedded.identity import AS_OURSELVES, RunAs
from app.settings import inherited_environment

_TAIL_LINES = 15


class CommandFailed(EmbeddedError):
    """A program could not be started, took too long or ended with a non-zero status."""


def run_once(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    run_as: RunAs = AS_OURSELVES,
    text_in: str | None = None,
    timeout_s: float = 60.0,
) -> str:
    """Run to the end and return standard output."""
    line = (*run_as.prefix, *command)
    try:
        done = subprocess.run(  # noqa: S603 - programs found by this room, no shell
            line,
            env={**inherited_environment(), **(environment or {})},
            input=text_in,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            **run_as.popen_arguments(),
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise CommandFailed(f"{command[0]}: {failure}") from failure
    if done.returncode != 0:
        tail = "\n".join((done.stderr or done.stdout).splitlines()[-_TAIL_LINES:])
        raise CommandFailed(f"{command[0]} ended with status {done.returncode}:\n{tail}")
    return done.stdout
