"""What a run uses, measured at its commits: the step's own counts, and the wall clock between them.

A commit takes a reading and, once it is durable, starts the next one. A killed worker's reading is
lost with the work it belongs to, which the next claim does and measures again.
"""

import time
from typing import Any, Final

from app.domain.graders import entries as grader_entries
from app.domain.jobs.usage import Usage
from app.domain.rollouts import metrics as names
from app.settings import PricingSettings
from workers.runs.step_outcome import StepOutcome

_HOUR_S: Final = 3600.0


class Meter:
    def __init__(self, pricing: PricingSettings, grader: dict[str, Any]) -> None:
        self._pricing = pricing
        self._grader = grader
        self._since = time.monotonic()
        self.accelerators = 0
        """Held by the trainer; known once it is built."""

    def start(self) -> None:
        """From here on time counts: the run begins, or a commit is durable."""
        self._since = time.monotonic()

    def reading(self, outcome: StepOutcome | None = None) -> Usage:
        """What was used since the last start, by `outcome` where a step was done."""
        elapsed_s = time.monotonic() - self._since
        price = self._pricing.per_hour
        usage = Usage(
            training_time_s=elapsed_s,
            gpu_seconds=elapsed_s * self.accelerators,
            estimated_cost=None if price is None else elapsed_s / _HOUR_S * price,
            currency=None if price is None else self._pricing.currency,
        )
        return usage if outcome is None else usage.plus(self._counts(outcome))

    def _counts(self, outcome: StepOutcome) -> Usage:
        rollouts = [*outcome.train_rollouts, *outcome.valid_rollouts]
        trajectories = [rollout.trajectory for rollout in rollouts]
        train = outcome.train_values
        return Usage(
            sampling_time_s=train.get(names.TIME_SAMPLING, 0.0),
            update_time_s=train.get(names.TIME_TRAINING, 0.0),
            evaluation_time_s=train.get(names.TIME_EVAL, 0.0),
            rollouts=len(rollouts),
            prompt_tokens=sum(one.prompt_tokens for one in trajectories),
            completion_tokens=sum(one.completion_tokens for one in trajectories),
            tool_calls=sum(len(one.tool_calls) for one in trajectories),
            trained_tokens=outcome.trained_tokens,
            model_graders=grader_entries.usage_by_model(self._grader, train, outcome.valid_values),
        )
