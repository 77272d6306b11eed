"""Eval runs as leased work: the child renews its own lease."""

from typing import Final

from app.domain.jobs.jobs import CONTROL_QUEUE
from app.store.evals.claims import eval_claims
from app.telemetry.spans import SpanName
from workers.processes.leased_work import LeasedWork, python_module

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
