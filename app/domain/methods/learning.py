"""Training options of a reinforcement job as a whole: the valid combinations, and the defaults of
absent parts.

Owns the defaults per mode. These options are an extension; the hosted API has none. Must not know
how the options are applied.

- `loss` absent: `ppo`. In the modes `sync` and `streaming` the sampler's mismatch is not corrected
  by default, since the trained policy samples the rollouts; in `async` it is truncated by token.
- `advantage` absent: `centred`; `objective` absent: a light token penalty.
"""

from typing import Any

from pydantic import ConfigDict, Field, model_validator

from app.domain.documents.field_descriptions import DescribedModel
from app.domain.methods.loss import PolicyLoss, PpoOptions, bounds_ratio, fault, uses_ratio
from app.domain.methods.mismatch import CAPS, MismatchOptions, Truncation
from app.domain.methods.mode import RowOrdering, TrainingMode, trains_in_parts
from app.domain.methods.objective import AdvantageOptions, ObjectiveOptions
from app.domain.methods.reasoning_efforts import ReasoningEffort, token_budget
from app.domain.models.models import BaseModelSpec

_LEAST_BOUNDED_STALENESS = 2
"""Smallest staleness at which a loss must bound its ratio."""


def _absent(value: Any) -> bool:
    return value is None


class LearningOptions(DescribedModel):
    """Training fields of `method.reinforcement`; other modules read the other keys."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    mode: TrainingMode | None = Field(default=None, exclude_if=_absent)
    """An extension; `None` is `sync`."""
    ordering: RowOrdering | None = Field(default=None, exclude_if=_absent)
    """An extension: which rows a step takes; `None` is `uniform`."""
    loss: PolicyLoss | None = Field(default=None, exclude_if=_absent)
    """An extension; `None` is `ppo`."""
    advantage: AdvantageOptions | None = Field(default=None, exclude_if=_absent)
    """An extension; `None` is `centred`."""
    objective: ObjectiveOptions | None = Field(default=None, exclude_if=_absent)
    """An extension; `None` is a light token penalty."""
    mismatch: MismatchOptions | None = Field(default=None, exclude_if=_absent)
    """An extension: corrections for a sampler that differs from the trained policy."""

    @property
    def truncation(self) -> Truncation | None:
        """Returns the truncation with `auto` resolved."""
        sent = "auto" if self.mismatch is None else self.mismatch.truncation
        if sent != "auto":
            return sent
        unnamed = self._staleness > 0 and self.loss is None
        return Truncation(cap=CAPS["token"]) if unnamed else None

    @property
    def _staleness(self) -> int:
        return 0 if self.mode is None else self.mode.staleness

    @model_validator(mode="after")
    def _parts_go_together(self) -> "LearningOptions":
        if self.truncation is not None and not uses_ratio(self.loss):
            raise fault("the loss 'dro' has no ratio to truncate", "mismatch", "truncation")
        if (
            self._staleness >= _LEAST_BOUNDED_STALENESS
            and self.truncation is None
            and not bounds_ratio(self.loss)
        ):
            raise fault(
                "'importance_sampling' does not bound its ratio, which the mode 'async' with a "
                "'max_staleness' above 1 needs: send 'mismatch.truncation', or 'ppo' or 'cispo'",
                "loss",
                "type",
            )
        batch_std = self.advantage is not None and self.advantage.type == "batch_std"
        if batch_std and trains_in_parts(self.mode):
            raise fault(
                "'batch_std' needs the whole step, of which 'streaming' trains parts",
                "advantage",
                "type",
            )
        return self


class Learning(DescribedModel):
    """The resolved options of a run."""

    model_config = ConfigDict(frozen=True)

    loss: PolicyLoss
    advantage: AdvantageOptions
    objective: ObjectiveOptions
    mismatch: MismatchOptions


def resolved_learning(
    sent: LearningOptions, base_model: BaseModelSpec, effort: ReasoningEffort = "default"
) -> Learning:
    """Returns the options without absent or `auto` values; resolving them again changes nothing."""
    loss = sent.loss or PpoOptions()
    mismatch = sent.mismatch or MismatchOptions()
    objective = sent.objective or ObjectiveOptions()
    return Learning(
        loss=loss.resolved,
        advantage=sent.advantage or AdvantageOptions(type="centred"),
        objective=objective.resolved(token_budget=token_budget(base_model, effort)),
        mismatch=mismatch.model_copy(update={"truncation": sent.truncation}),
    )


def shown_learning(reinforcement: dict[str, Any], base_model: BaseModelSpec) -> dict[str, Any]:
    """Returns the parts of a job's own `method.reinforcement`, resolved, as JSON."""
    sent = LearningOptions.model_validate(reinforcement)
    hyper = reinforcement.get("hyperparameters") or {}
    effort: ReasoningEffort = hyper.get("reasoning_effort", "default")
    return resolved_learning(sent, base_model, effort).model_dump(mode="json")
