"""Programs of the sandbox and its layers. Pure and small: the interpreter from which customers'
code is forked imports it too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

Layer = Literal["limits", "privileges", "own_user", "namespaces", "landlock", "seccomp"]
LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)
"""The layers, in the order in which a child applies them.

- `limits`: rlimits of memory, processor time, processes, files and their sizes
- `privileges`: no capabilities and no way to gain any (`PR_SET_NO_NEW_PRIVS`), no core dump, no
  tracer
- `own_user`: a user of its own for each program that runs; only where the runner starts as root
- `namespaces`: an empty root directory, no network, processes and shared memory of its own
- `landlock`: no path of the file system, no TCP port, no signal to others
- `seccomp`: only the system calls that computing needs"""
ALWAYS: Final[frozenset[Layer]] = frozenset({"limits", "privileges"})
"""Layers that every Linux kernel has."""


@dataclass(frozen=True, slots=True)
class ProtectionLevel:
    layers: tuple[Layer, ...]
    modules: tuple[str, ...]
    """Modules that programs can import, beside those built into the interpreter."""

    @property
    def names(self) -> str:
        return ", ".join(self.layers)


MAX_PROGRAM: Final = 16 * 1024**2
MAX_REPLY: Final = 1024**2

End = Literal["replied", "time_limit", "output_limit", "crashed"]


@dataclass(frozen=True, slots=True)
class FunctionCall:
    source: str
    function: str
    arguments: tuple[Any, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "call",
            "source": self.source,
            "function": self.function,
            "arguments": list(self.arguments),
        }


@dataclass(frozen=True, slots=True)
class Script:
    source: str
    stdin: str

    def to_json(self) -> dict[str, Any]:
        return {"kind": "script", "source": self.source, "stdin": self.stdin}


Program = FunctionCall | Script


@dataclass(frozen=True, slots=True)
class ProgramOutcome:
    how: End
    reply: str
    """JSON that the program wrote; never to be trusted. Empty unless `how` is `replied`."""
    detail: str
    elapsed_s: float
    waited_s: float = 0.0

    @classmethod
    def read(cls, sent: Mapping[str, Any]) -> "ProgramOutcome":
        return cls(**sent)
