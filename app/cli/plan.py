"""`agent-rft plan`: the memory plan of a model, printed by a process that may import torch."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Final

_PROGRAM: Final = "workers.learning.memory"


def plan(arguments: Sequence[str]) -> int:
    """Passes the arguments on; returns 0 if everything fits, else a code of `exit_codes`."""
    command = [sys.executable, "-m", _PROGRAM, *arguments]
    return subprocess.run(command, check=False).returncode  # noqa: S603 - our own program, no shell
