"""The paired report of a supervised or preference job: the held-out rows before and after training.
A supervised row is a win if its loss decreased. A pair is a win if its chosen answer became the
more probable one: the loss of a pair is relative to the start model, so almost any change would be
a win. Imports no torch.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, nan
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from app.jobs.intervals import UNIT_RANGE
from app.jobs.stop_rules import RuleTrigger
from app.kit.directories import ManifestMismatch, commit_directory
from app.rollouts import metrics as names
from workers.runs.context import RunContext
from workers.runs.method import ChosenAdapter, report_head
from workers.runs.statistics import ComparedValues, comparison

_NOTES: Final = "validation"
_FILE: Final = "rows.json"
MEASURED: Final = (
    names.LOSS,
    names.TOKEN_ACCURACY,
    names.PREFERENCE_LOGPROB_ACCURACY,
    names.PREFERENCE_CHOSEN_LOGPROB,
    names.PREFERENCE_REJECTED_LOGPROB,
    names.PREFERENCE_ACCURACY,
    names.PREFERENCE_MARGIN,
    names.PREFERENCE_CHOSEN_REWARD,
    names.PREFERENCE_REJECTED_REWARD,
)
"""Curves for which each row has a value; a supervised row has no preference values."""

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RowValues:
    """Values of one row: its learned tokens (1 for a pair), and means over them by curve name."""

    weight: float
    values: Values

    @property
    def is_finite(self) -> bool:
        return all(isfinite(self.values[name]) for name in MEASURED if name in self.values)


def weighted_means(rows: Sequence[RowValues]) -> dict[str, float]:
    """Over all learned tokens (or pairs), not over rows; NaN where not all values are finite."""
    total = fsum(row.weight for row in rows)
    return {
        name: _mean(rows, name, total=total)
        for name in MEASURED
        if total and all(name in row.values for row in rows)
    }


def _mean(rows: Sequence[RowValues], name: str, *, total: float) -> float:
    if not all(isfinite(row.values[name]) for row in rows):
        return nan
    return fsum(row.weight * row.values[name] for row in rows) / total


async def store_values(context: RunContext, step: int, rows: Sequence[RowValues]) -> None:
    """Each claim stores its own: on a GPU a crashed one may have trained another adapter."""
    await _store_values(context, _of_step(step), rows)


async def store_base_values(context: RunContext, rows: Sequence[RowValues]) -> None:
    """Stores the values of the base model of a job that starts from a tuned one."""
    await _store_values(context, _OF_BASE, rows)


async def committed_values(context: RunContext, step: int) -> list[RowValues]:
    """Those of the latest claim, which committed. Raises `ManifestMismatch`."""
    found = await _stored_values(context, _of_step(step))
    if found is None:
        raise ManifestMismatch(f"no claim has stored the rows of step {step}")
    return found


async def base_values(context: RunContext) -> list[RowValues] | None:
    """`None` if they were not measured. Raises `ManifestMismatch` when they are damaged."""
    return await _stored_values(context, _OF_BASE)


async def _store_values(context: RunContext, name: str, rows: Sequence[RowValues]) -> None:
    directories = context.notes(_NOTES)
    name = f"{name}{context.fence}"
    await asyncio.to_thread(_write, directories.path(name), rows)
    await directories.store(name)


async def _stored_values(context: RunContext, name: str) -> list[RowValues] | None:
    directories = context.notes(_NOTES)
    claims = [one for one in await directories.names() if one.startswith(name)]
    fence = max((int(one.removeprefix(name)) for one in claims), default=0)
    try:
        directory = await directories.fetch(f"{name}{fence}")
    except FileNotFoundError:
        return None
    return await asyncio.to_thread(_read, directory)


def _write(directory: Path, rows: Sequence[RowValues]) -> None:
    lines = [{"weight": row.weight, "values": dict(row.values)} for row in rows]
    with commit_directory(directory) as partial:
        (partial / _FILE).write_text(json.dumps(lines) + "\n", encoding="utf-8")


def _read(directory: Path) -> list[RowValues]:
    lines = json.loads((directory / _FILE).read_text(encoding="utf-8"))
    return [RowValues(line["weight"], line["values"]) for line in lines]


# The claim's fence follows either name.
_OF_BASE: Final = "base-f"


def _of_step(step: int) -> str:
    return f"step-{step:06d}-f"


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
    by_order = _have([*before.values(), *after.values()], names.PREFERENCE_CHOSEN_LOGPROB)
    value = _lead if by_order else lambda row: row.values[names.LOSS]
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
