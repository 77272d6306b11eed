"""The fork server with real processes: what a child inherits, how it ends, how the server ends."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.cli.foreign_folder import foreign_folder
from tests.support.patience import PATIENCE_S, wait_for
from tests.support.priorities import session_niceness
from tests.support.processes.child_processes import FORKS, child, ended, killed
from workers.processes.forking.forks import ForkServer, Interpreters, Starter

WAITS = "import sys; sys.stdin.read()"
DIES_WITH_ITS_PARENT = """
import socket, time
from workers.processes.forking.forks import ForkServer
ours, theirs = socket.socketpair()
server = ForkServer([])  # one that nobody holds is closed and ends by itself
child = server.start(("-c", "import time; time.sleep(3600)"), stdin=theirs.fileno())
print(child.started.result(), flush=True)
time.sleep(3600)
"""

NICE_PARENT = """
import sys, time
from app.kit.processes import lower_priority
from workers.processes.forking.forks import ForkServer
lower_priority(7)
server = ForkServer([])
child = server.start(("-c", "import time; time.sleep(3600)"), stdin=sys.stdin.fileno())
print(child.started.result(), flush=True)
time.sleep(3600)
"""


@pytest.fixture
def line() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two ends of a child's standard input."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def server() -> Iterator[ForkServer]:
    """A server that imports nothing, for tests that end it."""
    own = ForkServer([])
    yield own
    own.close()


@pytest.fixture(params=["forks", "interpreters"])
def starter(request: pytest.FixtureRequest) -> Starter:
    return FORKS if request.param == "forks" else Interpreters()


Line = tuple[socket.socket, socket.socket]


@pytest.mark.parametrize("forks", [True, False])
async def test_no_file_of_the_working_directory_runs_in_a_server_or_a_child(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, forks: bool
) -> None:
    monkeypatch.chdir(foreign_folder(tmp_path))
    starter: Starter = ForkServer(["workers.processes.retry"]) if forks else Interpreters()
    with (tmp_path / "errors").open("w+") as errors:
        started = starter.start(
            ("-c", "import secrets, sys; sys.exit(7)"),
            stdin=line[1].fileno(),
            stderr=errors.fileno(),
        )
        assert await ended(started) == 7, errors.seek(0) or errors.read()
        assert started.fault is None
    if isinstance(starter, ForkServer):
        starter.close()


@pytest.mark.parametrize("program", ["sys.exit(7)", "os._exit(7)"])
async def test_an_exit_code_is_the_childs(starter: Starter, line: Line, program: str) -> None:
    text = f"import os, sys; {program}"
    assert await ended(starter.start(("-c", text), stdin=line[1].fileno())) == 7


async def test_an_uncaught_exception_is_code_one_with_its_traceback() -> None:
    with child("-c", "1 / 0", settings=None) as failed:
        assert await failed.exit_code() == 1
        assert "ZeroDivisionError" in failed.errors.read_text()


async def test_a_module_runs_as_the_program_with_its_arguments() -> None:
    with child("-m", "json.tool", "/nowhere.json", settings=None) as failed:
        assert await failed.exit_code() == 2
        assert "nowhere.json" in failed.errors.read_text()


async def test_a_signal_ends_a_child_and_what_it_started(
    starter: Starter, line: Line, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    text = (
        "import pathlib, subprocess, sys;"
        "grandchild = subprocess.Popen(['sleep', '3600']);"
        f"pathlib.Path({str(started)!r}).write_text(str(grandchild.pid) + '.');"
        "sys.stdin.read()"
    )
    process = starter.start(("-c", text), stdin=line[1].fileno())
    wait_for(lambda: started.exists() and started.read_text().endswith("."), what="the grandchild")
    process.signal(signal.SIGTERM)
    assert await ended(process) == -signal.SIGTERM
    wait_for(_is_a_zombie_or_gone(int(started.read_text().rstrip("."))), what="its end")


def _is_a_zombie_or_gone(pid: int) -> Callable[[], bool]:
    def check() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except FileNotFoundError:
            return True

    return check


async def test_children_run_side_by_side_and_their_codes_are_not_mixed_up(line: Line) -> None:
    numbers = range(1, 5)
    started = [
        FORKS.start(("-c", f"import sys; sys.exit({number})"), stdin=line[1].fileno())
        for number in numbers
    ]
    assert [await ended(process) for process in started] == list(numbers)


async def test_a_child_holds_its_streams_alone_and_has_one_thread(line: Line) -> None:
    report = (
        "import os, sys; sys.stderr.write(repr((sorted(map(int, os.listdir('/proc/self/fd')))[:-1],"
        "len(os.listdir('/proc/self/task')), os.getsid(0) == os.getpid(), 'torch' in sys.modules)))"
    )
    beside = FORKS.start(("-c", WAITS), stdin=line[1].fileno())
    with child("-c", report, settings=None) as looked:
        assert await looked.exit_code() == 0
        assert looked.errors.read_text() == "([0, 1, 2], 1, True, True)"
    killed(beside)


async def test_children_draw_different_random_numbers() -> None:
    texts = set()
    for _ in range(3):
        text = "import random, sys, uuid; sys.stderr.write(f'{random.random()} {uuid.uuid4()}')"
        with child("-c", text, settings=None) as drawn:
            assert await drawn.exit_code() == 0
            texts.update(drawn.errors.read_text().split())
    assert len(texts) == 6


async def test_a_childs_title_and_environment_are_its_own(line: Line) -> None:
    process = FORKS.start(
        ("-m", "http.server", "--bind", "127.0.0.1", "0"),
        stdin=line[1].fileno(),
        environment={"ONLY": "this"},
    )
    pid = process.started.result(timeout=PATIENCE_S)
    assert _title(pid).startswith(f"{sys.executable} -m http.server --bind 127.0.0.1 0")
    killed(process)
    with child("-c", "import os, sys; sys.exit('HOME' in os.environ)", settings=None) as inherits:
        assert await inherits.exit_code() == 1
    process = FORKS.start(
        ("-c", "import os, sys; sys.exit(os.environ != {'ONLY': 'this'})"),
        stdin=line[1].fileno(),
        environment={"ONLY": "this"},
    )
    assert await ended(process) == 0


async def test_a_torch_computation_with_threads_runs_in_a_fork() -> None:
    text = (
        "import torch, sys; torch.set_num_threads(2); x = torch.ones(600, 600, requires_grad=True);"
        "(x @ x).sum().backward(); sys.exit(int(x.grad[0, 0]) != 1200)"
    )
    for _ in range(2):
        with child("-c", text, settings=None) as computing:
            assert await computing.exit_code() == 0


async def test_a_server_that_crashes_takes_its_children_along_and_is_replaced(
    server: ForkServer, line: Line
) -> None:
    process = server.start(("-c", WAITS), stdin=line[1].fileno())
    pid = process.started.result(timeout=PATIENCE_S)
    os.kill(_parent(pid), signal.SIGKILL)
    assert await ended(process) == -signal.SIGKILL
    wait_for(_is_a_zombie_or_gone(pid), what="the end of the child")
    assert await ended(server.start(("-c", ""), stdin=line[1].fileno())) == 0


async def test_a_child_that_has_not_started_can_be_ended(server: ForkServer, line: Line) -> None:
    pid = server.start(("-c", WAITS), stdin=line[1].fileno()).started.result(timeout=PATIENCE_S)
    os.kill(_parent(pid), signal.SIGSTOP)
    late = server.start(("-c", WAITS), stdin=line[1].fileno())
    late.signal(signal.SIGKILL)
    assert await ended(late) == -signal.SIGKILL
    assert not late.started.done()
    assert await ended(server.start(("-c", ""), stdin=line[1].fileno())) == 0


async def test_a_child_terminated_before_its_start_leaves_the_others_alone(
    server: ForkServer, line: Line
) -> None:
    other = server.start(("-c", WAITS), stdin=line[1].fileno())
    parent = _parent(other.started.result(timeout=PATIENCE_S))
    os.kill(parent, signal.SIGSTOP)
    late = server.start(("-c", WAITS), stdin=line[1].fileno())
    late.signal(signal.SIGTERM)
    os.kill(parent, signal.SIGCONT)
    assert await ended(late) == -signal.SIGTERM
    assert other.returncode is None
    killed(other)


async def test_a_module_that_cannot_be_imported_ends_the_child_and_not_the_caller(
    line: Line,
) -> None:
    server = ForkServer(["no_such_module"])
    for _ in range(2):
        process = server.start(("-c", ""), stdin=line[1].fileno())
        assert await ended(process) == -signal.SIGKILL
        assert process.fault == "ModuleNotFoundError: No module named 'no_such_module'"
    server.close()


def test_a_child_ends_with_the_process_that_started_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", DIES_WITH_ITS_PARENT], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        server = _parent(pid)
        parent.kill()
    wait_for(_is_a_zombie_or_gone(server), what="the end of the server")
    wait_for(_is_a_zombie_or_gone(pid), what="the end of the child")


async def test_an_environment_larger_than_a_sockets_buffer_arrives(line: Line) -> None:
    text = "import os, sys; sys.exit(len(os.environ['LARGE']) != 100_000 or len(os.environ) != 9)"
    large = {f"LARGE{number}" if number else "LARGE": "x" * 100_000 for number in range(9)}
    process = FORKS.start(("-c", text), stdin=line[1].fileno(), environment=large)
    assert await ended(process) == 0


def _title(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="priorities of sessions are Linux's")
def test_a_child_keeps_the_priority_of_its_worker_in_its_own_session(line: Line) -> None:
    """A niceness counts within a session where the kernel schedules sessions."""
    of_tests = session_niceness(os.getpid())
    parent = subprocess.Popen(
        [sys.executable, "-c", NICE_PARENT],
        stdin=line[1].fileno(),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # else all other tests, and the shell, have its niceness too
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert os.getpriority(os.PRIO_PROCESS, pid) == 7
    assert session_niceness(pid) in (None, 7)
    assert session_niceness(os.getpid()) == of_tests
    parent.kill()
    parent.communicate()
