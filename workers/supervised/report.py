"""The paired report of a supervised or preference job: the held-out rows before and after training.

Owns the compared values. A supervised row is a win if its loss decreased. A pair is a win if its
chosen answer became the more probable one: the loss of a pair is relative to the start model, so
almost any change would be a win. Imports no torch.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import fmean
from typing import Any, Final

from app.domain.jobs.curves.intervals import UNIT_RANGE
from app.domain.jobs.stop_rules.stop_rules import RuleTrigger
from app.domain.rollouts import metrics as names
from workers.runs.context import RunContext
from workers.runs.endings.training_result import ChosenAdapter, report_head
from workers.runs.statistics import ComparedValues, comparison
from workers.supervised.held_out import RowValues, base_values, committed_values, weighted_means

_COMPARED: Final = {
    names.LOSS: "loss",
    names.TOKEN_ACCURACY: "token_accuracy",
    names.PREFERENCE_LOGPROB_ACCURACY: "preference_accuracy",
    names.PREFERENCE_CHOSEN_LOGPROB: "chosen_logprob",
    names.PREFERENCE_REJECTED_LOGPROB: "rejected_logprob",
}
_RELATIVE: Final = {
    names.PREFERENCE_ACCURACY: "accuracy",
    names.PREFERENCE_MARGIN: "margin",
    names.PREFERENCE_CHOSEN_REWARD: "chosen",
    names.PREFERENCE_REJECTED_REWARD: "rejected",
}
"""Values relative to the start model, for which they are 0 by definition."""
_SHARES: Final = (names.TOKEN_ACCURACY, names.PREFERENCE_LOGPROB_ACCURACY)
"""Values from 0 to 1; losses and log-probs have no range."""
_OVER_ALL: Final = {
    names.LOSS: "full_valid_loss",
    names.TOKEN_ACCURACY: "full_valid_mean_token_accuracy",
    names.PREFERENCE_LOGPROB_ACCURACY: "full_valid_preference_accuracy",
}

Rows = Mapping[int, RowValues]


async def build_report(
    context: RunContext, chosen: ChosenAdapter, ended_early: RuleTrigger | None
) -> dict[str, Any]:
    """Compares the model that training started from with the published step, on the same rows.

    `full_valid_*` weigh tokens equally, as the curves do; the comparisons weigh rows equally.
    `rows` counts the compared rows; `rows_left_out` counts those with a value that is not finite
    before or after training. The compared rows chose the step, so the intervals of the differences
    allow for the number of steps that they chose from.
    """
    start, tuned, base = (
        await committed_values(context, 0),
        await committed_values(context, chosen.step),
        None,
    )
    if context.start is not None:
        base = await base_values(context)
    both = list(zip(start, tuned, strict=True))
    rows = [row for row, two in enumerate(both) if all(one.is_finite for one in two)]
    before, after = ({row: side[row] for row in rows} for side in (start, tuned))
    return {
        **report_head(context, chosen, ended_early),
        "rows": len(rows),
        "rows_left_out": len(both) - len(rows),
        **_compared(before, after, base, seed=context.job.seed, among=chosen.among),
        **_over_all(start, tuned, base if context.start is not None else start),
        **_won(before, after),
    }


def _compared(
    before: Rows, after: Rows, base: Sequence[RowValues] | None, *, seed: int, among: int
) -> dict[str, Any]:
    """Compares each value that every row has; without rows there is no comparison."""
    of_base = None if base is None else {row: one for row, one in enumerate(base) if one.is_finite}
    found: dict[str, Any] = {
        label: comparison(
            ComparedValues(
                _column(before, name),
                _column(after, name),
                None if of_base is None else _column(of_base, name),
            ),
            seed=seed,
            among=among,
            bounds=UNIT_RANGE if name in _SHARES else None,
        )
        for name, label in _COMPARED.items()
        if _have([*before.values(), *after.values()], name)
    }
    relative = [name for name in _RELATIVE if _have(list(after.values()), name)]
    if relative:
        found["implicit_rewards"] = {
            _RELATIVE[name]: fmean(one.values[name] for one in after.values()) for name in relative
        }
    if _have([*before.values(), *after.values()], names.PREFERENCE_CHOSEN_LOGPROB):
        chosen = names.PREFERENCE_CHOSEN_LOGPROB
        found["chosen_less_probable"] = sum(
            after[row].values[chosen] < before[row].values[chosen] - names.TIE for row in before
        )
    return found


def _column(rows: Rows, name: str) -> dict[int, list[float]]:
    return {row: [one.values[name]] for row, one in rows.items() if name in one.values}


def _have(rows: Sequence[RowValues], name: str) -> bool:
    return bool(rows) and all(name in one.values for one in rows)


def _won(before: Rows, after: Rows) -> dict[str, Any]:
    """Counts the rows that improved and worsened, and lists the worsened ones, worst first."""
    by_order = _have([*before.values(), *after.values()], names.PREFERENCE_CHOSEN_LOGPROB)
    value = _lead if by_order else _loss
    pairs = {row: (value(before[row]), value(after[row])) for row in before}
    if by_order:
        won = sum(a <= 0 < b for a, b in pairs.values())
        worse = [row for row, (a, b) in pairs.items() if b <= 0 < a]
        worse.sort(key=lambda row: pairs[row][1])
    else:
        won = sum(b < a - names.TIE for a, b in pairs.values())
        worse = [row for row, (a, b) in pairs.items() if b > a + names.TIE]
        worse.sort(key=lambda row: pairs[row][0] - pairs[row][1])
    return {
        "wins_by": "logprob_order" if by_order else "loss",
        "wins": won,
        "ties": len(pairs) - won - len(worse),
        "losses": len(worse),
        "regressions": [
            {"row": row, "before": pairs[row][0], "after": pairs[row][1]} for row in worse
        ],
    }


def _loss(row: RowValues) -> float:
    return row.values[names.LOSS]


def _lead(row: RowValues) -> float:
    """Returns how much more probable the chosen answer is than the rejected one, in nats."""
    chosen, rejected = names.PREFERENCE_CHOSEN_LOGPROB, names.PREFERENCE_REJECTED_LOGPROB
    return row.values[chosen] - row.values[rejected]


def _over_all(
    start: Sequence[RowValues], tuned: Sequence[RowValues], base: Sequence[RowValues] | None
) -> dict[str, Any]:
    """Returns the means over all rows, where the mean is finite before and after."""
    before, after = weighted_means(start), weighted_means(tuned)
    of_base = {} if base is None else weighted_means(base)
    return {
        label: {
            "base": of_base[name] if isfinite(of_base.get(name, float("nan"))) else None,
            "start": before[name],
            "tuned": after[name],
        }
        for name, label in _OVER_ALL.items()
        if name in before and name in after and isfinite(before[name]) and isfinite(after[name])
    }
