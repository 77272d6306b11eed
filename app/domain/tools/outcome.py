"""The outcome of one tool call, as the model reads it and as the trace counts it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The text for the model, and whether the model is at fault."""

    output: str
    error: str | None
    """`None`, or the model's mistake: `bad_arguments`, `unknown_tool`, `http_404`, …"""
    latency_s: float
    attempts: int
    """Requests that were sent; 0 when the call was answered without one."""
