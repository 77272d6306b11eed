"""Gives the processes of jobs a lower priority for the processor than those that answer requests.

No room has it: the supervisor lowers the priority of its children, and processes of both planes
keep theirs in the sessions that they open. Linux may schedule sessions before processes
(`sched_autogroup_enabled`): a niceness then counts within its session alone, and a session has one
of its own, which begins at 0.
"""

import os
import sys
import time
from pathlib import Path
from typing import Final

_SESSION: Final = Path("/proc/self/autogroup")
_TRIES: Final = 5
_LIMITED_S: Final = 0.1
"""Interval between two changes that the kernel grants a process without privileges."""


def lower_priority(niceness: int) -> None:
    """Raises the niceness of this process, and of its session, to at least this."""
    if sys.platform == "linux":
        own = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, 0, max(own, niceness))
        keep_priority()


def keep_priority() -> None:
    """Gives a session that this process has just opened the niceness of the process."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    if own <= 0 or not _SESSION.exists():
        return
    for _ in range(_TRIES):
        try:
            _SESSION.write_text(str(own))
        except BlockingIOError:  # another process has changed its own just before
            time.sleep(_LIMITED_S)
        except OSError:  # the priority within the session is all there is
            return
        else:
            return
