"""Exports the spans of a process, and counts what became of them.

Must not import OpenTelemetry, an optional extra: `app.kit.otlp` does, once it is needed.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Counter

from app.kit.span_export import SpanExport, check_installed
from app.kit.telemetry import SPANS

EXPORTS: Final = CollectorRegistry()
"""The metrics of the export."""
SPANS_TOTAL: Final = Counter(
    "agent_rft_spans",
    "Spans of jobs by what became of them: exported, failed (the collector refused them or did not "
    "take them in time), dropped (the queue was full, or the process ended).",
    ("outcome",),
    registry=EXPORTS,
)


@asynccontextmanager
async def exporting_spans(export: SpanExport | None) -> AsyncIterator[None]:
    """Exports the spans that are recorded in the block; `None` records none. Raises
    `ExporterMissing`.
    """
    if export is None:
        yield
        return
    check_installed()
    from app.kit.otlp import OtlpSink  # noqa: PLC0415 - needs the optional extra

    sink = OtlpSink(export)
    SPANS.begin(sink)
    try:
        yield
    finally:
        SPANS.stop()
        await asyncio.to_thread(sink.close)
