"""Attacks from inside of the sandbox: with all layers, and with each of them alone left out.

No check of the syntax stands before them. A layer that this machine lacks is reported by name.
"""

import asyncio
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from app.tools.programs import ALWAYS, LAYERS, End, FunctionCall, Layer, ProgramOutcome
from app.tools.sandbox import UnixSandbox
from tests.support.patience import PATIENCE_S, until
from tests.support.sandbox.files import FILES
from tests.support.sandbox.network import NETWORK
from tests.support.sandbox.processes import PROCESSES
from tests.support.sandbox.running import RunningSandbox, running_sandbox
from tests.support.sandbox.targets import FILE_SECRET, PROGRAM_SECRET, SECRETS, Targets, targets

ATTACKS = {**FILES, **NETWORK, **PROCESSES}
LIMIT_S = 0.5
SWITCHED = tuple(layer for layer in LAYERS if layer not in ALWAYS)
SUM = "def add(a, b):\n    return a + b\n"


@pytest.fixture(scope="module")
def aims() -> Iterator[Targets]:
    # Not a directory of pytest, which is closed to the users that programs run as.
    with tempfile.TemporaryDirectory(prefix="targets") as name:
        Path(name).chmod(0o755)
        with targets(Path(name) / "open") as aims:
            yield aims


@pytest.fixture(scope="module")
def whole() -> Iterator[RunningSandbox]:
    with running_sandbox(time_limit_s=LIMIT_S) as sandbox:
        yield sandbox


async def attack(sandbox: RunningSandbox, source: str, aims: Targets) -> ProgramOutcome:
    pids = [os.getpid(), sandbox.process.pid, sandbox.fork_server()]
    # A machine that is too busy for a program within this limit fails it, until others have ended.
    client = UnixSandbox(sandbox.socket, patience_s=PATIENCE_S)
    return await client.run(FunctionCall(source, "attack", (aims.facts(pids),)))


async def check(sandbox: RunningSandbox, endings: dict[str, ProgramOutcome]) -> None:
    """Asserts that no secret was learnt, that nothing is left over, and that the next one runs."""
    reported = {
        name: [secret for secret in SECRETS if secret in ending.reply + ending.detail]
        for name, ending in endings.items()
    }
    assert {name: found for name, found in reported.items() if found} == {}
    assert all(ending.how in get_args(End) for ending in endings.values())
    await until(lambda: sandbox.processes() == [], what="a sandbox without survivors")

    async def adds() -> bool:
        ending = await sandbox.client.run(FunctionCall(SUM, "add", (1, 2)))
        assert ending.how == "time_limit" or ending.reply == '{"value": 3}'
        return ending.how == "replied"  # on a busy machine not the first time, within this limit

    await until(adds, what="a program after the attack")


@pytest.mark.parametrize("name", ATTACKS)
async def test_an_attack_reaches_nothing(name: str, whole: RunningSandbox, aims: Targets) -> None:
    before, fork_server = aims.files(), whole.fork_server()
    ending = await attack(whole, ATTACKS[name], aims)
    await check(whole, {name: ending})
    assert aims.files() == before
    assert aims.hits == []
    assert whole.fork_server() == fork_server


async def assault(sandbox: RunningSandbox, aims: Targets) -> None:
    """Runs all attacks, several at once, after a program with a secret."""
    before, fork_server = aims.files(), sandbox.fork_server()
    kept = "held = []\ndef keep(secret):\n    held.append(secret)\n    return 0\n"
    await sandbox.client.run(FunctionCall(kept, "keep", (PROGRAM_SECRET,)))
    names = list(ATTACKS)
    endings = await asyncio.gather(*(attack(sandbox, ATTACKS[name], aims) for name in names))
    await check(sandbox, dict(zip(names, endings, strict=True)))
    assert aims.files() == before
    assert aims.hits == []
    assert sandbox.fork_server() == fork_server


@pytest.mark.parametrize("layer", SWITCHED)
async def test_without_one_layer_the_others_hold(layer: Layer, aims: Targets) -> None:
    with running_sandbox(without=(layer,), time_limit_s=LIMIT_S) as sandbox:
        level = await sandbox.client.level()
        assert layer not in level.layers
        missing = [one for one in SWITCHED if one not in {layer, *level.layers}]
        if missing:
            warnings.warn(f"this machine has no {', '.join(missing)}", stacklevel=1)
        if "seccomp" not in level.layers and {"namespaces", "landlock"} & set(missing):
            pytest.skip(f"NOT TESTED WITHOUT {layer}: this machine has no {', '.join(missing)}")
        await assault(sandbox, aims)


async def test_where_no_layer_stands_the_attacks_succeed(aims: Targets) -> None:
    """The other tests of this file can fail: their targets are real, and their attacks work."""
    with running_sandbox(without=SWITCHED) as sandbox:
        assert set((await sandbox.client.level()).layers) == ALWAYS
        for name in ("tcp", "udp", "unix_path", "unix_abstract"):
            assert (await attack(sandbox, ATTACKS[name], aims)).reply == '{"value": null}'
        read = await attack(sandbox, ATTACKS["read_secret"], aims)
        before = aims.files()
        await attack(sandbox, ATTACKS["make_directory"], aims)
    await until(lambda: len(aims.hits) == 4, what="four hits")
    assert {hit.split()[0] for hit in aims.hits} == {"tcp", "udp", "unix", "abstract"}
    assert FILE_SECRET in read.reply
    assert aims.files() != before
    (aims.directory / "new").rmdir()
    aims.hits.clear()


async def test_an_ordinary_user_has_the_same_protection(aims: Targets) -> None:
    if os.geteuid() != 0:
        pytest.skip("the other tests of this file run as an ordinary user")
    with running_sandbox(time_limit_s=LIMIT_S, ordinary_user=True) as sandbox:
        level = await sandbox.client.level()
        assert "own_user" not in level.layers
        if "seccomp" not in level.layers:
            pytest.skip("NOT TESTED AS AN ORDINARY USER: this machine has no seccomp")
        await assault(sandbox, aims)
