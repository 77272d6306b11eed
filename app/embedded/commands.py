"""Runs short-lived programs: initdb, psql, version checks.

Owns: the time limit and the conversion of a failure into one readable error.
Promises: the error contains the program's last lines, never its input or environment.
"""

import subprocess
from collections.abc import Mapping, Sequence

from app.embedded.errors import EmbeddedError
from app.embedded.identity import AS_OURSELVES, RunAs
from app.settings.environment import inherited_environment

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
    """Runs a program to its end and returns its standard output. Raises `CommandFailed`."""
    line = (*run_as.prefix, *command)
    try:
        result = subprocess.run(  # noqa: S603 - programs found by this package, no shell
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
    if result.returncode != 0:
        tail = "\n".join((result.stderr or result.stdout).splitlines()[-_TAIL_LINES:])
        raise CommandFailed(f"{command[0]} ended with status {result.returncode}:\n{tail}")
    return result.stdout
