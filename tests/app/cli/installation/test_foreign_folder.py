"""The folder in which a command is started is not on the path of its children's imports."""

import re
import subprocess
from pathlib import Path

import pytest

from app.cli.up import start_command
from app.kit.processes import running_module
from app.local.layout import UpOptions, api_child, sandbox_child, worker_child
from app.local.state import DataDir, free_port
from app.settings import Settings
from tests.support.cli.foreign_folder import FOREIGN, foreign_folder
from tests.support.patience import PATIENCE_S

ROOT = Path(__file__).parents[4]
NEEDS_THE_REPOSITORY = {"examples.records_agent.server", "examples.first_job"}
STARTED = {
    "up": "Usage: ",
    "sandbox": "usage:",
    "migrate": "AGENT_RFT_OWNER_DATABASE_URL|owner_database_url",
    "api": "secret_key",
    "runs": "secret_key",
}
"""Each program that is started in a folder, with a text that it writes once it has imported its
modules: its help, or the settings that it lacks.
"""


def _commands(root: Path) -> dict[str, tuple[str, ...]]:
    settings = Settings(database_url="postgresql+psycopg://u@h/d", secret_key="x" * 32)
    data_dir = DataDir.at(root)
    return {
        "up": (*start_command(data_dir, UpOptions(1)), "--help"),
        "sandbox": (*sandbox_child(settings, data_dir).command, "--help"),
        "migrate": running_module("app.local.provision"),
        "api": api_child(settings, data_dir, free_port()).command,
        "runs": worker_child(settings, data_dir, "runs").command,
    }


@pytest.mark.parametrize(
    "started",
    [
        pytest.param(name, marks=() if name in {"up", "sandbox"} else pytest.mark.long)
        for name in STARTED
    ],
)
def test_files_of_the_folder_are_not_imported(tmp_path: Path, started: str) -> None:
    folder = foreign_folder(tmp_path)
    done = subprocess.run(
        _commands(tmp_path / "data")[started],
        cwd=folder,
        env={"AGENT_RFT_OWNER_DATABASE_URL": "none"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    output = done.stdout + done.stderr
    assert FOREIGN not in output
    assert re.search(STARTED[started], output), output


def test_no_child_of_the_app_is_started_with_its_folder_on_the_path() -> None:
    lines = [
        line
        for plane in ("app", "workers")
        for file in (ROOT / plane).rglob("*.py")
        for line in file.read_text().splitlines()
    ]
    started = {line.split('"')[3] for line in lines if 'sys.executable, "-m", "' in line}
    assert started == NEEDS_THE_REPOSITORY
    naming = ("(sys.executable, ", "[sys.executable, ")
    assert {line.strip() for line in lines if any(each in line for each in naming)} == {
        *(line.strip() for line in lines if "examples." in line and "sys.executable" in line),
        'return (sys.executable, "-P", *arguments)',
        "(sys.executable, bootstrap, build), stdout=sys.stderr, check=False",  # a file's own folder
        "setproctitle(shlex.join((sys.executable, *request.arguments)))",  # a title
    }
