"""The clock of a program on a busy machine, by the kernel's counts of its waits."""

import asyncio
import socket
import time

import pytest
from typing_extensions import override

from tests.support.cases import cases
from workers.sandbox.execution import ExecutionFailed, FairClock, IdleFork, _in_fair_time

LIMIT_S = 10.0


@cases(
    ("elapsed_s", "waited_s", "left_s"),
    [(4, 0, 6), (10, 0, 0), (12, 0, -2), (30, 25, 5), (59, 55, 6), (60, 50, 0), (90, 70, -10)],
)
def test_only_waits_for_a_processor_extend_the_time(
    elapsed_s: float, waited_s: float, left_s: float
) -> None:
    assert FairClock(LIMIT_S).left_s(elapsed_s=elapsed_s, waited_s=waited_s) == left_s


@cases(("elapsed_s", "waited_s"), [(60, 51), (60, 60), (75, 70)])
def test_after_six_times_its_limit_the_machine_is_to_blame(
    elapsed_s: float, waited_s: float
) -> None:
    with pytest.raises(ExecutionFailed, match=f"is busy: within {elapsed_s} s a program had too"):
        FairClock(LIMIT_S).left_s(elapsed_s=elapsed_s, waited_s=waited_s)


def test_the_waits_of_a_process_that_is_gone_stay_known() -> None:
    clock = FairClock(LIMIT_S)
    assert clock.left_s(elapsed_s=20, waited_s=15) == 5
    assert clock.left_s(elapsed_s=21, waited_s=0) == 4


class _Starved(IdleFork):
    """A process that has had no processor since it was started."""

    @override
    def waited_s(self) -> float:
        return time.monotonic()


class _Idle(IdleFork):
    """A process that waits for nothing but itself."""

    @override
    def waited_s(self) -> float:
        return 0.0


@cases("kind", [_Starved, _Idle])
async def test_a_starved_program_ends_as_a_fault_of_the_machine_and_an_idle_one_by_its_limit(
    kind: type[IdleFork],
) -> None:
    ends = [*socket.socketpair(), *socket.socketpair()]
    for end in ends:
        end.setblocking(False)
    forked = kind(-1, ends[0], ends[2])
    started = asyncio.get_running_loop().time()
    try:
        if kind is _Idle:
            assert await _in_fair_time(forked, b"{}", limit_s=0.05) is None
        else:
            with pytest.raises(ExecutionFailed, match="is busy"):
                await _in_fair_time(forked, b"{}", limit_s=0.05)
            assert asyncio.get_running_loop().time() - started >= 6 * 0.05
    finally:
        for end in ends:
            end.close()
