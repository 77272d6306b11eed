"""Usage of a job so far, and the caps at which it pauses. Pure.

Usage is added up with each committed step, so a killed worker neither loses nor repeats any of it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Usage:
    """Amounts of a job, or of the part of it that one commit adds. Times in seconds."""

    training_time_s: float = 0.0
    """Wall time of the run: from a claim or commit to the next commit, including all work. The cap
    of the same name limits it, and the price is per hour of it.
    """
    sampling_time_s: float = 0.0
    """Part of the time: training rollouts with their tools and graders."""
    update_time_s: float = 0.0
    """Part of the time: the optimizer."""
    evaluation_time_s: float = 0.0
    """Part of the time: validations, the base model's included."""
    rollouts: int = 0
    """Training and validation rollouts, discarded ones included."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tool_calls: int = 0
    grader_calls: int = 0
    """Scores of graders; each child of a `multi` grader counts."""
    trained_tokens: int = 0
    gpu_seconds: float = 0.0
    """`training_time_s` × accelerators of the trainer; 0 on a machine without one."""
    estimated_cost: float | None = None
    """Cost in `currency`; `None` while the operator has set no price."""
    currency: str | None = None
    model_graders: dict[str, dict[str, float]] = field(default_factory=dict)
    """Tokens of model graders, by model."""

    def plus(self, other: "Usage") -> "Usage":
        """Returns the sum. A later price changes no earlier cost."""
        amounts = {
            name: getattr(self, name) + getattr(other, name)
            for name in (field.name for field in fields(self))
            if name not in ("estimated_cost", "currency", "model_graders")
        }
        return Usage(
            **amounts,
            estimated_cost=_sum(self.estimated_cost, other.estimated_cost),
            currency=other.currency or self.currency,
            model_graders=_merged(self.model_graders, other.model_graders),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Usage":
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in stored.items() if name in known})


def _sum(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return first if second is None else second
    return first + second


def _merged(
    first: dict[str, dict[str, float]], second: dict[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    merged = {model: dict(tokens) for model, tokens in first.items()}
    for model, tokens in second.items():
        target = merged.setdefault(model, {})
        for kind, count in tokens.items():
            target[kind] = target.get(kind, 0.0) + count
    return merged


@dataclass(frozen=True, slots=True)
class ReachedCap:
    name: str
    reason: str
    """The cap as text, with its name."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits at which a job pauses; `None` sets no cap."""

    max_training_time_s: float | None = None
    max_rollouts: int | None = None

    def reached(self, usage: Usage | None) -> "ReachedCap | None":
        """Returns the cap that prevents another step; `None` if there is none."""
        if usage is None:
            return None
        if self.max_rollouts is not None and usage.rollouts >= self.max_rollouts:
            reason = f"max_rollouts of {self.max_rollouts:,} is reached ({usage.rollouts:,} used)"
            return ReachedCap("max_rollouts", reason)
        limit = self.max_training_time_s
        if limit is not None and usage.training_time_s >= limit:
            used = f"{usage.training_time_s:,.1f} used"
            reason = f"max_training_time_s of {limit:,g} is reached ({used})"
            return ReachedCap("max_training_time_s", reason)
        return None

    def raised(self, other: "Caps") -> "Caps":
        """Returns the caps, replaced by those that `other` sets."""
        return Caps(
            self.max_training_time_s
            if other.max_training_time_s is None
            else other.max_training_time_s,
            self.max_rollouts if other.max_rollouts is None else other.max_rollouts,
        )


NO_CAPS: Final = Caps()
