"""`agent-rft up --model tiny-scholar`: a recipe's plan, compiled as it is, teaches the model."""

import json
import subprocess
from pathlib import Path

import pytest

from app.local.state import free_port
from app.settings import SCHOLAR_MODEL
from tests.support.embedded.installation import cli, opened, wait_until_final

pytestmark = pytest.mark.long


def test_a_recipe_teaches_the_shipped_scholar(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = cli("up", "--data-dir", str(data), "--port", str(free_port()), "--detach")
    done = subprocess.run(
        [*command, "--model", "tiny-scholar"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "tiny-scholar is a toy to try the recipes with" in done.stderr
    try:
        announced = json.loads(done.stdout)
        assert announced["models"] == [SCHOLAR_MODEL]
        with opened(data, announced) as live:
            client = live.client()
            body = {"model": "tiny-scholar", "recipe": "tool_use"}
            plan = client.post("/improvement_plans/compile", body=body, cast_to=dict)
            call = {**plan["job"], "seed": 1}
            created = client.post("/fine_tuning/jobs", body=call, cast_to=dict)
            job = wait_until_final(client, created["id"])
            assert (job.status, job.model) == ("succeeded", SCHOLAR_MODEL), job.error
            compared = live.get(f"/fine_tuning/jobs/{job.id}/report")["reward"]
            assert compared["difference"] > 0.1
            assert compared["difference_ci95"][0] > 0
    finally:
        subprocess.run(cli("down", "--data-dir", str(data)), check=True)
