"""Asks the kernel for a signal when the parent of this process ends, however it ends.

No room has it: supervisor, workers and sandbox all start processes that must not outlive them, some
of them before anything else is imported.
"""

import ctypes
import os
import sys
from typing import Final

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
"""The C library, found with the module: between fork and exec it is too late to look for it."""
_PR_SET_PDEATHSIG: Final = 1


def signal_at_parent_end(number: int) -> None:
    """Lets Linux send a signal when the parent ends; other systems have nothing like it. A parent
    that has ended before is not noticed: the caller compares `os.getppid()`. Raises `OSError`.
    """
    if sys.platform == "linux" and _LIBC.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(number), 0, 0, 0):
        failure = ctypes.get_errno()
        raise OSError(failure, os.strerror(failure))
