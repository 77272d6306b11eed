"""Measures how long the same work takes in different ways on this machine."""

import hashlib
import json
import os
import select
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import structlog
import torch

from app.kit.processes import interpreter
from app.models.compute import (
    ComputeChoice,
    ComputeRole,
    ComputeScore,
    MeasuredChoice,
    Products,
    measured_choice,
    write_choice,
)
from workers.compute import NICENESS, describe_processor

Work = Callable[[], None]
ReadClock = Callable[[], float]
Neighbours = Callable[[], AbstractContextManager[None]]

ROUNDS: Final = 7
ENOUGH_S: Final = 1.0
"""Seconds after which no further round begins."""
TOO_LONG_S: Final = 3.0
FEWEST_ROUNDS: Final = 3
_BUSY: Final = """
import os, sys, time
os.nice(int(sys.argv[1]))
parent, end = os.getppid(), time.monotonic() + 60
print(flush=True)
while time.monotonic() < end and os.getppid() == parent:
    for _ in range(100_000):
        pass
"""


class TooBusy(Exception):
    """The machine did too little of the work to compare the ways."""


def measured_scores(
    works: Mapping[ComputeChoice, Work],
    *,
    clock: ReadClock = time.perf_counter,
    neighbours: Neighbours | None = None,
) -> tuple[ComputeScore, ...]:
    """Times each way, the assumed one first. Sets torch's threads. Raises `TooBusy`."""
    alone = _rounds(works, clock)
    with (neighbours or busy_neighbours)():
        beside = _rounds(works, clock)
    assumed, *_ = works
    return tuple(
        ComputeScore(
            choice=way,
            # The round that nothing disturbed; beside others, disturbance is what is measured.
            alone_s=min(alone[way]),
            beside_s=statistics.median(beside[way]),
            won=statistics.fmean(
                one < other
                for times in (alone, beside)
                for one, other in zip(times[way], times[assumed], strict=True)
            ),
        )
        for way in works
    )


def _rounds(
    works: Mapping[ComputeChoice, Work], clock: ReadClock
) -> Mapping[ComputeChoice, Sequence[float]]:
    rounds: list[dict[ComputeChoice, float]] = []
    began = clock()
    while len(rounds) < ROUNDS and (len(rounds) < FEWEST_ROUNDS or clock() - began < ENOUGH_S):
        times: dict[ComputeChoice, float] = {}
        for way, work in works.items():
            if clock() - began > TOO_LONG_S:
                break
            torch.set_num_threads(way.threads)
            work()  # the threads of this number are made here
            started = clock()
            work()
            times[way] = clock() - started
        if len(times) < len(works):
            break
        rounds.append(times)
    if len(rounds) < FEWEST_ROUNDS:
        raise TooBusy
    return {way: [times[way] for times in rounds] for way in works}


@contextmanager
def busy_neighbours() -> Iterator[None]:
    """Keeps every core busy, with the priority of training. Raises `TooBusy`."""
    command = interpreter("-S", "-c", _BUSY, str(NICENESS))
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603 - our own program
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        for process in processes:
            begun = [] if process.stdout is None else [process.stdout]
            if not select.select(begun, [], [], TOO_LONG_S)[0]:
                raise TooBusy
        yield  # each has written its line, and computes from here on
    finally:
        for process in processes:
            process.kill()
            process.communicate()


log = structlog.get_logger()

VERSION: Final = 1
"""Rises with every change of engine or trainer that makes older results wrong."""
CLEARLY_FASTER: Final = 0.9
"""Largest share of the assumed way's time that another way may take to be chosen."""
NEARLY_ALWAYS: Final = 0.8
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
    role: ComputeRole
    widths: tuple[int, int]
    candidates: tuple[ComputeChoice, ...]
    """The assumed way first."""
    work: Callable[[ComputeChoice], Work]

    @property
    def assumed(self) -> ComputeChoice:
        return self.candidates[0]


def ways(products: Sequence[Products], threads: Sequence[int]) -> tuple[ComputeChoice, ...]:
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
    left = tuple(dict.fromkeys(forced.on(way) for way in autotuning.candidates))
    autotuning = replace(autotuning, candidates=left)
    if directory is None or len(left) == 1:
        return autotuning.assumed
    file = directory / f"{autotuning.role}-{_digest(autotuning)}.json"
    kept = _read(file, autotuning)
    if kept is None:
        kept = _measured(autotuning, measure)
        try:
            write_choice(file, kept)
        except OSError as error:
            log.warning("the way to compute is not kept", reason=str(error))
    return kept.choice


def fastest(scores: Sequence[ComputeScore]) -> ComputeChoice:
    """The first way, unless another is clearly faster in nearly every round: luck differs."""
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
