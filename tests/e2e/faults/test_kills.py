import os
import re
import signal

import pytest

from tests.support.e2e.main_job import Endpoints
from tests.support.e2e.quiet_job import STEPS, QuietJob, create, outcome
from tests.support.embedded.installation import Installation, child_pid, processes_below

VICTIMS = (
    (2, "child"),
    (3, "engine"),
    (3, "sandbox"),
    (4, "runs"),
    (4, "valkey"),
    (5, "postgres"),
    (6, "control"),
    (7, "api"),
)


def test_every_process_killed_once_and_no_sample_counted_twice(
    live: Installation,
    endpoints: Endpoints,
    quiet_files: tuple[str, str],
    quiet: QuietJob,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Kills the supervisor first, whose successor finds everything, then each child process. A
    victim whose death changed the weights of a later step would change the last ones.
    """
    client = live.client()
    job_id = create(client, endpoints.good, quiet_files)
    live.wait_for_step(job_id, 1)
    _kill_the_supervisor(live, capfd)
    before = live.pids()
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
    assert outcome(live, job_id, killed=True) == quiet.outcome
    healed = live.pids()
    assert healed.keys() == before.keys()
    assert not set(healed.values()) & set(before.values()), "each of them has another process"
    metrics = [
        event
        for event in client.fine_tuning.jobs.list_events(job_id, limit=100)
        if event.type == "metrics"
    ]
    assert len(metrics) == STEPS


def _kill_the_supervisor(live: Installation, capfd: pytest.CaptureFixture[str]) -> None:
    """Checks that its children end with it, and that the next one finds keys, rows and starts the
    same processes.
    """
    children, files = live.pids(), live.client().files.list(limit=1).data
    os.kill(live.supervisor(), signal.SIGKILL)
    announced = live.start_again()
    lines = capfd.readouterr().err
    assert len(re.findall(r"^agent-rft: tiny-agent is a toy .*--model", lines, re.MULTILINE)) == 1
    assert _parts_ready(lines) == {
        *("database", "broker", "schema and keys", "engine", "API", "worker of jobs"),
        *("worker of short tasks", *({"sandbox"} & children.keys())),
    }
    assert (announced["api_key"], announced["admin_key"]) == (live.api_key, live.admin_key)
    assert live.pids().keys() == children.keys()
    assert not set(live.pids().values()) & set(children.values())
    workers = [line for line in processes_below(live.data_dir) if "-Q control" in line]
    assert 1 <= len(workers) <= 3  # with its pool and its clock
    assert live.client().files.list(limit=1).data == files


def _parts_ready(lines: str) -> set[str]:
    """Returns the parts that the command reported, each of them once, with its seconds."""
    found = re.findall(r"^agent-rft: (.+) ready after \d+\.\d s$", lines, re.MULTILINE)
    assert len(found) == len(set(found))
    return set(found)
