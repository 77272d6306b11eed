"""Evaluates held-out rows: the loss of each one, and the means.

Owns the values of each row, kept on disk per validated step until the job ends. Rows are measured
in the same batches each time, so that nothing but the model changes their values. Imports no torch.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, nan
from pathlib import Path
from typing import Final

from app.disk.committed import ManifestMismatch, commit_directory
from app.domain.rollouts import metrics as names
from workers.runs.context import RunContext

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


async def store_values(context: RunContext, step: int, rows: Sequence[RowValues]) -> None:
    """Stores the values of a step before it is committed. Each claim stores its own: a claim that
    crashed may have trained another adapter for the step, which on a GPU need not be equal to the
    bit.
    """
    await _store_values(context, _of_step(step), rows)


async def store_base_values(context: RunContext, rows: Sequence[RowValues]) -> None:
    """Stores the values of the base model of a job that starts from a tuned one."""
    await _store_values(context, _OF_BASE, rows)


async def committed_values(context: RunContext, step: int) -> list[RowValues]:
    """Returns the values that the committing claim, the latest one, stored. Raises
    `ManifestMismatch` when they are damaged or missing.
    """
    found = await _stored_values(context, _of_step(step))
    if found is None:
        raise ManifestMismatch(f"no claim has stored the rows of step {step}")
    return found


async def base_values(context: RunContext) -> list[RowValues] | None:
    """Returns the base model's values, or `None` if they were not measured. Raises
    `ManifestMismatch` when they are damaged.
    """
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
