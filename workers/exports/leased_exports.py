"""Exports as leased work: the child renews its own lease."""

from datetime import timedelta
from typing import Final

from app.domain.jobs.jobs import CONTROL_QUEUE
from app.store.models.export_claims import export_claims
from app.telemetry.spans import SpanName
from workers.processes.leased_work import LeasedWork, python_module

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
