"""Shares of projects in the slots of a real runner."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from app.tools.programs import MAX_REPLY, FunctionCall, ProgramOutcome
from app.tools.sandbox import (
    KEEP_ALIVE,
    KEEP_ALIVE_S,
    SandboxUnavailable,
    UnixSandbox,
    read_object,
    to_frame,
)
from tests.support.patience import until
from tests.support.sandbox.running import RunningSandbox, running_sandbox

ONE = FunctionCall("def grade(sample, item):\n    return 1.0", "grade", ({}, {}))
ENDLESS = FunctionCall("import time\ndef f():\n    time.sleep(3600)\n", "f", ())
SLOTS = 2


@asynccontextmanager
async def question(
    sandbox: RunningSandbox, program: FunctionCall, *, project_id: str
) -> AsyncIterator[asyncio.StreamReader]:
    """A connection that asks for a program, to be read frame by frame."""
    reader, writer = await asyncio.open_unix_connection(sandbox.socket)
    header = {"op": "run", "project": project_id}
    writer.write(to_frame(header) + to_frame(program.to_json()))
    try:
        yield reader
    finally:
        writer.close()


@asynccontextmanager
async def flood(sandbox: RunningSandbox, *, programs: int) -> AsyncIterator[None]:
    """One project's programs without end, each of which runs or waits."""
    async with AsyncExitStack() as stack:
        asked = [question(sandbox, ENDLESS, project_id="proj_a") for _ in range(programs)]
        readers = [await stack.enter_async_context(one) for one in asked]
        for reader in readers:
            assert await read_object(reader, limit=MAX_REPLY) == KEEP_ALIVE
        yield


async def test_a_flood_delays_another_project_by_one_running_program_at_most() -> None:
    """One of the flood's programs ends: the slot is the other project's, before all that wait."""
    with running_sandbox(parallel=SLOTS, settings={"per_project": SLOTS}) as sandbox:
        async with (
            flood(sandbox, programs=20),
            question(sandbox, ONE, project_id="proj_b") as reader,
        ):
            assert await read_object(reader, limit=MAX_REPLY) == KEEP_ALIVE  # so it waits
            os.kill(sandbox.processes()[0], signal.SIGKILL)
            answer = await read_object(reader, limit=MAX_REPLY)
            while answer == KEEP_ALIVE:
                answer = await read_object(reader, limit=MAX_REPLY)
    ending = ProgramOutcome.read(answer)
    assert json.loads(ending.reply) == {"value": 1.0}
    assert ending.waited_s >= KEEP_ALIVE_S / 2


async def test_a_flood_leaves_a_slot_that_another_project_finds_free() -> None:
    with running_sandbox(parallel=SLOTS) as sandbox:
        async with flood(sandbox, programs=20):
            endings = [await sandbox.of(f"proj_{number}").run(ONE) for number in range(5)]
    assert [json.loads(ending.reply) for ending in endings] == [{"value": 1.0}] * 5


async def test_a_full_queue_is_a_failure_of_the_sandbox_for_its_project_alone() -> None:
    """Also for a program that is larger than what a socket buffers."""
    with running_sandbox(parallel=SLOTS, settings={"max_waiting": 3}) as sandbox:
        async with flood(sandbox, programs=4):
            once = UnixSandbox(sandbox.socket, project_id="proj_a", patience_s=0)
            large = FunctionCall("x = " + repr("x" * 4_000_000), "f", ())
            for program in (ONE, large):
                with pytest.raises(SandboxUnavailable, match="is full: 3 programs of this project"):
                    await once.run(program)
            assert (await sandbox.of("proj_b").run(ONE)).how == "replied"


async def test_a_wait_has_the_callers_limit_and_the_runners() -> None:
    with running_sandbox(parallel=SLOTS, settings={"wait_limit_s": 0.2}) as sandbox:
        async with flood(sandbox, programs=1):
            for wait_s, limit in ((None, "0.2"), (0.1, "0.1"), (3600.0, "0.2")):
                once = UnixSandbox(sandbox.socket, project_id="proj_a", patience_s=0, wait_s=wait_s)
                with pytest.raises(SandboxUnavailable, match=f"no free slot within {limit} s"):
                    await once.run(ONE)


async def test_callers_that_go_leave_the_queue() -> None:
    with running_sandbox(parallel=SLOTS, settings={"max_waiting": 3}) as sandbox:
        async with flood(sandbox, programs=4):
            pass

        async def replied() -> bool:
            try:
                return (await sandbox.of("proj_a").run(ONE)).how == "replied"
            except SandboxUnavailable:
                return False

        await until(replied, what="a queue without those that went")
