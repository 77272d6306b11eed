"""A job learns by what it said: losses, advantages, objective and mismatch on the whole product.
The async job of `test_modes` learns by other options.
"""

from typing import Any

from tests.support.e2e.main_job import Endpoints
from tests.support.installation import Installation, wait_until_final
from tests.support.jobs import records_method

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


def test_a_job_learns_by_its_options(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str]
) -> None:
    client = live.client()
    method = records_method(endpoints.good, eval_interval=100, compute_multiplier=0.5)
    method["reinforcement"].update(PULLED)
    created = client.fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=small_files[0],
        validation_file=small_files[1],
        seed=3,
        method=method,
    )
    job = wait_until_final(client, created.id)
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
