"""Ends a run whose step lost too many rollouts: the exception carries them to the final
transaction, so that users can inspect them.
"""

from app.domain.errors import RunFailed
from workers.runs.steps.step_outcome import StepOutcome


class StepLost(RunFailed):
    """Ends a run. `outcome` has the rollouts and their counts; nothing was trained on them."""

    def __init__(
        self, message: str, *, code: str, outcome: StepOutcome, param: str | None = None
    ) -> None:
        super().__init__(message, code=code, param=param)
        self.outcome = outcome
