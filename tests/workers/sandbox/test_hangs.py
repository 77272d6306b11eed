"""A runner and a fork server that hang: no caller waits for ever, and the next program runs."""

import asyncio
import os
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from app.local.probes import sandbox_answers
from app.settings import SandboxSettings
from app.tools.programs import ALWAYS, FunctionCall
from app.tools.sandbox import (
    KEEP_ALIVE,
    KEEP_ALIVE_S,
    SandboxUnavailable,
    UnixSandbox,
    read_object,
    to_frame,
)
from tests.support.patience import until
from tests.support.sandbox.running import children, running_sandbox
from workers.sandbox.runner import Runner, serve

ONE = FunctionCall("def grade(sample, item):\n    return 1.0", "grade", ({}, {}))
ENDLESS = FunctionCall("import time\ndef f():\n    time.sleep(3600)\n", "f", ())
LARGE = FunctionCall("x = " + repr("x" * 8_000_000), "f", ())


async def test_a_frozen_runner_is_a_failure_of_the_sandbox_and_no_wait_for_ever() -> None:
    """For a caller whose program runs, for new ones, and for one whose program fills the socket.
    On a busy machine the first may give up before the freeze, which is the same failure.
    """
    with running_sandbox(parallel=1) as sandbox:
        alive = sandbox_answers(sandbox.socket)
        await until(lambda: alive(0), what="a runner that answers")
        once = UnixSandbox(sandbox.socket, patience_s=0, silence_s=2 * KEEP_ALIVE_S)
        first = asyncio.create_task(once.run(ENDLESS))
        await until(
            lambda: len(sandbox.processes()) == 2 or first.done(), what="a program that runs"
        )
        sandbox.process.send_signal(signal.SIGSTOP)
        try:
            late = (once.run(program) for program in (ONE, LARGE))
            ended = await asyncio.gather(first, *late, once.level(), return_exceptions=True)
            assert [str(error) for error in ended] == [
                "the sandbox has sent no keep-alive for 4 s"
            ] * 4
            assert {type(error) for error in ended} == {SandboxUnavailable}
            assert not alive(0)
        finally:
            sandbox.process.send_signal(signal.SIGCONT)
        await until(lambda: alive(0), what="a runner that answers")


async def test_a_runner_sends_signs_of_life_while_a_program_runs() -> None:
    with running_sandbox(parallel=1) as sandbox:
        reader, writer = await asyncio.open_unix_connection(sandbox.socket)
        writer.write(to_frame({"op": "run", "project": "p"}) + to_frame(ENDLESS.to_json()))
        signs = [await read_object(reader, limit=100) for _ in range(2)]
        writer.close()
        assert signs == [KEEP_ALIVE] * 2
        await until(lambda: sandbox.processes() == [], what="the end of a program without caller")


async def test_a_fork_server_that_hangs_is_replaced() -> None:
    runner = Runner(SandboxSettings(parallel=1, floor=tuple(ALWAYS)), prepared_s=3.0)
    with tempfile.TemporaryDirectory(prefix="sandbox") as name:  # its path is short
        socket = Path(name) / "sandbox.sock"
        await runner.start()
        serving = asyncio.create_task(serve(runner, socket))
        once = UnixSandbox(socket, patience_s=0)

        async def replied() -> bool:
            with suppress(SandboxUnavailable):
                return (await once.run(ONE)).reply == '{"value": 1.0}'
            return False

        try:
            await until(replied, what="a program")
            (frozen,) = fork_servers()
            os.kill(frozen, signal.SIGSTOP)
            with pytest.raises(SandboxUnavailable, match="started no process within 3 s"):
                await once.run(ONE)
            await until(replied, what="a program of another fork server")
            assert frozen not in fork_servers()
        finally:
            serving.cancel()
            await asyncio.wait([serving])
            runner.close()


def fork_servers() -> list[int]:
    """Process ids of the fork servers that this process has started."""
    found = []
    for pid in children(os.getpid()):
        with suppress(OSError):
            if b"workers.sandbox.fork_server" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found
