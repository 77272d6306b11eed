"""A real sandbox of a test: the command of its runner, with the layers that the test leaves in."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.local.state import namespaces_work
from app.tools.programs import ALWAYS, Layer
from app.tools.sandbox import UnixSandbox
from tests.support.patience import wait_for

ENVIRONMENT_SECRET = "canary-of-the-runners-environment"
_ORDINARY = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
"""Command before that of a runner: it sees an ordinary user, to whom the files of root belong."""


@dataclass(frozen=True, slots=True)
class RunningSandbox:
    process: subprocess.Popen[bytes]
    socket: Path
    log: Path

    @property
    def client(self) -> UnixSandbox:
        return UnixSandbox(self.socket)

    def of(self, project_id: str, organization_id: str = "") -> UnixSandbox:
        return self.client.for_project(organization_id, project_id)

    def fork_server(self) -> int:
        """Process id of the warm interpreter."""
        (pid,) = children(self.process.pid)
        return pid

    def processes(self) -> list[int]:
        """Process ids of all keepers and programs."""
        found, left = list[int](), children(self.fork_server())
        while left:
            found.append(left.pop())
            left += children(found[-1])
        return found


def children(pid: int) -> list[int]:
    """Returns the children of a process, as the kernel's table of processes has them."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            after_name = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended
            continue
        if int(after_name[1]) == pid and after_name[0] not in "ZX":
            found.append(int(entry.name))
    return found


@contextmanager
def running_sandbox(
    *,
    without: tuple[Layer, ...] = (),
    floor: tuple[Layer, ...] = tuple(ALWAYS),
    time_limit_s: float = 60.0,
    parallel: int = 8,
    settings: Mapping[str, object] | None = None,
    ordinary_user: bool = False,
) -> Iterator[RunningSandbox]:
    """Starts a runner and ends it. Skips the test where this system has no sandbox.

    Tests of programs that end give them a minute, which no machine needs. `settings` are further
    ones of the runner, by their names in lower case.
    """
    if sys.platform != "linux":
        pytest.skip("THE SANDBOX IS NOT TESTED: it needs Linux")
    if ordinary_user and not namespaces_work():
        pytest.skip("NOT TESTED AS AN ORDINARY USER: this machine refuses user namespaces")
    with tempfile.TemporaryDirectory(prefix="sandbox") as name:  # its path is short
        directory = Path(name)
        log = directory / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*(_ORDINARY if ordinary_user else ()), *command(without)],
                env={
                    **environment(directory, floor, time_limit_s, parallel),
                    **{
                        f"AGENT_RFT_SANDBOX__{name.upper()}": json.dumps(value)
                        for name, value in (settings or {}).items()
                    },
                },
                stdout=output,
                stderr=output,
            )
        sandbox = RunningSandbox(process, directory / "sandbox.sock", log)
        try:
            wait_for(
                lambda: sandbox.socket.exists() or process.poll() is not None,
                what="a sandbox that serves",
            )
            assert process.poll() is None, log.read_text()
            yield sandbox
        finally:
            process.terminate()
            process.wait()


def command(without: tuple[Layer, ...] = ()) -> list[str]:
    left_out = [word for layer in without for word in ("--without", layer)]
    return [sys.executable, "-m", "workers.sandbox", *left_out]


def environment(
    directory: Path, floor: tuple[Layer, ...], time_limit_s: float = 5.0, parallel: int = 8
) -> dict[str, str]:
    """Returns the whole environment of a runner, with a secret that no program may see."""
    return {
        "PATH": os.defpath,
        "AGENT_RFT_DATA_DIR": str(directory),
        "AGENT_RFT_SANDBOX__FLOOR": json.dumps(floor),
        "AGENT_RFT_SANDBOX__TIME_LIMIT_S": str(time_limit_s),
        "AGENT_RFT_SANDBOX__MEMORY_BYTES": str(64 * 1024**2),
        "AGENT_RFT_SANDBOX__PARALLEL": str(parallel),
        "AGENT_RFT_SECRET_KEY": ENVIRONMENT_SECRET,
    }
