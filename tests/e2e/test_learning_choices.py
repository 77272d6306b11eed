"""A job learns by what it said: losses, advantages, objective and mismatch on the whole product.
The async job of `test_modes` learns by other options.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from examples.records_agent.dataset import write_dataset
from tests.support.cli.command_line import agent_rft
from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import Installation
from tests.support.embedded.jobs import records_method

pytestmark = pytest.mark.long

STEPS = 3
PULLED: dict[str, Any] = {
    "loss": {"type": "cispo", "high": 2},
    "advantage": {"type": "leave_one_out"},
    "objective": {
        "kl_coefficient": 0.05,
        "overlong": {"limit": 400},
        "call_budget": 2,
        "repeated_call_penalty": 0.05,
    },
    "mismatch": {"sequence_mask": {"type": "product"}, "max_log_ratio": 5},
}
SHOWN: dict[str, Any] = {
    "loss": {"type": "cispo", "low": 0.0, "high": 2.0},
    "advantage": {"type": "leave_one_out"},
    "mismatch": {
        "truncation": None,
        "sequence_mask": {"type": "product", "low": 0.0, "high": 3.0},
        "max_log_ratio": 5.0,
    },
}
CURVES = (
    *("train/loss", "train/sampler_kl_k3", "train/base_kl"),
    *("train/masked_share", "train/truncated_share"),
)


def created_and_watched(live: Installation, body: dict[str, Any], files: Sequence[Path]) -> str:
    """Creates a job from local files at the command line and follows it there; returns its id."""
    training, validation = map(str, files)
    done = agent_rft(
        *("jobs", "create", "-", "--watch"),
        *("--training-file", training, "--validation-file", validation),
        stdin=json.dumps(body),
        AGENT_RFT_BASE_URL=live.base_url,
        AGENT_RFT_API_KEY=live.api_key,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    job, *lines, ending = done.stdout.splitlines()
    steps = [found[1] for line in lines if (found := re.search(r"  info   Step (\d+)/3", line))]
    assert steps == ["1", "2", "3"]
    assert f"status: succeeded, step {STEPS}/{STEPS}" in lines
    assert ending.startswith("succeeded: the tuned model is ft:tiny-agent-")
    return job


def test_a_job_learns_by_its_options(
    live: Installation, endpoints: Endpoints, tmp_path: Path
) -> None:
    method = records_method(endpoints.good, eval_interval=100, compute_multiplier=0.5)
    method["reinforcement"].update(PULLED)
    files = write_dataset(tmp_path, train=24, valid=10, seed=7)
    body = {"model": "tiny-agent", "seed": 3, "method": method}
    job = live.client().fine_tuning.jobs.retrieve(created_and_watched(live, body, files))
    assert job.status == "succeeded", job.error
    resolved = live.get(f"/fine_tuning/jobs/{job.id}")["method"]["reinforcement"]
    assert {name: resolved[name] for name in SHOWN} == SHOWN
    assert resolved["objective"]["kl_coefficient"] == 0.05
    assert isinstance(resolved["objective"]["token_budget"], int)
    for name in CURVES:
        assert sorted(live.curve(job.id, name)) == list(range(1, STEPS + 1)), name
    assert max(abs(value) for value in live.curve(job.id, "train/grad_norm").values()) > 0
    # The first step is sampled by the base itself, the later ones by what has left it.
    distance = live.curve(job.id, "train/base_kl")
    assert abs(distance[1]) < 1e-3 < abs(distance[STEPS])
