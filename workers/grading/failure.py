"""Defines the failure of a grader: the rollout leaves the batch and is never scored 0."""

from app.domain.rollouts.trajectory import Failure


class GraderFailure(Exception):
    """Carries the failure that is counted for the rollout."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.source}: {failure.message}")
        self.failure = failure
