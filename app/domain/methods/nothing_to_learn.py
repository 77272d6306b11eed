"""Options of the check that ends a reinforcement job which can learn nothing.

Owns the names, defaults and ranges on the wire: `method.reinforcement.nothing_to_learn`, an
extension of the hosted API. Decision 0030 explains the defaults. Must not know how the check is
made (see `workers.methods.reinforcement.learning_check`).
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from app.domain.documents.field_descriptions import DescribedModel
from app.domain.methods.loss import Number
from app.domain.methods.stop import Count


class NothingToLearnOptions(DescribedModel):
    """Limits of the check of the base model's validation and of the first steps.

    A job in which nothing can be learned ends early with the reason.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    action: Literal["fail", "warn", "off"] = "fail"
    """`fail` ends the job with the reason and the correction in `error`; `warn` writes an event and
    continues; `off` disables the check. A job that trained nothing at all fails in any case.
    """
    error_share: Annotated[Number, Field(gt=0, le=1)] = 0.95
    """Share of graded rollouts with the same grader error, or without any token to answer, from
    which the job ends."""
    equal_rewards: Count = 64
    """Number of rollouts with equal reward from which the job ends. Fewer give a warning, unless
    the reward is the highest that the grader gives: then the job ends, since no report could show a
    gain.
    """
    untrained_groups: Count = 60
    """Groups in succession from the first step on, none with different rewards, from which the job
    ends."""

    @property
    def ending_share(self) -> float | None:
        """The share of unusable validation rollouts that ends the job; `None` if the check is
        off.
        """
        return self.error_share if self.action == "fail" else None
