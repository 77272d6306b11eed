"""The state of the service's parts, as its readiness reports it."""

from dataclasses import dataclass
from typing import Final, Literal

PartName = Literal["database", "disk", "broker", "worker", "engine", "sandbox"]
REQUIRED: Final[frozenset[PartName]] = frozenset({"database", "disk"})
"""Parts without which no request can be served. Without the others the API still accepts jobs,
which wait, and answers everything but calls of a model.
"""


@dataclass(frozen=True, slots=True)
class PartHealth:
    ok: bool
    problem: str | None = None
    """The fault, without addresses and paths: readiness needs no key."""
    detail: str | None = None
    """Details of a part that works: the layers of the sandbox."""


@dataclass(frozen=True, slots=True)
class Health:
    parts: dict[PartName, PartHealth]

    @property
    def ready(self) -> bool:
        return not self.missing

    @property
    def missing(self) -> list[PartName]:
        """The required parts that have a problem."""
        return [name for name, part in self.parts.items() if name in REQUIRED and not part.ok]

    @property
    def degraded(self) -> bool:
        """True while any part has a problem."""
        return not all(part.ok for part in self.parts.values())
