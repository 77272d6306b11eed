"""Held-out rows: what the loss makes of each, their means, and the paired report before and after.

Owns the values of each row, kept on disk per validated step until the job ends. Rows are measured
in the same company each time, so that nothing but the model changes their values. Without torch.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, nan
from pathlib import Path
from typing import Any, Final

from app.domain.jobs.stop_rules import RuleTrigger
from app.domain.rollouts import metrics as names
from workers.learning.committed import ManifestMismatch, commit_directory
from workers.learning.statistics import TIE, comparison
from workers.runs.context import RunContext

_NOTES: Final = "validation"
_FILE: Final = "rows.json"
MEASURED: Final = (
    names.LOSS,
    names.TOKEN_ACCURACY,
    names.PREFERENCE_ACCURACY,
    names.PREFERENCE_MARGIN,
)
"""Less is better of the first, more of the others."""
_TOLD: Final = dict(
    zip(MEASURED, ("loss", "token_accuracy", "reward_accuracy", "reward_margin"), strict=True)
)

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RowValues:
    """Values of one row: its learned tokens (1 for a pair), and means over them by curve name."""

    weight: float
    values: Values


def means(rows: Sequence[RowValues]) -> dict[str, float]:
    """Returns means over all learned tokens (or pairs), not over rows. The mean of values that are
    not all finite is NaN.
    """
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


async def keep(context: RunContext, step: int, rows: Sequence[RowValues]) -> None:
    """Stores the values of a step before it is committed. Each claim stores its own: a claim that
    died may have trained another adapter for the step, which on a GPU need not be equal to the bit.
    """
    directories = context.notes(_NOTES)
    name = f"{_name(step)}{context.fence}"
    await asyncio.to_thread(_write, directories.path(name), rows)
    await directories.store(name)


async def kept(context: RunContext, step: int) -> list[RowValues]:
    """Returns the values of the claim that committed the step, which is the latest. Raises
    `ManifestMismatch` when they are damaged or missing.
    """
    directories = context.notes(_NOTES)
    claims = [name for name in await directories.names() if name.startswith(_name(step))]
    fence = max((int(name.removeprefix(_name(step))) for name in claims), default=0)
    try:
        directory = await directories.fetch(f"{_name(step)}{fence}")
    except FileNotFoundError as error:
        raise ManifestMismatch(f"no claim has stored the rows of step {step}") from error
    return await asyncio.to_thread(_read, directory)


def _write(directory: Path, rows: Sequence[RowValues]) -> None:
    lines = [{"weight": row.weight, "values": dict(row.values)} for row in rows]
    with commit_directory(directory) as partial:
        (partial / _FILE).write_text(json.dumps(lines) + "\n", encoding="utf-8")


def _read(directory: Path) -> list[RowValues]:
    lines = json.loads((directory / _FILE).read_text(encoding="utf-8"))
    return [RowValues(line["weight"], line["values"]) for line in lines]


async def report(context: RunContext, step: int, ended_early: RuleTrigger | None) -> dict[str, Any]:
    """The paired report: the model that training started from against the published step, on the
    same rows. `full_valid_*` weigh tokens equally, as the curves do; the comparisons weigh rows
    equally. A row is won when its loss became less. `rows` counts the compared rows;
    `rows_left_out` counts those with a value that is not finite before or after training.
    """
    before, after = await kept(context, 0), await kept(context, step)
    both = list(zip(before, after, strict=True))
    pairs = {row: two for row, two in enumerate(both) if all(map(_is_finite, two))}
    change = {row: b.values[names.LOSS] - a.values[names.LOSS] for row, (a, b) in pairs.items()}
    worse = sorted((row for row, by in change.items() if by > TIE), key=lambda row: -change[row])
    wins = sum(by < -TIE for by in change.values())
    return {
        "object": "fine_tuning.job.report",
        "job_id": context.job.id,
        "base_model": context.base_model.name,
        "start_model": context.job.model,
        "step": step,
        "ended_early": None if ended_early is None else ended_early.to_json(),
        "rows": len(pairs),
        "rows_left_out": len(both) - len(pairs),
        **_compared(pairs, seed=context.job.seed),
        **_full(means(before), means(after)),
        "wins": wins,
        "ties": len(pairs) - wins - len(worse),
        "losses": len(worse),
        "regressions": [
            {
                "row": row,
                "before": before[row].values[names.LOSS],
                "after": after[row].values[names.LOSS],
            }
            for row in worse
        ],
    }


def _is_finite(row: RowValues) -> bool:
    return all(isfinite(row.values[name]) for name in MEASURED if name in row.values)


def _compared(pairs: Mapping[int, tuple[RowValues, RowValues]], *, seed: int) -> dict[str, Any]:
    """Compares each value that every row has; without rows there is no comparison."""
    rows = [values for two in pairs.values() for values in two]
    shared = [name for name in MEASURED if rows and all(name in row.values for row in rows)]
    return {
        _TOLD[name]: comparison(
            {row: [before.values[name]] for row, (before, _) in pairs.items()},
            {row: [after.values[name]] for row, (_, after) in pairs.items()},
            seed=seed,
        )
        for name in shared
    }


def _full(before: dict[str, float], after: dict[str, float]) -> dict[str, Any]:
    """Returns the means over all rows, where the mean is finite on both sides."""
    named = {
        names.LOSS: "full_valid_loss",
        names.TOKEN_ACCURACY: "full_valid_mean_token_accuracy",
        names.PREFERENCE_ACCURACY: "full_valid_reward_accuracy",
        names.PREFERENCE_MARGIN: "full_valid_reward_margin",
    }
    return {
        label: {"base": before[name], "tuned": after[name]}
        for name, label in named.items()
        if name in before and name in after and isfinite(before[name]) and isfinite(after[name])
    }


def _name(step: int) -> str:
    """The claim's fence follows."""
    return f"step-{step:06d}-f"
