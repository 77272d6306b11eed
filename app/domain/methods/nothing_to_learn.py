"""Options of the check that ends a reinforcement job which can learn nothing.

Owns the names, defaults and ranges on the wire: `method.reinforcement.nothing_to_learn`, an
extension; the hosted API has none. The defaults and their sample counts are decision 0030. Must not
know how the check is made (see `workers.reinforcement.learnability`).
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from app.domain.documents.described import Described
from app.domain.methods.loss import Number
from app.domain.methods.stop import Count


class NothingToLearnOptions(Described):
    """The check of the base model's validation, before the first step, and of the first steps.

    A job in which nothing can be learned says so and ends before it is paid for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    action: Literal["fail", "warn", "off"] = "fail"
    """`fail` ends the job with the reason and its cure in `error`; `warn` writes an event and goes
    on; `off` does not look. A job that trained nothing to its end fails in any case."""
    error_share: Annotated[Number, Field(gt=0, le=1)] = 0.95
    """Share of graded rollouts with the same grader error, or without any token to answer, from
    which the job ends."""
    equal_rewards: Count = 64
    """Rollouts of equal reward from which the job ends. Fewer give a warning, unless the reward is
    the highest that the grader gives: then the job ends, since no report could show a gain."""
    untrained_groups: Count = 60
    """Groups in succession from the first step on, none with different rewards, from which the job
    ends."""

    @property
    def ending_share(self) -> float | None:
        """The share of unusable validation rollouts that ends the job; `None`: none does."""
        return self.error_share if self.action == "fail" else None
