"""Runs `agent-rft` in a fork of one process that has imported it: an interpreter of its own imports
for seconds of processor time. Tests of starts and of imports run interpreters, by
`tests.support.installation.cli`.
"""

import os
import subprocess
import tempfile
from pathlib import Path
from signal import Signals
from typing import Final

from tests.support.patience import PATIENCE_S
from workers.processes.forks import ForkServer

_PROGRAM: Final = """
import os, sys
os.dup2(os.open(sys.argv[1], os.O_WRONLY), 1)
sys.argv = ["agent-rft", *sys.argv[2:]]
from app.cli.main import main
main()
"""
_COMMANDS: Final = ForkServer(
    [
        "app.cli.base_models",
        "app.cli.doctor",
        "app.cli.keys",
        "app.cli.main",
        "app.cli.models",
        "app.cli.plan",
        "app.cli.up",
        "app.cli.validate",
        "app.embedded.shutdown",
    ]
)


def agent_rft(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Waits for the end of a command, and ends one that hangs. `environment` is added to that of
    the tests.
    """
    with (
        tempfile.NamedTemporaryFile("r") as output,
        tempfile.TemporaryFile("w+") as errors,
        Path(os.devnull).open() as nothing,
    ):
        process = _COMMANDS.start(
            ("-c", _PROGRAM, output.name, *arguments),
            stdin=nothing.fileno(),
            stderr=errors.fileno(),
            environment={**os.environ, **environment},
        )
        try:
            code = process.ended.result(timeout=PATIENCE_S)
        except BaseException:  # nobody else waits for it, and a hung one would stay for ever
            process.signal(Signals.SIGKILL)
            raise
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())
