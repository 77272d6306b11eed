"""Many rollouts at once: each one an episode, then its grade, bounded in number.

A failure is data of its rollout; only faults of ours (lost lease, engine gone for good) stop the
others.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.rollouts.trajectory import ScoredRollout
from app.rendering.renderer import Renderer
from workers.grading.registry import Grader, GraderFailure
from workers.journal.journal import Journal
from workers.rollout.episode import EpisodeLimits, RolloutFailure, run_episode
from workers.rollout.policy import Policy
from workers.rollout.tools import ToolCaller


@dataclass(frozen=True, slots=True)
class RolloutSetup:
    """Everything a rollout needs that does not change during a run."""

    renderer: Renderer
    tools: ToolCaller
    grader: Grader
    limits: EpisodeLimits
    job_seed: int
    temperature: float
    max_concurrent: int


async def run_rollouts(
    room: RolloutSetup,
    wanted: Sequence[tuple[DatasetRow, SampleKey]],
    *,
    policy: Policy,
    journal: Journal,
    places: asyncio.Semaphore | None = None,
) -> list[ScoredRollout]:
    """Run and score rollouts; results stand in the order asked for. `places` are shared with
    others that run at the same time; by default there are `room.max_concurrent`, for these alone.
    """
    places = places or asyncio.Semaphore(room.max_concurrent)

    async def one(row: DatasetRow, key: SampleKey) -> ScoredRollout:
        async with places:
            return await _run_one(room, row, key, policy=policy, journal=journal)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(row, key)) for row, key in wanted]
    except BaseExceptionGroup as faults:
        # One cause is enough for the run to decide on; the others were cancelled by it.
        raise faults.exceptions[0] from faults
    return [task.result() for task in tasks]


async def _run_one(
    room: RolloutSetup, row: DatasetRow, key: SampleKey, *, policy: Policy, journal: Journal
) -> ScoredRollout:
    try:
        trajectory = await run_episode(
            row,
            key,
            policy=policy,
            renderer=room.renderer,
            tools=room.tools,
            journal=journal,
            limits=room.limits,
            job_seed=room.job_seed,
            temperature=room.temperature,
        )
    except RolloutFailure as error:
        return ScoredRollout(trajectory=error.trajectory, failure=error.failure)
    try:
        grade = await room.grader.grade(trajectory, row, key, journal=journal)
    except GraderFailure as error:
        return ScoredRollout(trajectory=trajectory, failure=error.failure)
    return ScoredRollout(trajectory=trajectory, grade=grade)
