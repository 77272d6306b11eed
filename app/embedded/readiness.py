"""Waiting for children on the main thread.

Owns: the loop that drives several children to readiness at once, and their ordered stop.
"""

import time
from collections.abc import Callable, Iterable, Sequence

from app.embedded.errors import EmbeddedError
from app.embedded.processes import Child

_TRIES = 3
_PAUSE_S = 0.03


class Interrupted(EmbeddedError):
    """Raised when a stop is requested before everything was ready."""


def wait_ready(
    children: Sequence[Child], *, interrupted: Callable[[], bool] = lambda: False
) -> None:
    """Tick until every child is ready. ChildFailed once one has failed three times."""
    while any(child.state != "ready" for child in children):
        if interrupted():
            raise Interrupted("stopped before everything was ready")
        for child in children:
            child.tick()
            child.raise_if_hopeless(_TRIES)
        time.sleep(_PAUSE_S)


def stop_in_order(waves: Iterable[Sequence[Child]]) -> None:
    """Stop wave after wave; the children of one wave end together."""
    for wave in waves:
        for child in wave:
            child.signal_stop()
        for child in wave:
            child.wait_stopped()
