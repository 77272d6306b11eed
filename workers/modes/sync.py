"""The sync mode: sample the whole step, train on it, publish. The correctness oracle.

Every rollout of a step is sampled from the policy the previous step published, so the step is
exactly on-policy.
"""

import asyncio
import math
import time
from collections.abc import Sequence

from app.domain import metrics as names
from app.domain.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.trajectory import ScoredRollout
from workers.learning.advantages import group_advantages
from workers.learning.samples import TrainingSample
from workers.learning.shaping import ShapingConfig, shape
from workers.learning.trainer import Trainer
from workers.modes.outcome import StepOutcome
from workers.rollout.journal import Journal
from workers.rollout.policy import Policy
from workers.rollout.runner import RolloutRoom, run_rollouts


def groups_of(
    rollouts: Sequence[ScoredRollout],
) -> dict[int, list[ScoredRollout]]:
    """Rollouts by prompt, in order."""
    groups: dict[int, list[ScoredRollout]] = {}
    for rollout in rollouts:
        groups.setdefault(rollout.key.prompt_index, []).append(rollout)
    return groups


def training_samples(
    rollouts: Sequence[ScoredRollout], *, min_group_share: float, shaping: ShapingConfig
) -> tuple[list[TrainingSample], dict[str, float]]:
    """Advantages per rollout, group by group; returns what may train and the group counts."""
    samples: list[TrainingSample] = []
    counts = {"trained": 0, "zero_variance": 0, "masked": 0}
    for group in groups_of(rollouts).values():
        rewards = [rollout.reward for rollout in group]
        outcome = group_advantages(
            rewards,
            min_valid=math.ceil(min_group_share * len(group)),
            objective=[_objective(rollout, shaping) for rollout in group],
        )
        counts[outcome.status] += 1
        for rollout, advantage in zip(group, outcome.advantages, strict=True):
            if advantage is not None:
                samples.append(TrainingSample.of(rollout.trajectory, advantage))
    return samples, {
        names.GROUPS_TRAINED: float(counts["trained"]),
        names.GROUPS_ZERO_VARIANCE: float(counts["zero_variance"]),
        names.GROUPS_MASKED: float(counts["masked"]),
    }


def _objective(rollout: ScoredRollout, shaping: ShapingConfig) -> float | None:
    return None if rollout.reward is None else shape(rollout.reward, rollout.trajectory, shaping)


class SyncMode:
    def __init__(
        self,
        room: RolloutRoom,
        trainer: Trainer,
        *,
        min_group_share: float,
        shaping: ShapingConfig,
    ) -> None:
        self._room = room
        self._trainer = trainer
        self._min_group_share = min_group_share
        self._shaping = shaping

    async def sample(
        self,
        step: int,
        wanted: Sequence[tuple[DatasetRow, SampleKey]],
        *,
        policy: Policy,
        journal: Journal,
    ) -> StepOutcome:
        started = time.perf_counter()
        rollouts = await run_rollouts(self._room, wanted, policy=policy, journal=journal)
        outcome = StepOutcome(step=step, train_rollouts=rollouts)
        outcome.train_values[names.TIME_SAMPLING] = time.perf_counter() - started
        return outcome

    async def train(self, outcome: StepOutcome) -> None:
        """One optimizer step on what was sampled; a step with nothing to learn from trains none."""
        started = time.perf_counter()
        samples, counts = training_samples(
            outcome.train_rollouts, min_group_share=self._min_group_share, shaping=self._shaping
        )
        outcome.train_values.update(counts)
        if samples:
            stats = await asyncio.to_thread(self._trainer.update, samples)
            outcome.train_values.update(stats)
        outcome.trained_tokens = sum(sum(sample.mask) for sample in samples)
        outcome.train_values[names.TIME_TRAINING] = time.perf_counter() - started
