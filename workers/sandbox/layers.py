"""The layers of protection: which of them this machine has, and their order in a program's process.

Promises: a layer counts only if a trial succeeded; a process that cannot apply such a layer ends
before it reads a program.
"""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, assert_never

from app.domain.sandbox.layers import ALWAYS, LAYERS, Layer
from workers.sandbox import landlock, namespaces, seccomp
from workers.sandbox.kernel import set_parent_death_signal
from workers.sandbox.privileges import drop_privileges, limit_resources, switch_user

_TRIED_UID: Final = 60_800


@dataclass(frozen=True, slots=True)
class Protection:
    """The layers around each program, with their limits."""

    layers: frozenset[Layer]
    memory_bytes: int
    """Limit of the whole address space, the interpreter's own included."""
    seconds: float
    first_uid: int

    def confine(self, slot: int) -> None:
        """Applies the layers to this process, which runs the program of a slot. Raises `OSError`.

        `namespaces` surround it already.
        """
        limit_resources(memory_bytes=self.memory_bytes, seconds=self.seconds)
        if "own_user" in self.layers:
            switch_user(self.first_uid + slot)
        set_parent_death_signal(signal.SIGKILL)  # a change of user clears it, so not before
        drop_privileges()
        if "landlock" in self.layers:
            landlock.restrict()
        if "seccomp" in self.layers:
            seccomp.install()


def available(without: frozenset[str], *, first_uid: int = _TRIED_UID) -> frozenset[Layer]:
    """Returns the layers that work on this machine, except those that the caller leaves out."""
    return frozenset(
        layer
        for layer in LAYERS
        if layer in ALWAYS
        or (layer not in without and _succeeds(partial(_try, layer, first_uid=first_uid)))
    )


def _try(layer: Layer, *, first_uid: int) -> None:
    """Applies one layer to this process. Raises `OSError`."""
    match layer:
        case "limits" | "privileges":
            pass  # every kernel has them
        case "own_user":
            switch_user(first_uid)
        case "namespaces":
            _try_namespaces()
        case "landlock":
            _try_landlock()
        case "seccomp":
            _try_seccomp()
        case _:
            assert_never(layer)


def _succeeds(attempt: Callable[[], None]) -> bool:
    """Tries a layer in a separate process, because it cannot be removed again."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            attempt()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


def _try_namespaces() -> None:
    namespaces.enter_namespaces()
    namespaces.enter_for_one()
    if not _succeeds(lambda: None) or os.listdir("/"):  # noqa: PTH208 - no pathlib in this small interpreter
        raise OSError("the namespaces are not empty")


def _try_landlock() -> None:
    drop_privileges()
    landlock.restrict()
    _must_fail(lambda: os.listdir("/"))  # noqa: PTH208 - no pathlib in this small interpreter


def _try_seccomp() -> None:
    drop_privileges()
    seccomp.install()
    _must_fail(os.getcwd)  # a call that is not in the list


def _must_fail(act: Callable[[], object]) -> None:
    try:
        act()
    except PermissionError:
        return
    raise OSError("the layer has no effect")
