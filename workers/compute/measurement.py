"""Measures how long the same work takes in different ways on this machine.

Owns the rounds, their order and the neighbours. Promises: the ways are timed in turn, so that other
work of the machine disturbs all of them alike, and about two seconds are enough. Must not know the
work.
"""

import os
import select
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final

import torch

from app.domain.models.compute_choices import ComputeChoice, ComputeScore
from app.domain.processes.interpreters import interpreter
from workers.compute.compute_thread import NICENESS

Work = Callable[[], None]
ReadClock = Callable[[], float]
Neighbours = Callable[[], AbstractContextManager[None]]

ROUNDS: Final = 7
ENOUGH_S: Final = 1.0
"""Seconds after which no further round begins."""
TOO_LONG_S: Final = 3.0
"""Seconds after which a round is given up."""
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
    """Returns the times of each way to do the work, in the order of `works`, of which the first is
    the assumed one. Sets the threads of the calling thread. Raises `TooBusy`.
    """
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
    """Returns the times of each way in the same rounds. Raises `TooBusy`."""
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
    """Keeps every core busy, with the priority of training. Raises `TooBusy` if the neighbours do
    not begin soon.
    """
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
