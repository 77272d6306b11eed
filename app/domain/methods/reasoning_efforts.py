"""Defines the effects of a job's `reasoning_effort`. The hosted API documents only the names of the
levels; the effects are this project's. Pure.

- The chat template gets `template_variables`, in rollouts and in later calls of the tuned model;
  `default` passes none, so that the model's own default applies.
- `low`: a turn may have half of the base model's `max_turn_tokens`, and the `auto` token budget of
  the objective is half of them too, so that a token costs twice as much. - `default` and `medium`:
  a turn may have all of them, and they are the budget. - `high`: a turn may have all of them, and
  the budget is twice as large, so that a token costs half as much.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from app.domain.models.models import BaseModelSpec

ReasoningEffort = Literal["default", "low", "medium", "high"]
CalledEffort = Literal["default", "none", "minimal", "low", "medium", "high", "xhigh", "max"]
CALLED_EFFORTS: Final = get_args(CalledEffort)
"""Levels that a call of a model may name: the hosted ones, and `default` for the model's own."""
_UNTHINKING: Final = frozenset({"none", "minimal", "low"})
_THINKING: Final = frozenset({"high", "xhigh", "max"})


@dataclass(frozen=True, slots=True)
class _EffortShares:
    turn: float
    budget: float


_SHARES: Final[dict[ReasoningEffort, _EffortShares]] = {
    "default": _EffortShares(1.0, 1.0),
    "low": _EffortShares(0.5, 0.5),
    "medium": _EffortShares(1.0, 1.0),
    "high": _EffortShares(1.0, 2.0),
}


def turn_tokens(base_model: BaseModelSpec, effort: ReasoningEffort) -> int:
    """Returns the limit of tokens of one sampled turn."""
    return max(1, round(base_model.max_turn_tokens * _SHARES[effort].turn))


def token_budget(base_model: BaseModelSpec, effort: ReasoningEffort) -> int:
    """Returns the value of the `token_budget` `auto`."""
    return max(1, round(base_model.max_turn_tokens * _SHARES[effort].budget))


def named_effort(effort: str | None) -> str | None:
    """Returns the effort that is passed to a chat template; `None` for the model's own default."""
    return None if effort == "default" else effort


def with_trained_effort(body: dict[str, Any], effort: str | None) -> dict[str, Any]:
    """Returns a chat call with the effort that the called model was trained with, unless the call
    names one. `effort` is `None` for a base model, and for a model trained with the default.
    """
    if effort is None or body.get("reasoning_effort") is not None:
        return body
    return {**body, "reasoning_effort": effort}


def template_variables(effort: str | None) -> dict[str, Any]:
    """Returns the variables of a chat template: the level by its name, and the switch of templates
    that only turn thinking on or off. A template without either ignores both.
    """
    if effort is None or effort == "default":
        return {}
    if effort in _UNTHINKING | _THINKING:
        return {"reasoning_effort": effort, "enable_thinking": effort in _THINKING}
    return {"reasoning_effort": effort}
