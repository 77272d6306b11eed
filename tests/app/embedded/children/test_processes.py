"""Children that are killed, that crash, that hang and that outlive their parent."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from app.local.probes import StartInterrupted, http_ok, processor_time, stop_in_order, wait_ready
from app.local.processes import Child, ChildSpec, fingerprint
from app.local.state import ChildFailed, free_port
from app.settings import inherited_environment
from tests.support.patience import wait_for

Start = Callable[..., Child]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A child running a shell line; it is ready once it has written `up` to its log."""
    children: list[Child] = []

    def make(line: str, **changes: object) -> Child:
        log = tmp_path / f"{len(children)}.log"
        fields: dict[str, object] = {
            "name": "child",
            "command": ("sh", "-c", line),
            "environment": inherited_environment(),
            "log": log,
            "ready": lambda _pid: log.exists() and log.read_text().endswith("up\n"),
            **changes,
        }
        child = Child(ChildSpec(**fields))  # type: ignore[arg-type]  # mypy cannot match a dict to the fields
        children.append(child)
        return child

    yield make
    stop_in_order([children])


def test_a_killed_child_returns_and_its_group_is_gone(start: Start, tmp_path: Path) -> None:
    grandchild_file = tmp_path / "grandchild"
    child = start(f"sleep 300 & echo $! > {grandchild_file}; echo up; wait")
    wait_ready([child])
    first, grandchild = child.pid, int(grandchild_file.read_text())
    mark = fingerprint(grandchild)
    assert first is not None
    assert mark is not None
    os.kill(first, signal.SIGKILL)
    while child.pid == first:
        child.tick()
    wait_for(lambda: fingerprint(grandchild) != mark, what="the end of the group")
    wait_ready([child])
    assert child.pid not in {None, first}
    assert child.starts == 2


def test_a_child_that_fails_each_time_differently_is_tried_three_times(
    start: Start, tmp_path: Path
) -> None:
    line = f"echo x >> {tmp_path}/tries; tr -d '\\n' < {tmp_path}/tries >&2; echo >&2; exit 3"
    child = start(line)
    with pytest.raises(ChildFailed, match="xxx"):
        wait_ready([child])
    assert child.starts == 3


def test_a_failure_that_repeats_itself_ends_the_start_with_its_last_words(start: Start) -> None:
    """Numbers of processes and times differ, and make no other failure."""
    child = start("echo pid $$: cannot open the door >&2; kill -KILL $$")
    with pytest.raises(ChildFailed, match="cannot open the door"):
        wait_ready([child])
    assert child.starts == 2


def test_a_failure_without_a_word_is_tried_three_times(start: Start) -> None:
    child = start("exit 3")
    with pytest.raises(ChildFailed):
        wait_ready([child])
    assert child.starts == 3


def test_a_child_that_was_ready_is_started_again_however_alike_its_ends_are(start: Start) -> None:
    child = start("echo up; exec sleep 300")
    wait_ready([child])
    for starts in range(2, 5):
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        while child.starts < starts:
            child.tick()
    wait_ready([child])
    assert not child.is_hopeless(3)


def test_a_child_that_hangs_at_its_start_is_killed_and_tried_again(
    start: Start, tmp_path: Path
) -> None:
    log = tmp_path / "0.log"

    def never(_pid: int) -> bool:
        wait_for(lambda: "for ever" in log.read_text(), what="the child's word")
        return False

    child = start("echo waiting for ever; sleep 300", ready=never, ready_timeout_s=0.2)
    with pytest.raises(ChildFailed, match="waiting for ever"):
        wait_ready([child])


def test_a_ready_child_that_hangs_is_replaced(start: Start) -> None:
    """Six probes in a row decide: five that fail, and one that succeeds, change nothing."""
    replies = iter([*[False] * 5, True, *[False] * 6])
    asked = list[int]()

    def answers(pid: int) -> bool:
        asked.append(pid)
        return next(replies, True)

    child = start("echo up; exec sleep 300", answers=answers, probe_every_s=0.0)
    wait_ready([child])
    first = child.pid
    assert first is not None

    def replaced() -> bool:
        child.tick()
        return child.starts == 2

    wait_for(replaced, what="another child")
    assert asked.count(first) >= 12  # it may be asked once more before it is gone


def test_a_child_that_makes_progress_is_waited_for(start: Start, tmp_path: Path) -> None:
    """With a deadline of no time at all, a child lives as long as its sign changes."""
    log, signs = tmp_path / "0.log", iter(range(50))
    child = start(
        "sleep 300",
        ready=lambda _pid: next(signs, None) is None,
        ready_timeout_s=0.0,
        progress=lambda: next(signs, None),
    )
    wait_ready([child])
    assert child.starts == 1
    assert log.exists()


@pytest.mark.long
def test_a_frozen_server_is_replaced(start: Start) -> None:
    """It still accepts connections, which the kernel does for it."""
    port = free_port()
    answers = http_ok("127.0.0.1", port, "/")
    server = f"exec {sys.executable} -m http.server -b 127.0.0.1 {port}"
    child = start(server, ready=answers, answers=answers, probe_every_s=0.0)
    wait_ready([child])
    first = child.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)

    def replaced() -> bool:
        child.tick()
        return child.starts == 2

    wait_for(replaced, what="another server")
    wait_ready([child])
    assert child.pid != first


def test_a_start_that_computes_gets_ten_times_as_long(start: Start) -> None:
    """A busy machine makes a start slow. One that computes for ever has an end too."""
    work = count()
    child = start(
        "sleep 300",
        ready=lambda _pid: False,
        ready_timeout_s=0.05,
        works=lambda _pid: next(work),
    )
    with capture_logs() as log, pytest.raises(ChildFailed):
        wait_ready([child])
    took_s = [line["after_s"] for line in log if line["event"] == "child_not_ready"]
    assert len(took_s) == child.starts  # one line for each start
    assert all(after_s >= 10 * 0.05 for after_s in took_s)


def test_the_work_of_a_process_is_its_processor_time() -> None:
    before = processor_time(os.getpid())

    def computed() -> bool:
        return sum(range(1_000_000)) > 0 and processor_time(os.getpid()) > before

    wait_for(computed, what="a tick of the clock")


def test_a_crashing_child_is_restarted_ever_more_slowly(start: Start, tmp_path: Path) -> None:
    moments = tmp_path / "moments"
    child = start(f"date +%s.%N >> {moments}; echo up; exit 1")

    def five_starts() -> bool:
        child.tick()
        return child.starts == 5

    with capture_logs() as log:
        wait_for(five_starts, what="the fifth start")
    delays_s = [line["restart_in_s"] for line in log if line["event"] == "child_ended"]
    assert delays_s == [0.1, 0.2, 0.4, 0.8]
    times = [float(line) for line in moments.read_text().split()]
    waits_s = [later - earlier for earlier, later in pairwise(times)]
    assert all(waited >= delay for waited, delay in zip(waits_s, delays_s, strict=False))


def test_a_child_that_ignores_its_stop_signal_is_killed(start: Start) -> None:
    child = start("trap '' TERM; echo up; while :; do sleep 0.1; done", stop_timeout_s=0.3)
    wait_ready([child])
    pid = child.pid
    assert pid is not None
    mark = fingerprint(pid)
    started = time.monotonic()
    stop_in_order([[child]])
    assert time.monotonic() - started >= 0.3
    assert fingerprint(pid) != mark


def test_a_stopped_child_stays_down(start: Start) -> None:
    child = start("echo up; exec sleep 300")
    wait_ready([child])
    stop_in_order([[child]])
    child.tick()
    assert (child.pid, child.starts) == (None, 1)


def test_waiting_ends_on_request(start: Start) -> None:
    child = start("sleep 300")
    with pytest.raises(StartInterrupted):
        wait_ready([child], interrupted=lambda: child.starts == 1)


def test_a_log_is_readable_by_its_owner_only(start: Start) -> None:
    child = start("echo up; exec sleep 300")
    wait_ready([child])
    assert child.spec.log.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")
def test_children_of_a_killed_supervisor_die_with_it(tmp_path: Path) -> None:
    program = f"""
import time
from pathlib import Path
from app.local.state import free_port
from app.local.probes import http_ok, processor_time
from app.local.processes import Child, ChildSpec
log = Path({str(tmp_path / "log")!r})
child = Child(ChildSpec(name="c", command=("sleep", "300"), environment={{}}, log=log,
                        ready=lambda pid: True))
child.tick()
print(child.pid, flush=True)
time.sleep(300)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        lines = (line for line in iter(parent.stdout.readline, "") if line.strip().isdigit())
        pid = int(next(lines))  # log lines may come before it
        parent.kill()
    wait_for(lambda: fingerprint(pid) is None, what="the child's end")
