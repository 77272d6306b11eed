"""Held-out rows: what the loss makes of each, their means, and the paired report before and after.

Owns the values of each row, kept on disk per validated step until the job ends. Rows are measured
in the same company each time, so that nothing but the model changes their values. Without torch.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any, Final

from app.domain.jobs.stop_rules import RuleTrigger
from app.domain.rollouts import metrics as names
from workers.learning.committed import commit_directory, verify_directory
from workers.learning.statistics import TIE, comparison
from workers.runs.context import RunContext

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
    """Of one row: its learned tokens (1 for a pair), and means over them by curve name."""

    weight: float
    values: Values


def means(rows: Sequence[RowValues]) -> dict[str, float]:
    """Over all learned tokens (or pairs), not over rows."""
    total = fsum(row.weight for row in rows)
    return {
        name: fsum(row.weight * row.values[name] for row in rows) / total
        for name in MEASURED
        if total and all(name in row.values for row in rows)
    }


def keep(context: RunContext, step: int, rows: Sequence[RowValues]) -> None:
    """Before the step is committed, each claim for itself: what one that died then has kept is of
    the adapter that it made of the step, which on a GPU need not be this one to the bit.
    """
    with commit_directory(_directory(context) / f"{_name(step)}{context.fence}") as partial:
        lines = [{"weight": row.weight, "values": dict(row.values)} for row in rows]
        (partial / _FILE).write_text(json.dumps(lines) + "\n", encoding="utf-8")


def kept(context: RunContext, step: int) -> list[RowValues]:
    """Of the claim that committed them, which is the latest. Raises `ManifestMismatch`."""
    claims = _directory(context).glob(f"{_name(step)}*")
    fences = [int(path.name.removeprefix(_name(step))) for path in claims]
    directory = _directory(context) / f"{_name(step)}{max(fences, default=0)}"
    verify_directory(directory)
    lines = json.loads((directory / _FILE).read_text(encoding="utf-8"))
    return [RowValues(line["weight"], line["values"]) for line in lines]


def report(context: RunContext, step: int, ended_early: RuleTrigger | None) -> dict[str, Any]:
    """The paired report: the model that training started from against the published step, on the
    same rows. `full_valid_*` weigh tokens equally, as the curves do; the comparisons weigh rows
    equally. A row is won when its loss became less.
    """
    before, after = kept(context, 0), kept(context, step)
    pairs = list(zip(before, after, strict=True))
    change = [b.values[names.LOSS] - a.values[names.LOSS] for a, b in pairs]
    worse = sorted((row for row, by in enumerate(change) if by > TIE), key=lambda row: -change[row])
    wins = sum(by < -TIE for by in change)
    return {
        "object": "fine_tuning.job.report",
        "job_id": context.job.id,
        "base_model": context.base_model.name,
        "start_model": context.job.model,
        "step": step,
        "ended_early": None if ended_early is None else ended_early.to_json(),
        "rows": len(pairs),
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


def _compared(pairs: list[tuple[RowValues, RowValues]], *, seed: int) -> dict[str, Any]:
    shared = [name for name in MEASURED if all(name in one.values for two in pairs for one in two)]
    return {
        _TOLD[name]: comparison(
            {row: [before.values[name]] for row, (before, _) in enumerate(pairs)},
            {row: [after.values[name]] for row, (_, after) in enumerate(pairs)},
            seed=seed,
        )
        for name in shared
    }


def _full(before: dict[str, float], after: dict[str, float]) -> dict[str, Any]:
    named = {
        names.LOSS: "full_valid_loss",
        names.TOKEN_ACCURACY: "full_valid_mean_token_accuracy",
        names.PREFERENCE_ACCURACY: "full_valid_reward_accuracy",
        names.PREFERENCE_MARGIN: "full_valid_reward_margin",
    }
    return {
        told: {"base": before[name], "tuned": after[name]}
        for name, told in named.items()
        if name in before and name in after
    }


def _directory(context: RunContext) -> Path:
    return context.objects.local_path(f"{context.job_key}/validation")


def _name(step: int) -> str:
    """The claim's fence follows."""
    return f"step-{step:06d}-f"
