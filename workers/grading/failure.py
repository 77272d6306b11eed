"""A grader that could not say a score: the rollout leaves the batch, it is never a 0."""

from app.domain.rollouts.trajectory import Failure


class GraderFailure(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.source}: {failure.message}")
        self.failure = failure
