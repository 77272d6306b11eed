"""Fine-tuning jobs as leased work: a supervisor renews the lease, because a run keeps its own event
loop busy.
"""

from typing import Final

from app.domain.jobs.jobs import RUNS_QUEUE
from app.store.jobs.claims import job_claims
from workers.processes.leased_work import LeasedWork, python_module

JOBS: Final = LeasedWork(
    noun="job",
    id_name="job_id",
    claims=job_claims,
    most_held=lambda quotas: quotas.running_jobs,
    child=python_module("workers.job_child"),
    notify=lambda queue, job_id: queue.enqueue_run(job_id),
    queue=RUNS_QUEUE,
    resend_after_s=30.0,
)
