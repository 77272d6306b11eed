"""The contract test of an HTTP environment: its plan, its calls, its report. Pure data."""

from dataclasses import dataclass, field
from typing import Any

from app.domain.tools.contract import CheckReport


@dataclass(frozen=True, slots=True)
class EnvironmentPlan:
    """An episode of one turn."""

    task: dict[str, Any] = field(default_factory=dict)
    """The row; its `messages` precede those of the environment."""
    seed: int = 0
    content: str | None = None
    """Text of the turn; `None`: generated, or empty beside calls."""
    tool_calls: tuple[tuple[str, str], ...] | None = None
    """Name and arguments of each call; `None`: one of the first offered tool."""


@dataclass(frozen=True, slots=True)
class EpisodeCall:
    """One call of the test, with its answer."""

    call: str
    """`reset`, `step`, `step again` or `close`."""
    sent: dict[str, Any]
    status: int | None
    """`None` where there was no answer."""
    answered: str | None
    """The beginning of the answer's body."""
    latency_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentReport(CheckReport):
    environment_id: str
    version: int
    name: str
    url: str
    exchanges: tuple[EpisodeCall, ...]
