"""The newcomer's scripts, as written, against a running installation."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from examples.records_agent.dataset import write_dataset
from tests.support.contract.node_client import installed_client
from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import REPOSITORY, Installation
from tests.support.patience import PATIENCE_S

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
