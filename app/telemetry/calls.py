"""Counts of calls to endpoints, by the kind of endpoint and the class of the outcome.

Never by address, tool or project: the number of series must not grow with customers, and Prometheus
must not learn their names.
"""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

CALLS: Final = CollectorRegistry()
"""The figures of calls. API and workers both make calls, and show them."""
_KINDS: Final = {"call": "tool", "grade": "grader", "episode": "environment"}
"""Kinds by the prefix of a call's id."""
OTHER: Final = "other"
SECONDS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)

_calls: Final = Counter(
    "agent_rft_endpoint_calls",
    "Calls to tools, graders and environments that have ended, with all their attempts.",
    ("kind", "outcome"),
    registry=CALLS,
)
_retries: Final = Counter(
    "agent_rft_endpoint_retries",
    "Attempts of these calls after the first.",
    ("kind",),
    registry=CALLS,
)
_seconds: Final = Histogram(
    "agent_rft_endpoint_call_duration_seconds",
    "Time of a call with its attempts and the waits between them.",
    ("kind",),
    buckets=SECONDS,
    registry=CALLS,
)


def kind_of(call_id: str) -> str:
    """Returns `tool`, `grader` (judges too), `environment`, or `other` for calls of the service."""
    return _KINDS.get(call_id.partition("_")[0], OTHER)


def count_call(kind: str, outcome: str, *, attempts: int, seconds: float) -> None:
    """Counts a call. `outcome` is `answered`, or the kind of its fault."""
    _calls.labels(kind, outcome).inc()
    _retries.labels(kind).inc(max(0, attempts - 1))
    _seconds.labels(kind).observe(seconds)
