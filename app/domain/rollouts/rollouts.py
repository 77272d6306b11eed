"""The row of a rollout, which was scored, or discarded with a reason, exactly once."""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from app.domain.errors import InvalidRequest
from app.domain.ids import Split
from app.domain.rollouts.trajectory import FailureClass, StopReason

RolloutOrder = Literal["step", "reward"]
"""`step`: by split, step, row, sample and attempt. `reward`: graded rollouts, by reward first."""
PassKind = Literal["never", "sometimes", "always"]
"""The share of a row's graded rollouts that pass, in a word."""
PASS_KINDS: Final[tuple[PassKind, ...]] = get_args(PassKind)


@dataclass(frozen=True, slots=True)
class RolloutRow:
    id: str
    project_id: str
    job_id: str
    split: Split
    step: int
    prompt_index: int
    sample_index: int
    attempt: int
    trace_id: str
    reward: float | None
    failure_class: str | None
    failure_message: str | None
    stop_reason: str | None
    policy_version: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    tool_calls: int
    components: dict[str, float]
    trace: dict[str, Any]
    started_at: float
    """Unix seconds."""
    finished_at: float

    @property
    def advantage(self) -> float | None:
        """The advantage that it was trained with."""
        return self.trace.get("advantage")

    @property
    def shaped_reward(self) -> float | None:
        """The reward less all terms of the job's objective, from which advantages are computed."""
        return self.trace.get("shaped_reward")


@dataclass(frozen=True, slots=True)
class RolloutCursor:
    """Position of a rollout in the order `step`; it stays valid after the row is deleted."""

    split: str
    step: int
    prompt_index: int
    sample_index: int
    attempt: int

    @classmethod
    def of(cls, row: RolloutRow) -> "RolloutCursor":
        return cls(row.split, row.step, row.prompt_index, row.sample_index, row.attempt)


@dataclass(frozen=True, slots=True)
class RowMean:
    """Means over the rollouts of one row at one step."""

    prompt_index: int
    step: int
    rollouts: int
    graded: int
    reward: float | None
    """Mean over graded rollouts; `None` when all were lost."""
    tool_calls: float | None
    """Mean over graded rollouts."""
    deviation: float | None
    """Standard deviation of the graded rewards around their mean."""
    lowest: float | None
    """Lowest reward."""
    highest: float | None
    """Highest reward."""
    completion_tokens: float | None
    """Mean over graded rollouts."""
    duration_s: float | None
    """Mean over graded rollouts, from the first turn to the score."""


@dataclass(frozen=True, slots=True)
class PlayedRow:
    """The reward of one training rollout of a row; `None` for a lost one."""

    prompt_index: int
    reward: float | None


@dataclass(frozen=True, slots=True)
class PassCount:
    """Number of graded rollouts of one row at one step, and of those that reached a given
    reward.
    """

    prompt_index: int
    step: int
    graded: int
    passed: int

    @property
    def share(self) -> float | None:
        return self.passed / self.graded if self.graded else None

    @property
    def kind(self) -> PassKind:
        return pass_kind(self.passed, self.graded)


def pass_kind(passed: int, graded: int) -> PassKind:
    """Returns the kind of a row, or of a row at one step, from its numbers of rollouts."""
    if not passed:
        return "never"
    return "always" if passed == graded else "sometimes"


@dataclass(frozen=True, slots=True)
class RolloutFilter:
    """Conditions on rollouts; `None` sets no condition. A lost rollout meets no condition on the
    reward.
    """

    split: Split | None = None
    step: int | None = None
    prompt_index: int | None = None
    min_reward: float | None = None
    max_reward: float | None = None
    stop_reason: StopReason | None = None
    failure_class: FailureClass | None = None
    failed: bool | None = None
    """True for rollouts that were lost to a failure, false for the others."""
    tool: str | None = None
    """Name of a tool that was called, at least once."""
    repeated_call: bool | None = None
    """True for rollouts that called a tool again with the same arguments, false for the others."""

    def check(self, order_by: RolloutOrder) -> None:
        """Raises `InvalidRequest` for contradictory conditions."""
        if (
            self.min_reward is not None
            and self.max_reward is not None
            and self.min_reward > self.max_reward
        ):
            raise InvalidRequest(
                f"'min_reward' ({self.min_reward:g}) is above 'max_reward' ({self.max_reward:g}).",
                param="min_reward",
                code="invalid_value",
            )
        by_reward = order_by == "reward" or (self.min_reward, self.max_reward) != (None, None)
        lost = "failure_class" if self.failure_class is not None else "failed"
        if (self.failure_class is not None or self.failed) and by_reward:
            raise InvalidRequest(
                f"A rollout that was lost to a failure has no reward: send '{lost}' without "
                "'min_reward', 'max_reward' and 'order_by=reward'.",
                param=lost,
                code="invalid_value",
            )
        if self.failure_class is not None and self.failed is False:
            raise InvalidRequest(
                "'failure_class' and 'failed=false' exclude each other: send one of them.",
                param="failed",
                code="invalid_value",
            )
