"""A backup that is taken while a job trains: restored into an empty directory, the job goes on and
ends with the adapter of the quiet run.
"""

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg

from tests.support.e2e.main_job import EVAL_INTERVAL, STEPS, Endpoints, FinishedJob
from tests.support.installation import Installation, cli, installation, wait_until_final
from tests.support.jobs import create_job

STEP = 2
CLAIMS = "SELECT fence FROM fine_tuning_jobs WHERE id = %s"


def _samples(of: Installation, job_id: str) -> Counter[tuple[Any, ...]]:
    return Counter(
        (row["split"], row["step"], row["prompt_index"], row["sample_index"])
        for row in of.rollouts(job_id)
    )


def test_a_running_job_goes_on_from_a_restored_backup(
    live: Installation,
    endpoints: Endpoints,
    files: tuple[str, str],
    finished: FinishedJob,
    tmp_path: Path,
) -> None:
    client, backup = live.client(), tmp_path / "backup"
    job_id = create_job(client, endpoints.good, files, eval_interval=EVAL_INTERVAL).id
    live.wait_for_step(job_id, STEP)
    taken = subprocess.run(
        cli("backup", "--data-dir", str(live.data_dir), "--out", str(backup), "--with-secret-key"),
        stdout=subprocess.PIPE,
        check=True,
    )
    assert json.loads(taken.stdout)["missing"] == 0
    client.fine_tuning.jobs.cancel(job_id)

    data_dir = tmp_path / "restored"
    subprocess.run(cli("restore", "--from", str(backup), "--data-dir", str(data_dir)), check=True)
    allowed = [endpoints.good.removeprefix("http://")]
    with installation(data_dir, allow=allowed, LEASE__SWEEP_INTERVAL_S="1") as restored:
        assert (restored.api_key, restored.admin_key) == (live.api_key, live.admin_key)
        before = restored.client().fine_tuning.jobs.retrieve(finished.created.id)
        assert before.fine_tuned_model == finished.job.fine_tuned_model
        job = wait_until_final(restored.client(), job_id)
        assert job.status == "succeeded", job.error
        with psycopg.connect(restored.superuser_url()) as connection:
            claims = connection.execute(CLAIMS, [job_id]).fetchone()
        assert claims == (2,), "the backup has it running, and the restored worker took it over"
        quiet = live.adapters(finished.created.id)
        assert restored.adapters(job_id) == quiet
        samples = _samples(restored, job_id)
        assert set(samples.values()) == {1}
        assert samples == _samples(live, finished.created.id)
        assert sorted(restored.curve(job_id, "reward/mean")) == list(range(1, STEPS + 1))
        hello = restored.client().chat.completions.create(
            model=finished.job.fine_tuned_model,
            messages=[{"role": "user", "content": "hi"}],
            max_tokens=1,
        )
        assert hello.choices
