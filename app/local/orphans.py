"""Stops child processes that an earlier, killed supervisor did not stop."""

import json
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


from app.local.commands import CommandFailed, run_once
from app.local.processes import kill_group

_STOP_TIMEOUT_S = 3.0
_CHECKPOINT_TIMEOUT_S = 30.0
_STAT_STATE = 0
_STAT_STARTED = 19


def fingerprint(pid: int) -> str | None:
    """Returns the identity of a live process, `None` if it has ended or is a zombie."""
    if Path("/proc/self/stat").exists():
        return _fingerprint_from_proc(pid)
    try:
        return run_once(("ps", "-o", "lstart=", "-p", str(pid)), timeout_s=5).strip() or None
    except CommandFailed:
        return None


def _fingerprint_from_proc(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the program's name before it may contain spaces
    if fields[_STAT_STATE] in "ZX":
        return None
    return f"{boot}/{fields[_STAT_STARTED]}"


def command_line(pid: int) -> str:
    """Returns the arguments of a process, an empty text if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        pass
    try:
        return run_once(("ps", "-o", "command=", "-p", str(pid)), timeout_s=5).strip()
    except CommandFailed:
        return ""


def record(path: Path, pids: Mapping[str, int]) -> None:
    """Writes the pids of the running children to a file that the next start reads."""
    entries = {name: [pid, fingerprint(pid)] for name, pid in pids.items()}
    scratch = path.with_suffix(".new")
    try:
        scratch.touch(mode=0o600)
        scratch.write_text(json.dumps(entries))
        scratch.replace(path)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise


def stop_recorded(path: Path) -> list[str]:
    """Stops every recorded process that still has the recorded identity. Returns their names.

    Postgres gets the long timeout because it writes a checkpoint. The others get a short one: a
    worker whose broker crashed at the same moment may wait for it forever.
    """
    try:
        entries: dict[str, tuple[int, str | None]] = json.loads(path.read_text())
    except (OSError, ValueError):
        return []
    running = {
        name: (pid, mark) for name, (pid, mark) in entries.items() if _is_recorded(pid, mark)
    }
    for name, (pid, _) in running.items():
        log.warning("leftover_stopped", child=name, pid=pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT if name == "postgres" else signal.SIGTERM)
    signalled_at = time.monotonic()
    for name, (pid, mark) in running.items():
        timeout_s = _STOP_TIMEOUT_S if name != "postgres" else _CHECKPOINT_TIMEOUT_S
        remaining_s = timeout_s - (time.monotonic() - signalled_at)
        if mark is not None:
            wait_gone(pid, mark, timeout_s=remaining_s)
        kill_group(pid)
    path.unlink(missing_ok=True)
    return list(running)


def _is_recorded(pid: int, mark: str | None) -> bool:
    """Returns true if the recorded process is alive, or if it ended since this boot and its group
    still has members.

    The kernel does not assign the number of a group that has members to a new process, so a group
    without its leader is still the recorded group.
    """
    if mark is None:
        return False
    current = fingerprint(pid)
    if current is not None:
        return current == mark
    same_boot = (fingerprint(os.getpid()) or "").partition("/")[0] == mark.partition("/")[0]
    return same_boot and _group_exists(pid)


def _group_exists(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except OSError:
        return False
    return True


def wait_gone(pid: int, mark: str, *, timeout_s: float) -> bool:
    """Waits until the process has ended; returns false after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while fingerprint(pid) == mark:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
