"""The outcome of one step before it is committed: plain data from a loop to the reporter."""

from dataclasses import dataclass, field
from typing import Any

from app.domain.rollouts.trajectory import ScoredRollout


@dataclass(slots=True)
class StepOutcome:
    step: int
    train_rollouts: list[ScoredRollout] = field(default_factory=list)
    valid_rollouts: list[ScoredRollout] = field(default_factory=list)
    train_values: dict[str, float] = field(default_factory=dict)
    """Curve values of the training split, by name."""
    valid_values: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    """Messages for the job's events, beside those with the step's figures."""
    trained_tokens: int = 0
    scheduler_state: dict[str, Any] | None = None
    """The scheduler's state for the next step, as JSON; committed with the step."""
    probe: list[int] = field(default_factory=list)
    """Tokens that engine and trainer are compared on, where there are no rollouts."""
    adapter_key: str | None = None
    state_key: str | None = None
    engine_name: str | None = None
    """The adapter's name in the engine."""
