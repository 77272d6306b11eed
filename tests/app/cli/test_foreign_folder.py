"""The folder in which a command is started is not on the path of its children's imports."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.cli.up import start_command
from app.domain.processes.interpreters import running_module
from app.embedded.layout import UpOptions, sandbox_child
from app.embedded.state import DataDir
from app.settings.settings import Settings
from tests.support.patience import PATIENCE_S

APP = Path(__file__).parents[3] / "app"
NEEDS_THE_REPOSITORY = {"examples.records_agent.server", "examples.first_job"}


def _sandbox(root: Path) -> Sequence[str]:
    settings = Settings(database_url="postgresql+psycopg://u@h/d", secret_key="x" * 32)
    return sandbox_child(settings, DataDir.at(root)).command


@pytest.mark.parametrize("started", ["up", "sandbox", "migrate"])
def test_files_of_the_folder_are_not_imported(tmp_path: Path, started: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("org", "queue", "random", "secrets"):
        (folder / f"{name}.py").write_text("raise SystemExit('a file of the folder ran')")
    commands = {
        "up": [*start_command(DataDir.at(tmp_path / "data"), UpOptions(1)), "--help"],
        "sandbox": [*_sandbox(tmp_path / "data"), "--help"],
        "migrate": [*running_module("app.embedded.migrate"), "--help"],
    }
    done = subprocess.run(
        commands[started],
        cwd=folder,
        env={"AGENT_RFT_OWNER_DATABASE_URL": "none"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert "a file of the folder ran" not in done.stderr
    assert (started == "migrate") or done.returncode == 0, done.stderr


def test_no_child_of_the_app_is_started_with_its_folder_on_the_path() -> None:
    lines = [line for file in APP.rglob("*.py") for line in file.read_text().splitlines()]
    started = {line.split('"')[3] for line in lines if 'sys.executable, "-m", "' in line}
    assert started == NEEDS_THE_REPOSITORY
