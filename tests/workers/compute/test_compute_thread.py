"""The compute thread runs calls one after another, with a lower priority than other work."""

import asyncio
import os
import sys
import threading
from pathlib import Path

import pytest
import torch

from workers.compute import run_on_compute_thread

TASKS = Path("/proc/self/task")


async def test_calls_run_one_after_another_on_one_thread() -> None:
    running: list[int] = []

    def work() -> int:
        running.append(1)
        assert len(running) == 1
        running.pop()
        return threading.get_native_id()

    threads = await asyncio.gather(*(run_on_compute_thread(work) for _ in range(50)))
    assert set(threads) == {threads[0]} != {threading.get_native_id()}


@pytest.mark.skipif(sys.platform != "linux", reason="priorities of threads are Linux's")
@pytest.mark.skipif(torch.cuda.is_available(), reason="beside a GPU it must not be late")
async def test_it_yields_and_so_do_the_threads_that_help_it() -> None:
    def niceness() -> list[int]:
        before = set(TASKS.iterdir())
        threads = torch.get_num_threads()
        torch.set_num_threads(2)
        torch.randn(600, 600) @ torch.randn(600, 600)
        torch.set_num_threads(threads)
        helpers = [int(task.name) for task in set(TASKS.iterdir()) - before]
        own = threading.get_native_id()
        return [os.getpriority(os.PRIO_PROCESS, thread_id) for thread_id in (own, *helpers)]

    found = await run_on_compute_thread(niceness)
    assert set(found) == {min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)}


async def test_the_event_loop_keeps_its_own_priority() -> None:
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    await run_on_compute_thread(lambda: None)
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before
