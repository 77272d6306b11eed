"""Settings of telemetry: the metrics that workers serve, and the collector of spans."""

import os
from typing import Final

from pydantic import Field, field_validator
from typing_extensions import override

from app.settings.sources import RevealedInJson, SettingsSection
from app.telemetry.span_export import SpanExport

_STANDARD: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_LAST_PORT: Final = 65_535
_DISABLED: Final = "OTEL_SDK_DISABLED"


class TelemetrySettings(SettingsSection):
    """Metrics of workers and the export of spans, both off by default."""

    metrics_port: int | None = Field(None, ge=1, le=_LAST_PORT)
    """Port on which a worker serves its metrics; `None` serves none. `agent-rft up` chooses ports
    of its own if there is a `monitoring_key`.
    """
    metrics_host: str = "127.0.0.1"
    """Address of that port."""
    otlp_endpoint: str | None = None
    """Base URL of the collector of spans, such as `http://127.0.0.1:4318`; `None` leaves it to
    OpenTelemetry's own variables, and without them no span is recorded.
    """
    otlp_headers: dict[str, RevealedInJson] = Field(default_factory=dict)
    """Headers of the export, such as a key of the collector."""
    max_queued_spans: int = Field(4096, ge=1)
    """Spans of one process that wait for the collector; more are dropped and counted."""

    @override
    def __hash__(self) -> int:
        return hash(self.model_dump_json())  # a dict has no hash of its own

    @field_validator("metrics_port", mode="after")
    @classmethod
    def _has_a_next_one(cls, port: int | None) -> int | None:
        if port == _LAST_PORT:
            raise ValueError(f"the second worker takes the next port: choose {port - 1} at most")
        return port

    @field_validator("otlp_endpoint", mode="after")
    @classmethod
    def _is_a_url(cls, endpoint: str | None) -> str | None:
        if endpoint and not endpoint.startswith(("http://", "https://")):
            raise ValueError("the endpoint of the collector must begin with http:// or https://")
        return endpoint or None  # compose files pass unset variables as empty ones

    def span_export(self) -> SpanExport | None:
        """Returns the export of spans, `None` if there is no collector."""
        if os.environ.get(_DISABLED, "").strip().lower() == "true":
            return None
        if self.otlp_endpoint is None and not any(os.environ.get(name) for name in _STANDARD):
            return None
        return SpanExport(
            self.otlp_endpoint,
            {name: value.get_secret_value() for name, value in self.otlp_headers.items()},
            most_queued=self.max_queued_spans,
        )
