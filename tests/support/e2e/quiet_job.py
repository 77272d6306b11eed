"""The small job that runs quietly once. The same job, disturbed on this installation or on another,
must end with the same bytes and have counted the same samples.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from openai import OpenAI

from tests.support.e2e.main_job import BATCH
from tests.support.embedded.installation import Installation, wait_until_final
from tests.support.embedded.jobs import create_job

TRAIN_ROWS, VALID_ROWS, GROUP = 64, 10, 2
STEPS = TRAIN_ROWS // BATCH
EVAL_INTERVAL = STEPS // 2
_CHECKPOINTS = {EVAL_INTERVAL, STEPS}
_SAMPLES = STEPS * BATCH * GROUP + (3 + 2) * VALID_ROWS
"""Three validations, and the report's two."""

Sample = tuple[str, int, int, int]


@dataclass(frozen=True, slots=True)
class QuietOutcome:
    adapters: dict[int, str]
    """SHA-256 of the weights by step."""
    samples: frozenset[Sample]


@dataclass(frozen=True, slots=True)
class QuietJob:
    id: str
    model: str
    """The tuned model."""
    outcome: QuietOutcome


def create(client: OpenAI, endpoint: str, files: tuple[str, str]) -> str:
    job: Any = create_job(
        client,
        endpoint,
        files,
        eval_interval=EVAL_INTERVAL,
        eval_greedy=False,
        compute_multiplier=GROUP / 8,
    )
    return str(job.id)


def quiet_job(live: Installation, endpoint: str, files: tuple[str, str]) -> QuietJob:
    job_id = create(live.client(), endpoint, files)
    ended = outcome(live, job_id)
    job = live.client().fine_tuning.jobs.retrieve(job_id)
    return QuietJob(job_id, str(job.fine_tuned_model), ended)


def outcome(live: Installation, job_id: str, *, killed: bool = False) -> QuietOutcome:
    """Waits until the job has succeeded. Each of its samples was counted once. `killed` allows for
    a kill between the run's end and the removal of its state.
    """
    job = wait_until_final(live.client(), job_id)
    assert job.status == "succeeded", job.error
    rows = live.rollouts(job_id)
    counted = Counter(
        (row["split"], row["step"], row["prompt_index"], row["sample_index"]) for row in rows
    )
    assert set(counted.values()) == {1}
    assert len(rows) == _SAMPLES
    usage = live.get(f"/fine_tuning/jobs/{job_id}")["usage_metrics"]
    assert usage["rollouts"] == len(rows)
    for name in ("prompt_tokens", "completion_tokens", "tool_calls"):
        assert usage[name] == sum(row[name] for row in rows), name
    assert all(row["reward"] is not None for row in rows)
    assert sorted(live.curve(job_id, "reward/mean")) == list(range(1, STEPS + 1))
    adapters = live.kept_adapters(job_id, _CHECKPOINTS, killed=killed)
    assert len(set(adapters.values())) == len(_CHECKPOINTS), "each step has other weights"
    return QuietOutcome(adapters, frozenset(counted))
