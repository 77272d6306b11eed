"""The collector of spans, and whether they can be exported to it.

Must not import prometheus_client: a worker decides first where metrics are written.
"""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_PACKAGES: Final = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


class ExporterMissing(Exception):
    def __init__(self) -> None:
        super().__init__(
            "An OTLP endpoint is configured (AGENT_RFT_TELEMETRY__OTLP_ENDPOINT or "
            "OTEL_EXPORTER_OTLP_ENDPOINT), but the exporter is not installed: "
            "pip install 'agent-rft[telemetry]', or remove the endpoint."
        )


@dataclass(frozen=True, slots=True)
class SpanExport:
    endpoint: str | None
    """Base URL; `None` leaves it to the standard variables."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    most_queued: int = 4096
    """Spans that wait for the collector; more are dropped."""
    close_limit_s: float = 5.0
    """Seconds in which the last spans of an ending process must reach the collector."""


def check_installed() -> None:
    try:
        found = all(map(importlib.util.find_spec, _PACKAGES))
    except ModuleNotFoundError:  # even the parent package is missing
        found = False
    if not found:
        raise ExporterMissing
