"""The embedded servers, started by an ordinary user."""

import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.local.state import RunAs, service_user

_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = """
import os, sys
from pathlib import Path
import psycopg
from app.local.state import unprivileged
from tests.support.stack import running_services

with running_services(Path(sys.argv[1])) as services:
    url = services.settings("postgres", services.valkey.url, Path(sys.argv[1])).owner_database_url
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        row = connection.execute("SELECT current_user").fetchone()
print("result", os.geteuid(), unprivileged() == type(unprivileged())(), row[0])
"""


@pytest.fixture
def directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _python_for(user: RunAs) -> str | None:
    """Returns an interpreter of this version that the user may run, of this environment or of the
    system. The patch level counts too, because libraries are installed for it.
    """
    if not user.can("-r", _ROOT / "app" / "settings" / "settings.py"):
        return None
    major, minor, *_ = sys.version_info
    for candidate in (sys.executable, f"/usr/bin/python{major}.{minor}"):
        if user.can("-x", Path(candidate)) and _version_of(candidate) == platform.python_version():
            return candidate
    return None


def _version_of(interpreter: str) -> str:
    command = [interpreter, "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(os.geteuid() != 0, reason="the whole suite runs as an ordinary user already")
def test_an_ordinary_user_needs_nothing_special(directory: Path) -> None:
    user = service_user()
    python = _python_for(user)
    if python is None:
        pytest.skip("the service user may not run any interpreter of this version")
    user.own(directory)
    done = subprocess.run(
        [python, "-c", _PROGRAM, str(directory)],
        env={"PYTHONPATH": f"{_ROOT}:{sysconfig.get_path('purelib')}", "HOME": str(directory)},
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        **user.popen_arguments(),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"result {user.uid} True agent_rft_owner"
    assert (directory / "postgres").stat().st_uid == user.uid
