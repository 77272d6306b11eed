"""The scheduler of sampling and training decides when, never a sample's gradient or a commit."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from statistics import fmean
from typing import Any

from typing_extensions import override

from app.files.datasets import DatasetRow
from app.kit.errors import first_fault, together
from app.kit.ids import GroupKey, SampleKey
from app.rollouts import metrics as names
from app.rollouts.trajectory import ScoredRollout
from workers.compute import run_on_compute_thread
from workers.journal import Journal
from workers.learning.advantages import (
    BATCH_STD,
    GroupOutcome,
    GroupStatus,
    RewardGroup,
    ShapedReward,
    ShapingConfig,
    order_equals,
    shape,
    step_advantages,
)
from workers.learning.trainer import Trainer, TrainingSample, UpdateStats
from workers.methods.reinforcement.step_summary import SampledStep, summarise
from workers.rollout.environment import BusyClock, IdleShare, Policy, VersionedPolicy
from workers.rollout.episode import RolloutSetup, ScoredGroup, run_group


@dataclass(frozen=True, slots=True)
class GroupConfig:
    min_group_share: float
    shaping: ShapingConfig
    estimator: str = "centred"
    """A name in `workers.learning.advantages`."""


@dataclass(frozen=True, slots=True)
class PreparedGroup:
    scored: ScoredGroup
    advantages: Sequence[float | None]
    """Parallel to the rollouts; `None` for one that trains nothing."""
    samples: list[TrainingSample]
    """The rows of its rollouts that train something, in their order."""
    status: GroupStatus
    shaped: Sequence[ShapedReward | None]
    """Parallel to the rollouts; `None` for a failed one."""
    logprobs: Sequence[Sequence[float] | None] = ()

    @property
    def trained_rollouts(self) -> list[ScoredRollout]:
        """The rollouts with the values that they were trained on."""
        rows = zip(self.samples, self.logprobs or [None] * len(self.samples), strict=True)
        return [
            replace(
                rollout,
                advantage=advantage,
                shaped_reward=None if shaped is None else shaped.value,
                trainer_logprobs=None if advantage is None else _rollout_logprobs(rollout, rows),
            )
            for rollout, advantage, shaped in zip(
                self.scored.rollouts, self.advantages, self.shaped, strict=True
            )
        ]


def _rollout_logprobs(
    rollout: ScoredRollout, rows: Iterator[tuple[TrainingSample, Sequence[float] | None]]
) -> list[float | None] | None:
    own = list(islice(rows, len(rollout.trajectory.sampled_rows)))
    if all(logprobs is None for _, logprobs in own):
        return None
    return [
        value
        for sample, logprobs in own
        for value in ([None] * sample.trained_tokens if logprobs is None else logprobs)
    ]


def prepare(group: ScoredGroup, config: GroupConfig) -> PreparedGroup:
    # An estimator that divides by the step's deviation waits for the step: see `settled_groups`.
    estimator = "centred" if config.estimator == BATCH_STD else config.estimator
    shaped = order_equals([_shaped(rollout, config.shaping) for rollout in group.rollouts])
    rewards = _rewards(group, shaped, config)
    (outcome,) = step_advantages([rewards], estimator=estimator)
    return _prepared(group, outcome, shaped)


def settled_groups(groups: Sequence[PreparedGroup], config: GroupConfig) -> list[PreparedGroup]:
    """Returns the groups of a whole step with the advantages that train, once all are finished."""
    if config.estimator != BATCH_STD:
        return list(groups)
    outcomes = step_advantages(
        [_rewards(group.scored, group.shaped, config) for group in groups], estimator=BATCH_STD
    )
    return [
        _prepared(group.scored, outcome, group.shaped)
        for group, outcome in zip(groups, outcomes, strict=True)
    ]


def _prepared(
    group: ScoredGroup, outcome: GroupOutcome, shaped: Sequence[ShapedReward | None]
) -> PreparedGroup:
    samples = [
        sample
        for rollout, advantage in zip(group.rollouts, outcome.advantages, strict=True)
        if advantage is not None
        for sample in TrainingSample.of_rollout(rollout.trajectory, advantage)
    ]
    return PreparedGroup(group, outcome.advantages, samples, outcome.status, shaped)


def rollouts_of(groups: Sequence[PreparedGroup]) -> list[ScoredRollout]:
    return [rollout for group in groups for rollout in group.scored.rollouts]


def samples_of(groups: Sequence[PreparedGroup]) -> list[TrainingSample]:
    return [sample for group in groups for sample in group.samples]


def tokens_of_equals(groups: Sequence[PreparedGroup]) -> int:
    """Returns the sampled tokens of graded rollouts in groups of equal rewards: an advantage of 0
    is as much a result as any other, so that the step is divided by them too.
    """
    return sum(
        rollout.trajectory.completion_tokens
        for group in groups
        if group.status == "zero_variance"
        for rollout in group.scored.rollouts
        if rollout.reward is not None
    )


def with_logprobs(
    groups: Sequence[PreparedGroup], logprobs: Sequence[Sequence[float] | None]
) -> list[PreparedGroup]:
    """`logprobs` are parallel to all samples of the groups in their order."""
    if len(logprobs) != len(samples_of(groups)):
        raise ValueError("the trainer's log-probs must be parallel to the samples of the step")
    rows = iter(logprobs)
    return [replace(group, logprobs=list(islice(rows, len(group.samples)))) for group in groups]


def group_counts(groups: Sequence[PreparedGroup]) -> dict[str, float]:
    counts = Counter(group.status for group in groups)
    return {
        names.GROUPS_TRAINED: float(counts["trained"]),
        names.GROUPS_ZERO_VARIANCE: float(counts["zero_variance"]),
        names.GROUPS_MASKED: float(counts["masked"]),
    }


def objective_means(groups: Sequence[PreparedGroup]) -> dict[str, float]:
    """Returns curve values: the mean shaped reward of graded rollouts, and of each of its terms."""
    rewards = [shaped for group in groups for shaped in group.shaped if shaped is not None]
    if not rewards:
        return {}
    return {
        names.OBJECTIVE_MEAN: fmean(reward.value for reward in rewards),
        **{
            names.objective_metric(term): fmean(getattr(reward, term) for reward in rewards)
            for term in names.OBJECTIVE_TERMS
        },
    }


def _rewards(
    group: ScoredGroup, shaped: Sequence[ShapedReward | None], config: GroupConfig
) -> RewardGroup:
    return RewardGroup(
        group.rewards,
        min_valid=group.min_valid(config.min_group_share),
        objective=[None if reward is None else reward.value for reward in shaped],
        distinctions=[None if reward is None else reward.distinction for reward in shaped],
    )


def _shaped(rollout: ScoredRollout, shaping: ShapingConfig) -> ShapedReward | None:
    return None if rollout.reward is None else shape(rollout.reward, rollout.trajectory, shaping)


@dataclass(frozen=True, slots=True)
class SchedulerContext:
    setup: RolloutSetup
    trainer: Trainer
    policy: VersionedPolicy
    group_config: GroupConfig
    sampler_clock: BusyClock = field(default_factory=BusyClock)

    async def prepared_group(
        self,
        row: DatasetRow,
        keys: Sequence[SampleKey],
        *,
        policy: Policy,
        journal: Journal,
        on_finished: Callable[[], None] = lambda: None,
    ) -> PreparedGroup:
        group = await run_group(
            self.setup, row, keys, policy=policy, journal=journal, on_finished=on_finished
        )
        return prepare(group, self.group_config)

    async def scored_by_trainer(self, groups: Sequence[PreparedGroup]) -> list[PreparedGroup]:
        """Call it once they are trained, in the order in which the trainer received them."""
        logprobs = await run_on_compute_thread(self.trainer.trained_logprobs)
        return with_logprobs(groups, logprobs)


@dataclass(frozen=True, slots=True)
class PromptSchedule:
    job_id: str
    group_size: int
    total_steps: int
    rows: Callable[[int], Sequence[DatasetRow]]
    """Every call returns the same; known once a mode may sample the step."""
    size: Callable[[int], int]
    journal: Callable[[int], Awaitable[Journal]]
    """Returns the journal that is kept until the given step is committed."""
    check: Callable[[Sequence[ScoredRollout]], None]
    """Raises `RunFailed` when too many rollouts of a step were lost to train on the rest."""
    within_caps: Callable[[int], bool] = lambda _step: True
    """Sampling ahead for a step that never begins would call tools and graders for nothing."""
    committed_step: int = 0
    scheduler_state: dict[str, Any] | None = None

    def keys(self, row: DatasetRow, step: int, attempt: int = 0) -> list[SampleKey]:
        return GroupKey(self.job_id, "train", step, row.index, attempt).samples(self.group_size)


class Mode:
    def __init__(self, context: SchedulerContext) -> None:
        self._context = context
        self._schedule: PromptSchedule
        # Idle shares run from the end of one step to the end of the next, so that publishing and
        # committing count as time in which nothing is trained.
        self._trainer_clock = BusyClock()
        self._trainer_idle = IdleShare(self._trainer_clock)
        self._sampler_idle = IdleShare(context.sampler_clock)

    async def start(self, schedule: PromptSchedule) -> None:
        self._schedule = schedule

    async def step(self, step: int) -> SampledStep:
        """Samples and trains one step. Raises what `PromptSchedule.check` and rollouts raise."""
        raise NotImplementedError

    async def on_step_committed(self, step: int) -> None:
        """Called once the step is durable and its version served."""

    async def _trained(
        self, groups: list[PreparedGroup]
    ) -> tuple[list[PreparedGroup], UpdateStats]:
        """Makes one update on the samples of a whole step; none if there are none. Returns the
        groups as the trainer scored them, and the update's statistics.
        """
        self._schedule.check(rollouts_of(groups))
        started = time.perf_counter()
        groups = settled_groups(groups, self._context.group_config)
        stats: UpdateStats = {}
        if samples := samples_of(groups):
            with self._trainer_clock:
                stats = await run_on_compute_thread(
                    self._context.trainer.update, samples, tokens_of_equals(groups)
                )
                groups = await self._context.scored_by_trainer(groups)
        return groups, {**stats, names.TIME_TRAINING: time.perf_counter() - started}

    async def close(self) -> None:
        """Stops all running work; also called after a fault."""

    def _sampled_step(
        self,
        step: int,
        groups: Sequence[PreparedGroup],
        *,
        values: Mapping[str, float],
        ages: Sequence[int] = (),
        scheduler_state: dict[str, Any] | None = None,
    ) -> SampledStep:
        """`values` are the mode's own. `ages`, in versions, one for each group; 0 without them."""
        rollouts = rollouts_of(groups)
        tokens = sum(sample.trained_tokens for sample in samples_of(groups))
        divisor = tokens + tokens_of_equals(groups) if tokens else 0
        rollout_ages = [
            age
            for group, age in zip(groups, ages or [0] * len(groups), strict=True)
            for _ in group.scored.rollouts
        ]
        return SampledStep(
            step,
            {
                **summarise(rollouts),
                **group_counts(groups),
                **objective_means(groups),
                **values,
                names.TRAINED_TOKENS: float(divisor),
                names.STALENESS_MEAN: fmean(rollout_ages) if rollout_ages else 0.0,
                names.STALENESS_MAX: float(max(rollout_ages, default=0)),
                names.TRAINER_IDLE_SHARE: self._trainer_idle.read(),
                names.SAMPLER_IDLE_SHARE: self._sampler_idle.read(),
            },
            trained_tokens=tokens,
            probe=rollouts[0].trajectory.row.tokens if rollouts else (),
            scheduler_state=scheduler_state,
            rollouts=[rollout for group in groups for rollout in group.trained_rollouts],
        )


class SyncMode(Mode):
    """Samples the whole step, trains on it, publishes: the correctness oracle. The samples of a
    group are computed as soon as it is finished, beside the sampling of the others. The gradient is
    taken over the whole step in the step's own order, so a step is identical to the bit whichever
    group finished first.
    """

    @override
    async def step(self, step: int) -> SampledStep:
        started = time.perf_counter()
        groups = await self._sample(step)
        sampled = time.perf_counter()
        groups, stats = await self._trained(groups)
        values = {names.TIME_SAMPLING: sampled - started, **stats}
        return self._sampled_step(step, groups, values=values)

    async def _sample(self, step: int) -> list[PreparedGroup]:
        journal = await self._schedule.journal(step)
        return await together(
            self._context.prepared_group(
                row, self._schedule.keys(row, step), policy=self._context.policy, journal=journal
            )
            for row in self._schedule.rows(step)
        )


Arrival = tuple[int, PreparedGroup]
Arrivals = asyncio.Queue[Arrival]
"""The queue is unbounded: the step bounds it."""


class StreamingMode(Mode):
    """Trains on the groups that are finished while the others are still sampled. A step is cut into
    `minibatches` parts; whenever enough groups for a part have finished, in whatever order, their
    gradient sum is added. The optimizer steps once, after the last part, and divides by the trained
    tokens of the whole step: the sizes of the parts carry no weight. Groups that train nothing fill
    their part like others. Sums are added in the order of arrival, which differs from run to run,
    so two runs agree up to rounding and not to the bit.
    """

    def __init__(self, context: SchedulerContext, *, minibatches: int) -> None:
        super().__init__(context)
        self._minibatches = minibatches

    @override
    async def step(self, step: int) -> SampledStep:
        rows = self._schedule.rows(step)
        arrivals: Arrivals = asyncio.Queue()
        with first_fault():
            async with asyncio.TaskGroup() as tasks:
                sampling = tasks.create_task(self._sample(rows, step, arrivals))
                training = tasks.create_task(self._train(len(rows), arrivals))
        arrived, training_s = training.result()
        self._schedule.check(rollouts_of(_in_order(arrived)))
        started = time.perf_counter()
        with self._trainer_clock:
            stats = await run_on_compute_thread(
                self._context.trainer.step, tokens_of_equals([group for _, group in arrived])
            )
            scored = await self._context.scored_by_trainer([group for _, group in arrived])
        positions = [position for position, _ in arrived]
        groups = _in_order(list(zip(positions, scored, strict=True)))
        values = {
            **(stats if samples_of(groups) else {}),
            names.TIME_SAMPLING: sampling.result(),
            names.TIME_TRAINING: training_s + time.perf_counter() - started,
        }
        return self._sampled_step(step, groups, values=values)

    async def _sample(self, rows: Sequence[DatasetRow], step: int, arrivals: Arrivals) -> float:
        started = time.perf_counter()
        journal = await self._schedule.journal(step)

        async def sample_group(position: int, row: DatasetRow) -> None:
            group = await self._context.prepared_group(
                row, self._schedule.keys(row, step), policy=self._context.policy, journal=journal
            )
            arrivals.put_nowait((position, group))

        await together(sample_group(position, row) for position, row in enumerate(rows))
        return time.perf_counter() - started

    async def _train(self, count: int, arrivals: Arrivals) -> tuple[list[Arrival], float]:
        """Groups in the order of their training, those of a part in the step's, and the seconds."""
        arrived: list[Arrival] = []
        training_s = 0.0
        parts = min(self._minibatches, count)
        for part in range(parts):
            size = count * (part + 1) // parts - len(arrived)
            minibatch = sorted([await arrivals.get() for _ in range(size)], key=_position)
            arrived += minibatch
            samples = samples_of([group for _, group in minibatch])
            started = time.perf_counter()
            if samples:
                with self._trainer_clock:
                    await run_on_compute_thread(self._context.trainer.accumulate, samples)
            training_s += time.perf_counter() - started
        return arrived, training_s


def _in_order(arrived: Sequence[Arrival]) -> list[PreparedGroup]:
    return [group for _, group in sorted(arrived, key=_position)]


def _position(arrival: Arrival) -> int:
    return arrival[0]
