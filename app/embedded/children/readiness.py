"""Waits for several children at once on the main thread.

Owns: the loop that ticks children until all are ready, and their ordered stop.
"""

import time
from collections.abc import Callable, Iterable, Sequence

from app.embedded.children.processes import Child
from app.embedded.errors import EmbeddedError

_TRIES = 3
_PAUSE_S = 0.03


class StartInterrupted(EmbeddedError):
    """A stop was requested before every child was ready."""


def wait_ready(
    children: Sequence[Child],
    *,
    interrupted: Callable[[], bool] = lambda: False,
    on_ready: Callable[[Child], None] = lambda _: None,
) -> None:
    """Ticks until every child is ready, or is not required and is hopeless; calls `on_ready` for
    each that is ready, as it becomes so. Raises `ChildFailed` once a required child is hopeless: it
    has failed three times, or twice in the same way. Raises `StartInterrupted`.
    """
    reported = list[Child]()
    while True:
        for child in children:
            if child.state == "ready" and child not in reported:
                reported.append(child)
                on_ready(child)
        if all(child.state == "ready" or _is_given_up(child) for child in children):
            return
        if interrupted():
            raise StartInterrupted("stopped before everything was ready")
        for child in children:
            child.tick()
            child.raise_if_hopeless(_TRIES)
        time.sleep(_PAUSE_S)


def _is_given_up(child: Child) -> bool:
    return not child.spec.required and child.is_hopeless(_TRIES)


def stop_in_order(waves: Iterable[Sequence[Child]]) -> None:
    """Stops one wave after another; the children of one wave stop concurrently."""
    for wave in waves:
        for child in wave:
            child.signal_stop()
        for child in wave:
            child.wait_stopped()
