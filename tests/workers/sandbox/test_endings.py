"""Programs that end without a reply: the ending names the limit or the signal that ended them."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.tools.programs import FunctionCall, ProgramOutcome
from tests.support.patience import until
from tests.support.sandbox.running import RunningSandbox, running_sandbox

NO_MEMORY = "MemoryError: it takes more memory than a program may"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox(parallel=2) as running:
        yield running


async def run(sandbox: RunningSandbox, body: str) -> ProgramOutcome:
    source = "import os, sys, ctypes, signal, time\ndef f():\n" + body
    return await sandbox.client.run(FunctionCall(source, "f", ()))


@pytest.mark.parametrize(
    ("body", "how", "detail"),
    [
        ("    os._exit(7)", "crashed", "it ended without a result, with the exit code 7"),
        (
            "    ctypes.string_at(0)",
            "crashed",
            "it crashed (SIGSEGV), as too deep a recursion does",
        ),
        (
            "    os.closerange(0, 99)\n    time.sleep(3600)",
            "crashed",
            "it closed the channel of its result and ran on",
        ),
        (
            "    os.closerange(0, 99)\n    os._exit(3)",
            "crashed",
            "it ended without a result, with the exit code 3",
        ),
        ("    return 'x' * (1 << 21)", "output_limit", "a result of more than 1048576 bytes"),
    ],
)
async def test_an_ending_without_a_reply_has_its_reason(
    sandbox: RunningSandbox, body: str, how: str, detail: str
) -> None:
    ending = await run(sandbox, body)
    assert (ending.how, ending.detail) == (how, detail)


@pytest.mark.parametrize(
    "body",
    [
        "    return bytearray(1 << 30)",
        "    held = []\n    while True:\n        held.append('x' * 100_000)",
        "    held = [[]]\n    while True:\n        held.append(held[-1] * 2 + [held])",
        "    global held\n    held = []\n    while True:\n        held.append([held])",
    ],
)
async def test_memory_is_named(sandbox: RunningSandbox, body: str) -> None:
    ending = await run(sandbox, body)
    assert ending.how == "replied", ending.detail
    assert json.loads(ending.reply)["error"]["text"] == NO_MEMORY


async def test_processor_time_and_time_by_the_clock_differ() -> None:
    with running_sandbox(time_limit_s=1.0) as sandbox:
        slept = await run(sandbox, "    time.sleep(3600)")
        assert (slept.how, slept.detail) == ("time_limit", "no result within 1 s")
        computed = await run(sandbox, "    while True:\n        pass")
    # The order of the two depends on how busy the machine is.
    assert computed.how == "time_limit"
    assert computed.detail in {"no result within 1 s", "no result within 1 s of processor time"}


@pytest.fixture
def crowd() -> Iterator[None]:
    """Four other programs compute on the one processor that this process and its children have."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    shell = ("sh", "-c", "while :; do :; done")
    others = [subprocess.Popen(shell, start_new_session=True) for _ in range(4)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
        os.sched_setaffinity(0, before)


@pytest.mark.usefixtures("crowd")
async def test_waits_for_a_processor_do_not_count() -> None:
    """The program computes for half of its limit, and takes longer than that by the clock."""
    with running_sandbox(time_limit_s=0.8) as sandbox:
        ending = await run(
            sandbox, "    while time.process_time() < 0.4:\n        pass\n    return 1"
        )
    assert (ending.how, ending.detail) == ("replied", "")
    assert ending.elapsed_s > 0.8


async def test_a_kill_from_outside_names_the_memory_that_was_held() -> None:
    """As the kernel kills, where the machine has no memory left."""
    with running_sandbox(parallel=1) as sandbox:
        ending = asyncio.create_task(run(sandbox, "    while True: pass"))
        await until(lambda: _computes(sandbox), what="a program that runs")
        os.kill(sandbox.processes()[-1], signal.SIGKILL)
        ended = await ending
    assert ended.how == "crashed"
    assert ended.detail.startswith("it was killed (SIGKILL) with ")
    assert ended.detail.endswith(" MiB of memory: this machine has no more to give")


def _computes(sandbox: RunningSandbox) -> bool:
    """Returns whether a program has computed for longer than its process needs to be confined."""
    if len(processes := sandbox.processes()) < 2:
        return False
    try:
        after_name = Path(f"/proc/{processes[-1]}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it ended
        return False
    return int(after_name[11]) >= 0.5 * os.sysconf("SC_CLK_TCK")
