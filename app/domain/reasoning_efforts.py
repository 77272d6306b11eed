"""What a job's `reasoning_effort` does. The hosted API names the levels and not their effect; these
are ours. Pure.

- The chat template is given `reasoning_effort` (see `app.rendering.chat_template`); `default` gives
  it nothing, so that the model's own default holds.
- `low`: a turn may hold half of the base model's `max_turn_tokens`, and the `auto` token budget of
  the objective is half of them too, so that a token costs twice as much.
- `default` and `medium`: a turn may hold all of them, and they are the budget.
- `high`: a turn may hold all of them, and the budget is twice as many: a token costs half.
"""

from dataclasses import dataclass
from typing import Final, Literal

from app.domain.models import BaseModelSpec

ReasoningEffort = Literal["default", "low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class _Shares:
    turn: float
    budget: float


_SHARES: Final[dict[ReasoningEffort, _Shares]] = {
    "default": _Shares(1.0, 1.0),
    "low": _Shares(0.5, 0.5),
    "medium": _Shares(1.0, 1.0),
    "high": _Shares(1.0, 2.0),
}


def turn_tokens(base_model: BaseModelSpec, effort: ReasoningEffort) -> int:
    """Tokens one sampled turn may hold."""
    return max(1, round(base_model.max_turn_tokens * _SHARES[effort].turn))


def token_budget(base_model: BaseModelSpec, effort: ReasoningEffort) -> int:
    """What the objective's `token_budget` of `auto` stands for."""
    return max(1, round(base_model.max_turn_tokens * _SHARES[effort].budget))
