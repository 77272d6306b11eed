"""Runs a group: the rollouts of one row, side by side, scored together."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.files.datasets import DatasetRow
from app.kit.errors import first_fault
from app.kit.ids import SampleKey
from app.rollouts.renderer import Renderer
from app.rollouts.trajectory import Failure, FailureClass, GradeOrFailure, ScoredRollout, Trajectory
from workers.grading.job_grader import GroupScorer
from workers.journal import Journal
from workers.progress import PROGRESS
from workers.rollout.environment import EpisodeLimits, Policy, RolloutEnvironment
from workers.rollout.episode import RolloutFailure, run_episode
from workers.telemetry.process_metrics import count_rollouts
from workers.telemetry.spans import describe_rollout, rollout_span


class RolloutSlots(asyncio.Semaphore):
    """The slots of a run: its training rollouts and those of its validations share them."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


@dataclass(frozen=True, slots=True)
class RolloutSetup:
    renderer: Renderer
    new_environment: Callable[[], RolloutEnvironment]
    scorer: GroupScorer
    limits: EpisodeLimits
    job_seed: int
    temperature: float
    slots: RolloutSlots
    """Each rollout occupies one while it is played and scored by itself."""


@dataclass(frozen=True, slots=True)
class ScoredGroup:
    """The finished rollouts of one row, in the order of their keys."""

    row: DatasetRow
    keys: tuple[SampleKey, ...]
    rollouts: tuple[ScoredRollout, ...]

    def __post_init__(self) -> None:
        if tuple(rollout.key for rollout in self.rollouts) != self.keys:
            raise ValueError("a group needs one rollout for each of its keys, in their order")
        if len({key.group for key in self.keys}) > 1:
            raise ValueError("the keys of a group must belong to one row, step and attempt")

    @property
    def rewards(self) -> list[float | None]:
        """`None` for a failed rollout."""
        return [rollout.reward for rollout in self.rollouts]

    def min_valid(self, min_share: float) -> int:
        """Returns how many graded rollouts make a group of this size trainable."""
        return math.ceil(min_share * len(self.rollouts))


def _ignore() -> None:
    pass


async def run_group(
    setup: RolloutSetup,
    row: DatasetRow,
    keys: Sequence[SampleKey],
    *,
    policy: Policy,
    journal: Journal,
    on_finished: Callable[[], None] = _ignore,
) -> ScoredGroup:
    """`on_finished` is called whenever a rollout has left its slot."""
    asked = set[SampleKey]()

    async def play(key: SampleKey) -> Trajectory | ScoredRollout:
        async with setup.slots:
            with rollout_span(key) as span:
                rollout = await _play(setup, row, key, policy=policy, journal=journal)
                describe_rollout(span, rollout)
        if span.asked:
            asked.add(key)
        PROGRESS.mark(f"rollout of step {key.step} ended")
        on_finished()
        return rollout

    with first_fault():
        async with asyncio.TaskGroup() as tasks:
            played = [tasks.create_task(play(key)) for key in keys]
    group = await score_group(
        [task.result() for task in played], row, scorer=setup.scorer, journal=journal
    )
    # An earlier claim has counted a rollout of which everything was replayed.
    count_rollouts([rollout for rollout in group.rollouts if rollout.key in asked])
    return group


async def run_groups(
    setup: RolloutSetup,
    groups: Sequence[tuple[DatasetRow, Sequence[SampleKey]]],
    *,
    policy: Policy,
    journal: Journal,
) -> list[ScoredGroup]:
    """Runs several groups side by side, as many rollouts at a time as the setup has slots."""
    with first_fault():
        async with asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(run_group(setup, row, keys, policy=policy, journal=journal))
                for row, keys in groups
            ]
    return [task.result() for task in running]


async def score_group(
    rollouts: Sequence[Trajectory | ScoredRollout],
    row: DatasetRow,
    *,
    scorer: GroupScorer,
    journal: Journal,
) -> ScoredGroup:
    """Scores the finished rollouts of a row that have no verdict yet, including posted ones."""
    unscored, given = list[Trajectory](), list[ScoredRollout | None]()
    for rollout in rollouts:
        match rollout:
            case Trajectory():
                unscored.append(rollout)
                given.append(None)
            case ScoredRollout():
                given.append(rollout)
    verdicts: Sequence[GradeOrFailure] = []
    try:
        verdicts = await scorer.score(unscored, row, journal=journal) if unscored else []
    except asyncio.CancelledError:
        verdicts = [_cancelled_within()] * len(unscored)
    if len(verdicts) != len(unscored):
        raise ValueError(f"{len(verdicts)} verdicts for {len(unscored)} rollouts")
    fresh = map(ScoredRollout.of, unscored, verdicts)
    scored = tuple(next(fresh) if rollout is None else rollout for rollout in given)
    return ScoredGroup(row, tuple(rollout.key for rollout in scored), scored)


async def _play(
    setup: RolloutSetup, row: DatasetRow, key: SampleKey, *, policy: Policy, journal: Journal
) -> Trajectory | ScoredRollout:
    trajectory = Trajectory(key, [], [], [], messages=list(row.messages))
    try:
        trajectory = await run_episode(
            row,
            key,
            policy=policy,
            renderer=setup.renderer,
            environment=setup.new_environment(),
            journal=journal,
            limits=setup.limits,
            job_seed=setup.job_seed,
            temperature=setup.temperature,
        )
        verdict = await setup.scorer.score_early(trajectory, row, journal=journal)
    except RolloutFailure as error:
        return ScoredRollout(trajectory=error.trajectory, failure=error.failure)
    except asyncio.CancelledError:
        return ScoredRollout(trajectory=trajectory, failure=_cancelled_within())
    return trajectory if verdict is None else ScoredRollout.of(trajectory, verdict)


def _cancelled_within() -> Failure:
    """Returns the failure of work that cancelled itself; call it where a cancellation was caught. A
    cancelled task reports no error, so a caller that waits for its result would wait for ever.
    Raises `CancelledError` again if this task is to end.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
    return Failure(FailureClass.CANCELLED, "the rollout was cancelled from within", "rollout")
