"""The contract suites again under the newest release of the client's previous major version.

The two that call each method and meet each class of errors always run; `make chaos` runs them all.

That version goes to a directory of its own in front of the installed one; the suites run in a
process of theirs. Without a package index to fetch it from, this is skipped, and says so.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
# What it needs beyond what is installed for the current version.
PACKAGES = ("openai>=2.54,<3", "distro", "tqdm")
CORE = ("methods", "sdk")
"""Each method by both clients, files in every form, pages, errors, headers."""


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that holds the previous major version."""
    directory = tmp_path_factory.mktemp("openai-2")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    done = subprocess.run(
        [*pip, str(directory), *PACKAGES], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"openai 2.x could not be fetched, NOT TESTED: {done.stderr.strip()[-200:]}")
    return directory


@pytest.mark.parametrize("suites", [CORE, pytest.param(("*",), marks=pytest.mark.chaos)])
def test_the_contract_suites_pass_under_it(previous: Path, suites: tuple[str, ...]) -> None:
    found = [path for name in suites for path in HERE.glob(f"test_openai_{name}.py")]
    files = sorted(str(path) for path in found if path != Path(__file__))
    environment = os.environ | {"PYTHONPATH": str(previous)}
    version = subprocess.run(
        [sys.executable, "-c", "import openai; print(openai.__version__)"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert version.startswith("2."), version
    options = ["-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-k", "not node"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        env=environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 20
