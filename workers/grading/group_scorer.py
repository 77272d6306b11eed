"""The interface that scores a group of rollouts, and its implementation for per-sample graders."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from app.files.datasets import DatasetRow
from app.kit.errors import first_fault
from app.kit.ids import SampleKey
from app.rollouts.trajectory import Failure, Grade, GradeOrFailure, Trajectory
from workers.journal import Journal


class SampleGrader(Protocol):
    async def grade(
        self, trajectory: Trajectory, row: DatasetRow, key: SampleKey, *, journal: Journal
    ) -> Grade:
        """Returns a finite score, journalled if external. Raises `GraderFailure`."""
        ...


class GroupScorer(Protocol):
    async def score_early(
        self, trajectory: Trajectory, row: DatasetRow, *, journal: Journal
    ) -> GradeOrFailure | None:
        """Scores a rollout as soon as it has ended, while its siblings may still run. `None` defers
        it to `score`, which gets the whole group.
        """
        ...

    async def score(
        self, trajectories: Sequence[Trajectory], row: DatasetRow, *, journal: Journal
    ) -> list[GradeOrFailure]:
        """Scores finished rollouts of one group; verdicts in the order of `trajectories`."""
        ...


class PerSampleScorer:
    def __init__(self, grader: SampleGrader) -> None:
        self._grader = grader

    async def score_early(
        self, trajectory: Trajectory, row: DatasetRow, *, journal: Journal
    ) -> GradeOrFailure:
        try:
            return await self._grader.grade(trajectory, row, trajectory.key, journal=journal)
        except GraderFailure as error:
            return error.failure

    async def score(
        self, trajectories: Sequence[Trajectory], row: DatasetRow, *, journal: Journal
    ) -> list[GradeOrFailure]:
        with first_fault():
            async with asyncio.TaskGroup() as tasks:
                verdicts = [
                    tasks.create_task(self.score_early(trajectory, row, journal=journal))
                    for trajectory in trajectories
                ]
        return [verdict.result() for verdict in verdicts]


class GraderFailure(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.source}: {failure.message}")
        self.failure = failure
