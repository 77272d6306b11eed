"""The newcomer's scripts, as written, against a running installation."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from examples.records_agent.dataset import write_dataset
from tests.support.contract.node_client import installed_client
from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import REPOSITORY, Installation
from tests.support.patience import PATIENCE_S

pytestmark = pytest.mark.long

_MODEL = r"ft:tiny-agent-2026-11-23:\S+"


def test_the_script_with_the_generated_client(live: Installation, endpoints: Endpoints) -> None:
    command = [sys.executable, "-m", "examples.first_job_sdk", "--endpoint", endpoints.good]
    done = subprocess.run(
        [*command, "--train", "24", "--valid", "10"],
        cwd=REPOSITORY,
        env={
            **os.environ,
            "PYTHONPATH": "openapi/python",
            "AGENT_RFT_BASE_URL": live.base_url,
            "AGENT_RFT_API_KEY": live.api_key,
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"created ftjob-\w+", lines[0])
    assert "  The job has successfully completed" in lines
    assert len([line for line in lines if re.match(r"  Step \d+/3", line)]) == 3
    assert re.fullmatch(r"mean reward \d\.\d{3} -> \d\.\d{3}", lines[-2])
    assert re.fullmatch(f"model {_MODEL}", lines[-1])


def test_the_ten_lines_of_the_python_page(live: Installation) -> None:
    page = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
    [script] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len([line for line in script.splitlines() if line]) == 10
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY / "openapi" / "python"),
            "AGENT_RFT_BASE_URL": live.base_url,
            "AGENT_RFT_API_KEY": live.api_key,
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    learned, decided, *answer = done.stdout.splitlines()
    counts = re.fullmatch(f"{_MODEL}: (\\d+) rows better, (\\d+) worse of (\\d+)", learned)
    assert counts is not None, learned
    better, worse, rows = map(int, counts.groups())
    assert better + worse <= rows == 32
    assert decided.startswith("held ")
    assert "regression" in decided
    assert answer


def test_the_script_with_the_node_client(
    live: Installation, endpoints: Endpoints, tmp_path: Path
) -> None:
    directory = installed_client()
    shutil.copy(REPOSITORY / "examples" / "first_job.mjs", directory)
    paths = write_dataset(tmp_path, train=24, valid=10, seed=2)
    done = subprocess.run(
        ["node", "first_job.mjs", endpoints.good, *map(str, paths)],
        cwd=directory,
        env={**os.environ, "OPENAI_BASE_URL": live.base_url, "OPENAI_API_KEY": live.api_key},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"created ftjob-\w+", lines[0])
    assert "  The job has successfully completed" in lines
    assert any(re.fullmatch(f"  {_MODEL}", line) for line in lines)
    assert any(line.startswith("  user ") for line in lines)
    assert lines[-1].startswith(("  assistant ", "  tool "))
