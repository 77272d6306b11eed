"""The layers around a program of the sandbox, and the protection that a running sandbox has.

Pure and small, because the interpreter from which customers' code is forked imports it too.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

Layer = Literal["limits", "privileges", "own_user", "namespaces", "landlock", "seccomp"]
LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)
"""The layers, in the order in which a child applies them.

- `limits`: rlimits of memory, processor time, processes, files and their sizes
- `privileges`: no capabilities and no way to gain any (`PR_SET_NO_NEW_PRIVS`), no core dump, no
  tracer
- `own_user`: a user of its own for each program that runs; only where the runner starts as root
- `namespaces`: an empty root directory, no network, processes and shared memory of its own
- `landlock`: no path of the file system, no TCP port, no signal to others
- `seccomp`: only the system calls that computing needs
"""
ALWAYS: Final[frozenset[Layer]] = frozenset({"limits", "privileges"})
"""Layers that every Linux kernel has."""


@dataclass(frozen=True, slots=True)
class ProtectionLevel:
    """The protection of a running sandbox: layers that were tried on this machine."""

    layers: tuple[Layer, ...]
    modules: tuple[str, ...]
    """Modules that programs can import, beside those built into the interpreter."""

    @property
    def names(self) -> str:
        """The layers as a text."""
        return ", ".join(self.layers)
