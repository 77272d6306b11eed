"""Starting our own programs: exit codes, priorities, and an end with the parent."""

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import Final

FAILED: Final = 1
"""A crash, a failure without a code of its own, or a call that `validate` finds invalid."""
WRONG_OPTIONS: Final = 2
"""Options, arguments or settings that cannot be used."""
BINARY_MISSING: Final = 3
PORT_IN_USE: Final = 4
DATA_DIR_BUSY: Final = 5
CHILD_FAILED: Final = 6
DATA_DIR_UNUSABLE: Final = 7
MODEL_NOT_FOUND: Final = 8
MODEL_REFUSED: Final = 9
DOES_NOT_FIT: Final = 10
ENGINE_NOT_INSTALLED: Final = 11
UNCOUNTABLE: Final = 12
"""The memory of a model cannot be counted from its config."""
BACKUP_UNUSABLE: Final = 13
SANDBOX_BELOW_FLOOR: Final = 14
"""The sandbox has fewer layers on this machine than its floor."""
NO_ANSWER: Final = 15
"""A service that cannot be reached, hangs up, or is not a service of this project."""
NOT_ALLOWED: Final = 16
"""The key is not valid (401), or may not do this (403)."""
NOT_FOUND: Final = 17
"""The service has no such object for the project of the key (404)."""
REQUEST_REFUSED: Final = 18
"""The service refused the request for another reason (any other 4xx)."""
TRY_LATER: Final = 19
"""The service answered 429 or a 5xx."""
RUN_FAILED: Final = 20
"""A job or an eval run that was followed has failed."""
RUN_CANCELLED: Final = 21
JOB_PAUSED: Final = 22
NOTHING_TO_LEARN: Final = 23
"""The job ended before training, because its rewards do not differ (`nothing_to_learn`)."""
TEST_FAILED: Final = 24
"""The test of a registered object found a fault."""
INTERRUPTED: Final = 130
"""Ctrl-C ended the command: 128 plus the number of SIGINT, as in a shell."""


def interpreter(*arguments: str) -> tuple[str, ...]:
    """Returns the command line of a child. `-P` keeps the working directory off the path of
    imports: it is a user's folder, whose `queue.py` or `secrets.py` would run.
    """
    return (sys.executable, "-P", *arguments)


def running_module(name: str, *arguments: str) -> tuple[str, ...]:
    return interpreter("-m", name, *arguments)


_LIBC: Final = ctypes.CDLL(None, use_errno=True)
"""The C library, found with the module: between fork and exec it is too late to look for it."""
_PR_SET_PDEATHSIG: Final = 1


def signal_at_parent_end(number: int) -> None:
    """Lets Linux send a signal when the parent ends, unless it has before. Raises `OSError`."""
    if sys.platform == "linux" and _LIBC.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(number), 0, 0, 0):
        failure = ctypes.get_errno()
        raise OSError(failure, os.strerror(failure))


_SESSION: Final = Path("/proc/self/autogroup")
_TRIES: Final = 5
_LIMITED_S: Final = 0.1
"""Interval between two changes that the kernel grants a process without privileges."""


def lower_priority(niceness: int) -> None:
    if sys.platform == "linux":
        own = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, 0, max(own, niceness))
        keep_priority()


def keep_priority() -> None:
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
