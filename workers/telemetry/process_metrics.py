"""Metrics of the workers, in files of `PROMETHEUS_MULTIPROC_DIR`; `__main__` adds them up."""

from collections.abc import Iterable, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from app.rollouts.trajectory import ScoredRollout, ToolCallRecord

WORK: Final = CollectorRegistry()
_ROLLOUT_S: Final = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_STEP_S: Final = (1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14400)
_STATUS_CLASS: Final = len("http_4")

_rollouts: Final = Counter(
    "agent_rft_rollouts",
    "Rollouts played, by split and outcome: the reason of their stop, or the class of the failure "
    "for which they left the batch.",
    ("split", "outcome"),
    registry=WORK,
)
_rollout_s: Final = Histogram(
    "agent_rft_rollout_duration_seconds",
    "Time of a rollout's episode, from its reset to its end; its grading follows.",
    ("split",),
    buckets=_ROLLOUT_S,
    registry=WORK,
)
_tool_calls: Final = Counter(
    "agent_rft_tool_calls",
    "Tool calls of the model by outcome: ok, or the class of the model's mistake.",
    ("outcome",),
    registry=WORK,
)
_sampled: Final = Counter(
    "agent_rft_sampled_tokens", "Tokens that rollouts sampled.", ("split",), registry=WORK
)
_steps: Final = Counter(
    "agent_rft_steps", "Training steps committed, by method.", ("method",), registry=WORK
)
_step_s: Final = Histogram(
    "agent_rft_step_duration_seconds",
    "Time of a committed step, publishing and validation included.",
    ("method",),
    buckets=_STEP_S,
    registry=WORK,
)
_trained: Final = Counter(
    "agent_rft_trained_tokens", "Tokens of committed steps that moved an adapter.", registry=WORK
)
_claims: Final = Counter(
    "agent_rft_claims",
    "Claims of jobs that this worker has supervised, by their end: ended, failed, killed, "
    "lease_lost, no_space or released.",
    ("end",),
    registry=WORK,
)
_waiting: Final = Gauge(
    "agent_rft_queue_depth",
    "Rows that wait for a worker, of the whole installation, by kind of work; NaN while the "
    "database does not answer.",
    ("work",),
    multiprocess_mode="livemostrecent",
    registry=WORK,
)
_gpu_bytes: Final = Gauge(
    "agent_rft_gpu_memory_bytes",
    "Memory of the trainer's GPU: total, free, and what the trainer has allocated and reserved.",
    ("device", "state"),
    multiprocess_mode="livemax",
    registry=WORK,
)


def count_rollouts(rollouts: Iterable[ScoredRollout]) -> None:
    for rollout in rollouts:
        trajectory, split = rollout.trajectory, rollout.key.split
        _rollouts.labels(split, _outcome(rollout)).inc()
        _sampled.labels(split).inc(trajectory.completion_tokens)
        if trajectory.finished_at > trajectory.started_at > 0:
            _rollout_s.labels(split).observe(trajectory.finished_at - trajectory.started_at)
        for call in trajectory.tool_calls:
            _tool_calls.labels(_call_outcome(call)).inc()


def _outcome(rollout: ScoredRollout) -> str:
    if rollout.failure is not None:
        return rollout.failure.failure_class.value
    stop = rollout.trajectory.stop_reason
    return "none" if stop is None else stop.value


def _call_outcome(call: ToolCallRecord) -> str:
    if call.error is None:
        return "ok"
    if call.error.startswith("http_"):
        return f"{call.error[:_STATUS_CLASS]}xx"
    return call.error


def count_step(method: str, *, seconds: float | None, trained_tokens: int) -> None:
    _steps.labels(method).inc()
    _trained.inc(trained_tokens)
    if seconds is not None:
        _step_s.labels(method).observe(seconds)


def count_claim(end: str) -> None:
    _claims.labels(end).inc()


def show_waiting(work: str, rows: float) -> None:
    _waiting.labels(work).set(rows)


def show_gpu_memory(device: str, states: Mapping[str, float]) -> None:
    """Sets the memory of a GPU, in bytes by state."""
    for state, size in states.items():
        _gpu_bytes.labels(device, state).set(size)
