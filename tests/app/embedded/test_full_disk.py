"""The supervisor on a disk without a free byte: reserve, logs, starts of children."""

import errno
import os
from pathlib import Path

import pytest

from app.local.probes import LogLine, stop_in_order
from app.local.processes import KEPT, Child, ChildSpec, rotate_full_log
from app.local.provision import Reserve
from app.settings import inherited_environment

SIZE = 4096


class Disk:
    def __init__(self, free: int) -> None:
        self.free = free

    def measure(self, _path: Path) -> int:
        return self.free


def no_space(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_reserve_is_given_back_when_the_disk_is_full(tmp_path: Path) -> None:
    disk, file = Disk(free=100 * SIZE), tmp_path / "reserve"
    reserve = Reserve(file, minimum_bytes=10 * SIZE, size=SIZE, measure=disk.measure)
    states = []
    for free in (100 * SIZE, SIZE, SIZE - 1, 12 * SIZE, 12 * SIZE + 1):
        disk.free = free
        reserve.keep()
        states.append(file.exists() and file.stat().st_size == SIZE)
    assert states == [True, True, False, False, True]
    reserve.release()
    assert not file.exists()


def test_a_reserve_that_cannot_be_written_leaves_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", no_space)
    reserve = Reserve(tmp_path / "reserve", minimum_bytes=0, measure=Disk(1 << 30).measure)
    reserve.keep()
    assert list(tmp_path.iterdir()) == []


def test_a_log_keeps_a_limited_number_of_older_parts(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    with log.open("ab", buffering=0) as child:  # as a child has it
        for number in range(KEPT + 3):
            child.write(f"{number} {'x' * 98}\n".encode())
            rotate_full_log(log, limit_bytes=100)
            rotate_full_log(log, limit_bytes=100)  # below the limit now
        child.write(b"the end\n")
    parts = {path.name: path.read_text()[:1] for path in tmp_path.iterdir()}
    assert parts == {"api.log": "t", "api.log.1": "5", "api.log.2": "4", "api.log.3": "3"}
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("*.[123]")} == {0o600}


def test_a_log_is_cut_even_where_it_cannot_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "api.log"
    log.write_text("x" * 200)
    monkeypatch.setattr("shutil.copyfile", no_space)
    rotate_full_log(log, limit_bytes=100)
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"api.log": 0}


def test_a_child_that_cannot_be_started_for_lack_of_space_is_started_later(tmp_path: Path) -> None:
    full = False

    def prepare() -> None:
        if full:
            no_space()

    spec = ChildSpec(
        name="child",
        command=("sleep", "300"),
        environment=inherited_environment(),
        log=tmp_path / "log",
        ready=lambda _pid: True,
        prepare=prepare,
    )
    child = Child(spec)
    child.tick()
    child.tick()
    first, full = child.pid, True
    assert first is not None
    try:
        os.kill(first, 9)
        while child.failures < 3:
            child.tick()
        assert (child.pid, child.starts) == (None, 1)
        full = False
        while child.pid is None:
            child.tick()
        assert child.starts == 2
    finally:
        stop_in_order([[child]])


def test_a_full_disk_hides_no_child_that_runs(tmp_path: Path) -> None:
    log, disk = tmp_path / "log", Disk(free=1 << 20)
    log.write_text("worker ready.\n")
    probe = LogLine(log, " ready.", measure=disk.measure)
    probe.prepare()
    assert not probe.ready(1)
    disk.free = 0
    assert probe.ready(1)
    disk.free = 1 << 20
    with log.open("a") as file:
        file.write("worker ready.\n")
    assert probe.ready(1)
