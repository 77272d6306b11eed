"""Runs `agent-rft` in a fork of one process that has imported it: an interpreter of its own imports
for seconds of processor time. Tests of starts and of imports run interpreters, by
`tests.support.embedded.installation.cli`.
"""

import os
import pty
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from signal import Signals
from typing import IO, Final

from tests.support.patience import PATIENCE_S
from workers.processes.forking.forks import ChildProcess, ForkServer

# Programs that a shell starts in the background ignore SIGINT, and so would the tests' commands.
_PROGRAM: Final = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.dup2(os.open(sys.argv[1], os.O_WRONLY), 1)
sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)  # it may be a terminal now
sys.argv = ["agent-rft", *sys.argv[2:]]
from app.cli.main import main
main()
"""
_COMMANDS: Final = ForkServer(
    [
        "app.cli.audit",
        "app.cli.doctor",
        "app.cli.downloading",
        "app.cli.evals",
        "app.cli.job_report",
        "app.cli.keys",
        "app.cli.main",
        "app.cli.models",
        "app.cli.profiles",
        "app.cli.registry",
        "app.cli.rollouts",
        "app.cli.up",
        "app.cli.audit",
        "app.cli.validate",
        "app.cli.watching",
        "app.local.supervisor",
    ]
)


_NO_PROFILES: Final = Path(tempfile.gettempdir()) / f"no-profiles-{os.getpid()}"
"""A directory that nobody makes: the profiles of who runs the tests are not theirs."""


@dataclass(slots=True)
class RunningCommand:
    """A command that runs, until `ended`."""

    process: ChildProcess
    _arguments: tuple[str, ...]
    _output: IO[str]
    _errors: IO[str]

    def interrupt(self) -> None:
        """Presses Ctrl-C."""
        self.process.signal(Signals.SIGINT)

    def output(self) -> str:
        """Returns what it has printed so far."""
        self._output.seek(0)
        return self._output.read()

    def ended(self) -> subprocess.CompletedProcess[str]:
        """Waits for the end, and ends a command that hangs."""
        try:
            code = self.process.ended.result(timeout=PATIENCE_S)
        except BaseException:  # nobody else waits for it, and a hung one would stay for ever
            self.process.signal(Signals.SIGKILL)
            raise
        self._errors.seek(0)
        return subprocess.CompletedProcess(
            self._arguments, code, self.output(), self._errors.read()
        )


@contextmanager
def running_agent_rft(
    *arguments: str, stdin: str = "", terminal: str | None = None, **environment: str
) -> Iterator[RunningCommand]:
    """Starts a command. `environment` is added to that of the tests; `terminal` is the path of one
    that takes the place of the file for its output.
    """
    with (
        tempfile.NamedTemporaryFile("r") as output,
        tempfile.TemporaryFile("w+") as errors,
        tempfile.TemporaryFile("w+") as sent,
    ):
        sent.write(stdin)
        sent.seek(0)
        process = _COMMANDS.start(
            ("-c", _PROGRAM, terminal or output.name, *arguments),
            stdin=sent.fileno(),
            stderr=errors.fileno(),
            environment={**os.environ, "XDG_CONFIG_HOME": str(_NO_PROFILES), **environment},
        )
        yield RunningCommand(process, arguments, output, errors)


def agent_rft(
    *arguments: str, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Waits for the end of a command."""
    with running_agent_rft(*arguments, stdin=stdin, **environment) as running:
        return running.ended()


def agent_rft_in_terminal(
    arguments: Sequence[str], environment: Mapping[str, str], *, size: tuple[int, int] = (100, 40)
) -> subprocess.CompletedProcess[str]:
    """Runs a command whose output is a terminal of so many columns and lines; returns everything
    that reached it, control sequences included.
    """
    ours, theirs = pty.openpty()
    read: list[bytes] = []

    def drain() -> None:
        with suppress(OSError):  # the end of a terminal without a writer
            while chunk := os.read(ours, 65536):
                read.append(chunk)

    reader = threading.Thread(target=drain)
    reader.start()
    columns, lines = size
    shown = {"TERM": "xterm", "COLUMNS": str(columns), "LINES": str(lines), "NO_COLOR": "1"}
    try:
        with running_agent_rft(
            *arguments, terminal=os.ttyname(theirs), **shown, **environment
        ) as running:
            done = running.ended()
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    done.stdout = b"".join(read).decode()
    return done
