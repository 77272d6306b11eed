"""Processes that an earlier, killed supervisor left running.

Owns: recognising a process we started (pid plus kernel start time) and stopping it.
Promises: never signals a process whose start time differs from the recorded one; pids are reused
after a reboot or a container restart.
"""

import json
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import structlog

from app.embedded.commands import CommandFailed, run_once
from app.embedded.processes import kill_group

_log = structlog.get_logger()
_PATIENCE_S = 3.0
_CHECKPOINT_S = 30.0
_STAT_STATE = 0
_STAT_STARTED = 19


def fingerprint(pid: int) -> str | None:
    """Identity of a live process, None when it is gone or only a zombie."""
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
    fields = stat.rpartition(")")[2].split()  # the name before it may hold spaces
    if fields[_STAT_STATE] in "ZX":
        return None
    return f"{boot}/{fields[_STAT_STARTED]}"


def command_line(pid: int) -> str:
    """Arguments of a process, empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        pass
    try:
        return run_once(("ps", "-o", "command=", "-p", str(pid)), timeout_s=5).strip()
    except CommandFailed:
        return ""


def record(path: Path, pids: Mapping[str, int]) -> None:
    """Remember the running children for the next start."""
    entries = {name: [pid, fingerprint(pid)] for name, pid in pids.items()}
    scratch = path.with_suffix(".new")
    scratch.touch(mode=0o600)
    scratch.write_text(json.dumps(entries))
    scratch.replace(path)


def stop_recorded(path: Path) -> list[str]:
    """Stop every recorded process that is still the same one. Returns their names.

    Only Postgres is worth waiting for: it writes a checkpoint. A worker whose broker died in the
    same moment may wait for it without end.
    """
    try:
        entries: dict[str, tuple[int, str | None]] = json.loads(path.read_text())
    except (OSError, ValueError):
        return []
    found = {name: (pid, mark) for name, (pid, mark) in entries.items() if _is_ours(pid, mark)}
    for name, (pid, _) in found.items():
        _log.warning("leftover_stopped", child=name, pid=pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT if name == "postgres" else signal.SIGTERM)
    asked_at = time.monotonic()
    for name, (pid, mark) in found.items():
        patience_s = _PATIENCE_S if name != "postgres" else _CHECKPOINT_S
        left_s = patience_s - (time.monotonic() - asked_at)
        if mark is not None:
            wait_gone(pid, mark, timeout_s=left_s)
        kill_group(pid)
    path.unlink(missing_ok=True)
    return list(found)


def _is_ours(pid: int, mark: str | None) -> bool:
    """The recorded process lives, or it is gone since this boot and its group is not.

    While a group has members the kernel gives its number to no new process; so a group whose
    leader is missing is still the recorded one.
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
    """Wait until the process has ended; False when it has not in time."""
    deadline = time.monotonic() + timeout_s
    while fingerprint(pid) == mark:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
