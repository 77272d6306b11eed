"""`agent-rft plan`: the memory plan of a model, printed by a process that may import torch."""

import subprocess
from collections.abc import Sequence
from typing import Final

from app.domain.processes.interpreters import running_module

_PROGRAM: Final = "workers.learning.memory"


def plan(arguments: Sequence[str]) -> int:
    """Passes the arguments on; returns 0 if everything fits, else a code of `exit_codes`."""
    command = running_module(_PROGRAM, *arguments)
    return subprocess.run(command, check=False).returncode  # noqa: S603 - our own program, no shell
