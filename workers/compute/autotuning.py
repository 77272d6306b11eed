"""Chooses how a process computes on a CPU: by the operator, by a kept measurement, or by a new one.

Owns the candidates, the rule between them and the files. Promises: a machine measures once for a
role and a shape; another way than the assumed one is chosen only where it is clearly faster; a
result that cannot be kept is good for this process all the same. Must not know engines or trainers.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import structlog

from app.disk.measured_choices import measured_choice, write_choice
from app.domain.models.compute_choices import (
    ComputeChoice,
    ComputeRole,
    ComputeScore,
    MeasuredChoice,
    Products,
)
from workers.compute.measurement import TooBusy, Work, measured_scores
from workers.compute.processor import describe_processor

log = structlog.get_logger()

VERSION: Final = 1
"""Rises with every change of engine or trainer that makes older results wrong."""
CLEARLY_FASTER: Final = 0.9
"""Largest share of the assumed way's time that another way may take to be chosen."""
NEARLY_ALWAYS: Final = 0.8
"""Share of the rounds in which it must have been faster."""
_FEWEST_ROWS, _MOST_ROWS, _OPERATIONS = 64, 512, 1_000_000_000
MeasureWays = Callable[[dict[ComputeChoice, Work]], Sequence[ComputeScore]]


@dataclass(frozen=True, slots=True)
class ForcedCompute:
    """The decisions of the operator; `None` leaves one to the measurement."""

    products: Products | None = None
    threads: int | None = None

    def on(self, choice: ComputeChoice) -> ComputeChoice:
        return ComputeChoice(
            products=self.products or choice.products, threads=self.threads or choice.threads
        )


@dataclass(frozen=True, slots=True)
class Autotuning:
    """A role of a process, and the ways in which it can compute."""

    role: ComputeRole
    widths: tuple[int, int]
    candidates: tuple[ComputeChoice, ...]
    """The assumed way first."""
    work: Callable[[ComputeChoice], Work]
    """Builds the work that is timed."""

    @property
    def assumed(self) -> ComputeChoice:
        return self.candidates[0]


def ways(products: Sequence[Products], threads: Sequence[int]) -> tuple[ComputeChoice, ...]:
    """Returns every pair, the first ones first."""
    return tuple(
        ComputeChoice(products=product, threads=count)
        for product in products
        for count in dict.fromkeys(max(1, count) for count in threads)
    )


def rows_of_work(widths: tuple[int, int]) -> int:
    """Returns the rows of a trainer's work on these widths: less of them for a large model."""
    return max(_FEWEST_ROWS, min(_MOST_ROWS, _OPERATIONS // (6 * widths[0] * widths[1])))


def choose(
    autotuning: Autotuning,
    directory: Path | None,
    forced: ForcedCompute,
    *,
    measure: MeasureWays = measured_scores,
) -> ComputeChoice:
    """Returns the way to compute. Without a directory nothing is measured."""
    left = tuple(dict.fromkeys(forced.on(way) for way in autotuning.candidates))
    autotuning = replace(autotuning, candidates=left)
    if directory is None or len(left) == 1:
        return autotuning.assumed
    file = directory / f"{autotuning.role}-{_digest(autotuning)}.json"
    kept = _read(file, autotuning)
    if kept is None:
        kept = _measured(autotuning, measure)
        _keep(file, kept)
    return kept.choice


def fastest(scores: Sequence[ComputeScore]) -> ComputeChoice:
    """Returns the first way, unless another one is clearly faster, and was in nearly every round:
    on a busy machine the times of any two ways differ by luck.
    """
    assumed = scores[0]
    clear = [
        score
        for score in scores[1:]
        if score.total_s < CLEARLY_FASTER * assumed.total_s and score.won >= NEARLY_ALWAYS
    ]
    return min(clear, key=lambda score: score.total_s, default=assumed).choice


def _measured(autotuning: Autotuning, measure: MeasureWays) -> MeasuredChoice:
    log.info("ways to compute are measured", role=autotuning.role)
    try:
        scores = tuple(measure({way: autotuning.work(way) for way in autotuning.candidates}))
    except TooBusy:
        log.warning("the machine is too busy to measure ways to compute", role=autotuning.role)
        scores = ()
    return MeasuredChoice(
        role=autotuning.role,
        machine=describe_machine(),
        widths=autotuning.widths,
        choice=fastest(scores) if scores else autotuning.assumed,
        scores=scores,
    )


def describe_machine() -> str:
    return f"{describe_processor()}, {os.cpu_count()} cores"


def _digest(autotuning: Autotuning) -> str:
    ways_ = [way.model_dump() for way in autotuning.candidates]
    facts = [VERSION, describe_machine(), autotuning.widths, ways_]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _read(file: Path, autotuning: Autotuning) -> MeasuredChoice | None:
    kept = measured_choice(file)
    if kept is None or kept.choice not in autotuning.candidates:
        return None
    measured_ways = tuple(score.choice for score in kept.scores)
    return kept if measured_ways in ((), autotuning.candidates) else None


def _keep(file: Path, kept: MeasuredChoice) -> None:
    try:
        write_choice(file, kept)
    except OSError as error:
        log.warning("the way to compute is not kept", reason=str(error))
