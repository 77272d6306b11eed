import os
import signal

from tests.support.e2e.main_job import Endpoints
from tests.support.e2e.quiet_job import STEPS, QuietJob, create, outcome
from tests.support.installation import Installation, child_pid

VICTIMS = (
    (1, "child"),
    (2, "engine"),
    (3, "sandbox"),
    (3, "runs"),
    (4, "valkey"),
    (5, "postgres"),
    (6, "control"),
    (7, "api"),
)


def test_every_process_killed_once_and_no_sample_counted_twice(
    live: Installation, endpoints: Endpoints, quiet_files: tuple[str, str], quiet: QuietJob
) -> None:
    client, before = live.client(), live.pids()
    job_id = create(client, endpoints.good, quiet_files)
    for step, victim in VICTIMS:
        if victim == "sandbox" and victim not in before:
            continue  # this system has none
        live.wait_for_step(job_id, step)
        if victim == "child":
            pid = child_pid(job_id)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        else:
            live.kill(victim)
    assert outcome(live, job_id) == quiet.outcome
    healed = live.pids()
    assert healed.keys() == before.keys()
    assert not set(healed.values()) & set(before.values()), "each of them has another process"
    metrics = [
        event
        for event in client.fine_tuning.jobs.list_events(job_id, limit=100)
        if event.type == "metrics"
    ]
    assert len(metrics) == STEPS
