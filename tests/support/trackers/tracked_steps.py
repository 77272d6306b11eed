"""Tracked jobs: committed steps with rollouts, and processes that follow them."""

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from typing_extensions import override

from app.jobs.jobs import Job
from app.rollouts.metrics import REWARD_MEAN
from app.rollouts.trajectory import ScoredRollout
from tests.support.reinforcement.scored_rollouts import scored
from tests.support.runs.world import World, plan
from tests.support.stack import Database
from workers.job_child import build_method
from workers.runs.context import RunContext
from workers.runs.method import build_reporter
from workers.runs.reporter import Reporter
from workers.runs.step_outcome import PublishedAdapter, StepOutcome, TrainedStep, Validation
from workers.trackers.child import TrackerSync

MESSAGE = "canary of a conversation"
REWARDS = (0.5, 1.0, 0.0, 0.25)
CURSORS_LOST = (
    "UPDATE event_cursors SET position = 0, lease_until = NULL WHERE consumer LIKE 'tracker%'"
)
"""State of the cursors after a kill between the write and their advance."""


@dataclass(frozen=True, slots=True)
class StepWithRollouts(TrainedStep):
    """A training step with its rollouts, a reward each."""

    job_id: str = ""

    @override
    def scored_rollouts(self) -> Sequence[ScoredRollout]:
        rollouts = [
            scored(("train", self.step, row, 0), reward, job_id=self.job_id)
            for row, reward in enumerate(REWARDS)
        ]
        for rollout in rollouts:
            rollout.trajectory.messages[:] = [{"role": "user", "content": MESSAGE}]
        return rollouts


def outcome(job: Job, step: int) -> StepOutcome:
    return StepOutcome(
        StepWithRollouts(step, {REWARD_MEAN: step / 8}, job_id=job.id),
        PublishedAdapter(f"step-{step}/adapter", f"step-{step}/state"),
        Validation({REWARD_MEAN: step / 16}),
    )


async def opened(world: World, job: Job) -> tuple[RunContext, Reporter]:
    context = await world.context(job)
    return context, build_reporter(context, build_method(context), tuned_name="ft:tiny")


async def commit_steps(world: World, job: Job, *steps: int) -> RunContext:
    context, reporter = await opened(world, job)
    for step in steps:
        total = plan().total_steps
        await reporter.commit_step(outcome(job, step), total_steps=total, pace_s=1.0)
    return context


async def follow_once(world: World) -> bool:
    """Follows as a process that was just started."""
    followed = TrackerSync(world.worker, world.settings)
    try:
        return await followed.follow()
    finally:
        await followed.close()


async def warnings_of(world: World, job: Job) -> list[str]:
    async with world.app.tenant(world.tenant) as unit:
        events, _ = await unit.events.page(job.id, after=None, limit=100)
    return [event.message for event in events if event.level == "warn"]


def execute(database: Database, query: str) -> None:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(query.encode())
