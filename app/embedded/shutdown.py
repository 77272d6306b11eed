"""Stops an installation from another process: `agent-rft down`.

Promises: no process of the data directory runs when it returns; safe to repeat.
"""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from app.embedded.announcement import remove_announcement
from app.embedded.children.orphans import fingerprint, stop_recorded, wait_gone
from app.embedded.state import DataDir, owner_pid, ownership

_STOP_TIMEOUT_S = 90.0  # longer than the sum of the children's own stop timeouts


def shut_down(path: Path) -> bool:
    """Stops the supervisor and the children that an earlier one did not stop.

    Returns false if nothing was running.
    """
    root = path.expanduser().absolute()
    if not root.is_dir():
        return False
    data_dir = DataDir(root)
    pid = owner_pid(data_dir)
    if pid is not None:
        _stop_owner(data_dir, pid)
    elif not data_dir.children_file.exists():
        return False
    with ownership(data_dir):
        leftovers = stop_recorded(data_dir.children_file)
        remove_announcement(data_dir)
    return pid is not None or bool(leftovers)


def _stop_owner(data_dir: DataDir, pid: int) -> None:
    mark = fingerprint(pid)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if mark is not None and not wait_gone(pid, mark, timeout_s=_STOP_TIMEOUT_S):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while owner_pid(data_dir) == pid:
        time.sleep(0.05)
