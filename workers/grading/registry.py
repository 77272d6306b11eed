"""The grader of a job: what scores a finished rollout, and how its failures are told.

Kinds of graders are `app.grading`'s; here they meet trajectories and the journal.
"""

from typing import Protocol

from app.domain.data.dataset import DatasetRow
from app.domain.graders.graders import (
    EndpointGrader,
    MultiGrader,
    ScoreModelGrader,
    SingleGrader,
    leaves,
)
from app.domain.ids import SampleKey
from app.domain.rollouts.trajectory import Grade, Trajectory
from app.grading.registry import GradingPorts, build_scorer
from workers.grading.failure import GraderFailure
from workers.grading.job_grader import JobGrader
from workers.journal.journal import Journal

__all__ = ["Grader", "GraderFailure", "GradingPorts", "build_grader"]


class Grader(Protocol):
    async def grade(
        self, trajectory: Trajectory, row: DatasetRow, key: SampleKey, *, journal: Journal
    ) -> Grade:
        """A finite score, remembered before it is returned. Raises `GraderFailure`."""
        ...


def build_grader(spec: SingleGrader | MultiGrader, ports: GradingPorts) -> Grader:
    """The grader of a job; `spec` carries its real headers."""
    asks_outside = any(
        isinstance(leaf, EndpointGrader | ScoreModelGrader) for _, leaf in leaves(spec, "")
    )
    return JobGrader(spec.name, build_scorer(spec, ports), asks_outside=asks_outside)
