"""Ends a process with its parent, which has the other end of the process's standard input."""

import os
import threading
from contextlib import suppress

_STDIN = 0


def end_with_parent(exit_code: int) -> None:
    """Starts a thread that ends this process at the end of file on standard input."""

    def wait() -> None:
        # Not through `sys.stdin`: a thread that holds its lock makes the interpreter abort at exit.
        # A parent that ends before it has read all beats resets its end of the socket.
        with suppress(ConnectionResetError):
            while os.read(_STDIN, 1):
                pass
        os._exit(exit_code)

    threading.Thread(target=wait, name="parent-watch", daemon=True).start()
