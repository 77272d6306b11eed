"""Ends a process with its parent, which holds the other end of the process's standard input."""

import os
import threading

_STDIN = 0


def end_with_parent(exit_code: int) -> None:
    """From now on, end of file on standard input ends this process at once."""

    def wait() -> None:
        # Not through `sys.stdin`: a thread that holds its lock makes the interpreter abort at exit.
        while os.read(_STDIN, 1):
            pass
        os._exit(exit_code)

    threading.Thread(target=wait, name="parent-watch", daemon=True).start()
