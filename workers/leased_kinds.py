"""The kinds of leased work. A supervisor renews a job's lease, as its run blocks the event loop."""

from datetime import timedelta
from typing import Final

from app.evals.claims import eval_claims
from app.jobs.claims import job_claims
from app.kit.job_queue import CONTROL_QUEUE, RUNS_QUEUE
from app.kit.telemetry import SpanName
from app.models.export_claims import export_claims
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


EVAL_RUNS: Final = LeasedWork(
    noun="run",
    id_name="eval_run_id",
    claims=eval_claims,
    most_held=lambda quotas: quotas.running_eval_runs,
    child=python_module("workers.evals.child"),
    notify=lambda queue, run_id: queue.enqueue_eval(run_id),
    queue=CONTROL_QUEUE,
    resend_after_s=5.0,
    claim_span=SpanName.EVAL_RUN,
)


EXPORTS: Final = LeasedWork(
    noun="export",
    id_name="export_id",
    claims=export_claims,
    most_held=lambda quotas: quotas.running_exports,
    child=python_module("workers.exports.child"),
    notify=lambda queue, export_id: queue.enqueue_export(export_id),
    queue=CONTROL_QUEUE,
    resend_after_s=5.0,
    kept_for=lambda retention: timedelta(days=retention.exports_days),
    claim_span=SpanName.EXPORT,
    is_resumable=False,
)
