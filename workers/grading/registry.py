"""Graders by kind: what scores a finished rollout, and how its failures are told.

A new kind is a class in `app.domain.graders`, a file beside this one and one case below.
"""

from typing import Protocol, assert_never

from app.domain.dataset import DatasetRow
from app.domain.graders import EndpointGrader
from app.domain.graders import Grader as GraderSpec
from app.domain.ids import SampleKey
from app.domain.trajectory import Grade, Trajectory
from app.gateways.endpoints import EndpointPool
from app.gateways.signing import CallSigner
from workers.grading.endpoint import EndpointGrading
from workers.grading.failure import GraderFailure
from workers.rollout.journal import Journal

__all__ = ["Grader", "GraderFailure", "build_grader"]


class Grader(Protocol):
    async def grade(
        self, trajectory: Trajectory, row: DatasetRow, key: SampleKey, *, journal: Journal
    ) -> Grade:
        """A finite score, remembered before it is returned. Raises `GraderFailure`."""
        ...


def build_grader(spec: GraderSpec, endpoints: EndpointPool, signer: CallSigner) -> Grader:
    """The grader of a job; `spec` carries its real headers."""
    match spec:
        case EndpointGrader():
            return EndpointGrading(spec, endpoints, signer)
        case _:
            assert_never(spec)
