"""A backup that is taken while a job trains: restored into an empty directory, the job continues
and ends with the adapter of the uninterrupted run.
"""

import json
import subprocess
from pathlib import Path

import psycopg
import pytest

from tests.support.e2e.main_job import Endpoints
from tests.support.e2e.quiet_job import QuietJob, create, outcome
from tests.support.embedded.installation import Installation, cli, installation

pytestmark = pytest.mark.long

STEP = 2
CLAIMS = "SELECT fence FROM fine_tuning_jobs WHERE id = %s"


def test_a_running_job_continues_from_a_restored_backup(
    live: Installation,
    endpoints: Endpoints,
    quiet_files: tuple[str, str],
    quiet: QuietJob,
    tmp_path: Path,
) -> None:
    client, backup = live.client(), tmp_path / "backup"
    job_id = create(client, endpoints.good, quiet_files)
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
        before = restored.client().fine_tuning.jobs.retrieve(quiet.id)
        assert before.fine_tuned_model == quiet.model
        assert outcome(restored, job_id) == quiet.outcome
        with psycopg.connect(restored.superuser_url()) as connection:
            claims = connection.execute(CLAIMS, [job_id]).fetchone()
        assert claims == (2,), "the backup has it running, and the restored worker took it over"
        hello = restored.client().chat.completions.create(
            model=quiet.model, messages=[{"role": "user", "content": "hi"}], max_tokens=1
        )
        assert hello.usage is not None
        assert hello.usage.completion_tokens == 1
