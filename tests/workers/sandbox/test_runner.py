"""The runner of the sandbox: replies, limits, the floor, and what happens when its parts die."""

import asyncio
import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.kit.processes import SANDBOX_BELOW_FLOOR
from app.tools.programs import ALWAYS, FunctionCall, ProgramOutcome, Script
from app.tools.sandbox import ProgramTooLarge, SandboxUnavailable, UnixSandbox
from tests.support.patience import until
from tests.support.sandbox.running import (
    RunningSandbox,
    children,
    command,
    environment,
    running_sandbox,
)

ECHO = "def echo(*values):\n    return values\n"
TIMED = """
import time
def timed(number):
    start = time.monotonic()
    time.sleep(0.01)
    return number, start, time.monotonic()
"""
SLEEP = "import time\ndef sleep(seconds):\n    time.sleep(seconds)\n    return seconds\n"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox(parallel=2) as running:
        yield running


async def call(
    sandbox: RunningSandbox, source: str, *arguments: object, name: str
) -> ProgramOutcome:
    return await sandbox.client.run(FunctionCall(source, name, arguments))


@pytest.mark.parametrize(
    "value",
    [0, -1.5, True, None, "ä\ud800\x00", [1, [2]], {"a": {"b": [None]}}, 10**400, "x" * 1_000_000],
)
async def test_values_pass_both_ways(sandbox: RunningSandbox, value: object) -> None:
    ending = await call(sandbox, ECHO, value, name="echo")
    assert ending.how == "replied"
    assert json.loads(ending.reply) == {"value": [value]}


@pytest.mark.parametrize(
    ("source", "reply"),
    [
        ("import numpy\ndef f():\n    return numpy.float32(0.5)", {"value": 0.5}),
        ("import numpy\ndef f():\n    return numpy.int64(7)", {"value": 7}),
        ("from fractions import Fraction\ndef f():\n    return Fraction(1, 4)", {"value": 0.25}),
        ("print('x')\ndef f():\n    print('y')\n    return 1", {"value": 1}),
        ("import statistics\ndef f():\n    return statistics.mean([1, 2])", {"value": 1.5}),
        ("def f():\n    return 'ä'.encode('utf-16-le').hex()", {"value": "e400"}),
        ("def f():\n    return 'ä'.encode('idna').decode()", {"value": "xn--4ca"}),
        ("import time\ndef f():\n    return time.strptime('2026', '%Y').tm_year", {"value": 2026}),
    ],
)
async def test_usual_modules_are_there(sandbox: RunningSandbox, source: str, reply: object) -> None:
    ending = await call(sandbox, source, name="f")
    assert json.loads(ending.reply) == reply


@pytest.mark.parametrize(
    ("source", "text", "line", "code"),
    [
        ("def f():\n    return 1 / 0", "ZeroDivisionError: division by zero", 2, "return 1 / 0"),
        ("def f(:\n", "SyntaxError: invalid syntax", 1, "def f(:"),
        ("import pandas_\n", "ModuleNotFoundError: the sandbox has no module 'pandas_'", 1, None),
        ("x = 1", "NameError: the source defines no function 'f'", None, None),
        ("def f():\n    return {1, 2}", "TypeError: it returned a set", None, None),
        ("def f():\n    return float('nan')", "ValueError: it returned nan", None, None),
        ("def f():\n    return [float('inf')]", "ValueError: Out of range float", None, None),
        ("def f():\n    raise SystemExit", "SystemExit: ", 2, "raise SystemExit"),
        ("def f(a):\n    pass", "TypeError: f() missing 1 required", None, None),
        ("def f():\n    return bytearray(1 << 30)", "MemoryError", 2, "return bytearray(1 << 30)"),
        ("def f():\n    return f()", "RecursionError: maximum recursion", 2, "return f()"),
    ],
)
async def test_an_error_has_its_line(
    sandbox: RunningSandbox, source: str, text: str, line: int | None, code: str | None
) -> None:
    ending = await call(sandbox, source, name="f")
    error = json.loads(ending.reply)["error"]
    assert error["text"].startswith(text)
    assert error["line"] == line
    assert code is None or error["code"] == code


@pytest.mark.parametrize(
    ("source", "stdin", "reply"),
    [
        ("print(sum(map(int, input().split())))", "1 2 3\n", {"output": "6\n"}),
        ("import sys\nsys.stdout.buffer.write(b'a\\xff')", "", {"output": "a\ufffd"}),
        (
            "import sys\nprint('out')\nprint('no', file=sys.stderr)\nsys.exit()",
            "",
            {"output": "out\n"},
        ),
        ("if __name__ == '__main__':\n    print(1)", "", {"output": "1\n"}),
    ],
)
async def test_a_script_prints(
    sandbox: RunningSandbox, source: str, stdin: str, reply: object
) -> None:
    assert json.loads((await sandbox.client.run(Script(source, stdin))).reply) == reply


async def test_a_script_that_prints_without_end_fails(sandbox: RunningSandbox) -> None:
    ending = await sandbox.client.run(Script("while True:\n    print('x' * 1000)", ""))
    assert "prints more than" in json.loads(ending.reply)["error"]["text"]


async def test_a_program_is_ended_at_its_limit_and_its_neighbour_is_not() -> None:
    with running_sandbox(time_limit_s=1.0) as sandbox:
        late = asyncio.create_task(call(sandbox, SLEEP, 3600, name="sleep"))

        async def echoes() -> bool:
            ending = await call(sandbox, ECHO, 1, name="echo")
            return ending.reply == '{"value": [1]}'

        await until(echoes, what="a program beside it")
        ending = await late
        assert (ending.how, ending.detail) == ("time_limit", "no result within 1 s")
        assert ending.elapsed_s >= 1.0
        await until(echoes, what="a program after it")
        await until(lambda: sandbox.processes() == [], what="a sandbox without survivors")


async def test_at_most_so_many_run_at_once_and_all_get_their_own_reply(
    sandbox: RunningSandbox,
) -> None:
    calls = (call(sandbox, TIMED, n, name="timed") for n in range(50))
    runs = [json.loads(ending.reply)["value"] for ending in await asyncio.gather(*calls)]
    assert [number for number, _, _ in runs] == list(range(50))
    begun = [start for _, start, _ in runs]
    assert max(sum(start <= at < end for _, start, end in runs) for at in begun) <= 2


async def test_a_program_that_is_too_large_is_not_sent(sandbox: RunningSandbox) -> None:
    with pytest.raises(ProgramTooLarge, match="the limit is 16777216"):
        await call(sandbox, ECHO, "x" * (1 << 24), name="echo")


async def test_a_fork_server_that_crashes_is_started_again_with_all_layers(
    sandbox: RunningSandbox,
) -> None:
    level, killed = await sandbox.client.level(), sandbox.fork_server()
    once = UnixSandbox(sandbox.socket, patience_s=0)
    late = asyncio.create_task(once.run(FunctionCall(SLEEP, "sleep", (3600,))))
    await until(lambda: len(sandbox.processes()) == 2, what="a program that runs")
    programs = sandbox.processes()
    os.kill(killed, signal.SIGKILL)
    with pytest.raises(SandboxUnavailable, match="lost a process"):
        await late  # its programs die with it, and no program is to blame
    assert json.loads((await call(sandbox, ECHO, 1, name="echo")).reply) == {"value": [1]}
    assert sandbox.fork_server() != killed
    assert not set(programs) & set(sandbox.processes())
    assert await sandbox.client.level() == level


async def test_a_runner_that_is_killed_leaves_no_process() -> None:
    with running_sandbox() as sandbox:
        late = asyncio.create_task(
            UnixSandbox(sandbox.socket, patience_s=0).run(FunctionCall(SLEEP, "sleep", (3600,)))
        )
        await until(lambda: len(sandbox.processes()) == 2, what="a program that runs")
        left = [sandbox.fork_server(), *sandbox.processes()]
        sandbox.process.kill()
        with pytest.raises(SandboxUnavailable, match="the sandbox does not answer"):
            await late
        await until(
            lambda: not any(_alive(pid) for pid in left), what="the end of all its processes"
        )


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


async def test_a_runner_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    with running_sandbox() as sandbox:
        socket = tmp_path / ("deep" * 30) / "sandbox.sock"  # longer than an address may be
        socket.parent.mkdir()
        client = UnixSandbox(socket)
        asked = asyncio.create_task(client.run(FunctionCall(ECHO, "echo", (1,))))
        await asyncio.sleep(0)
        socket.symlink_to(sandbox.socket)
        assert json.loads((await asked).reply) == {"value": [1]}


def test_only_its_user_can_connect(sandbox: RunningSandbox) -> None:
    assert stat.S_IMODE(sandbox.socket.stat().st_mode) == 0o600


def test_below_its_floor_a_runner_does_not_start(tmp_path: Path) -> None:
    floor = (*sorted(ALWAYS), "seccomp", "landlock")
    ended = subprocess.run(
        command(without=("seccomp",)),
        env=environment(tmp_path, floor),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == SANDBOX_BELOW_FLOOR
    assert "the sandbox would lack seccomp" in ended.stderr
    assert "lower AGENT_RFT_SANDBOX__FLOOR" in ended.stderr
    assert not (tmp_path / "sandbox.sock").exists()


def test_a_module_of_the_settings_that_is_not_installed_is_named(tmp_path: Path) -> None:
    ended = subprocess.run(
        command(),
        env={
            **environment(tmp_path, tuple(ALWAYS)),
            "AGENT_RFT_SANDBOX__MODULES": '["not_installed"]',
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == SANDBOX_BELOW_FLOOR
    assert "No module named 'not_installed'" in ended.stderr


async def test_the_level_names_the_layers_that_were_tried(sandbox: RunningSandbox) -> None:
    level = await sandbox.client.level()
    assert set(level.layers) >= ALWAYS
    assert {"json", "math", "re"} <= set(level.modules)
    own = await call(
        sandbox, "import os\ndef f():\n    return [os.getpid(), os.getuid()]", name="f"
    )
    pid, uid = json.loads(own.reply)["value"]
    assert (pid == 1) == ("namespaces" in level.layers)
    assert (uid >= 60_800) == ("own_user" in level.layers)
    await until(
        lambda: children(sandbox.fork_server()) == sandbox.processes(),
        what="the end of processes that have answered",
    )
