"""Spans of jobs and their steps: one trace for a job, whose steps link to their rollouts. A rollout
has a trace of its own, because a job with all of its rollouts is larger than a store of traces
admits, and because a customer's endpoint is called for one rollout.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from app.jobs.jobs import Job
from app.kit.ids import SampleKey, Split
from app.kit.telemetry import (
    SPANS,
    Span,
    SpanName,
    SpanPosition,
    Value,
    span_of,
    trace_of,
    trace_of_job,
)
from app.rollouts.trajectory import ScoredRollout, Trajectory

_NANOSECONDS: Final = 1_000_000_000


def job_position(job_id: str) -> SpanPosition:
    return SpanPosition(trace_of_job(job_id), span_of("job", job_id))


def step_position(job_id: str, step: int) -> SpanPosition:
    return SpanPosition(trace_of_job(job_id), span_of("step", job_id, step))


def comparison_position(job_id: str) -> SpanPosition:
    return SpanPosition(trace_of_job(job_id), span_of("comparison", job_id))


def position_of_phase(job_id: str, split: Split, step: int) -> SpanPosition:
    """Returns the position of the step, or of the comparison, that a rollout was played for."""
    return comparison_position(job_id) if split == "report" else step_position(job_id, step)


def rollout_position(key: SampleKey) -> SpanPosition:
    return SpanPosition(trace_of(key.trace_id), span_of("rollout", key.trace_id))


def record_step(
    job_id: str,
    step: int,
    *,
    interval: tuple[float, float],
    rollouts: Iterable[SampleKey],
    trained_tokens: int,
) -> None:
    """Records a committed step, or the baseline as step 0. `interval`: Unix seconds."""
    if SPANS.are_recorded:
        position, links = step_position(job_id, step), [rollout_position(key) for key in rollouts]
        counts = {"agent_rft.step": step, "agent_rft.trained_tokens": trained_tokens}
        _record(SpanName.STEP, position, job_id, interval=interval, links=links, counts=counts)


def record_comparison(
    job_id: str, *, interval: tuple[float, float], rollouts: Iterable[SampleKey]
) -> None:
    if SPANS.are_recorded:
        links = [rollout_position(key) for key in rollouts]
        position = comparison_position(job_id)
        _record(SpanName.COMPARISON, position, job_id, interval=interval, links=links, counts={})


def record_job(job: Job) -> None:
    if job.finished_at is None:
        return
    finished_ns = job.finished_at * _NANOSECONDS
    SPANS.record(
        Span(
            SpanName.JOB,
            job_position(job.id),
            None,
            job.created_at * _NANOSECONDS,
            # The row has whole seconds; a job that ends now ended within the second.
            max(finished_ns, min(time.time_ns(), finished_ns + _NANOSECONDS)),
            {
                "agent_rft.job.id": job.id,
                "agent_rft.project.id": job.project_id,
                "agent_rft.job.status": job.status.value,
                "agent_rft.job.method": job.method.kind,
            },
            error=job.status.value if job.status.value == "failed" else None,
        )
    )


def _record(
    name: SpanName,
    position: SpanPosition,
    job_id: str,
    *,
    interval: tuple[float, float],
    links: list[SpanPosition],
    counts: dict[str, int],
) -> None:
    began, ended = (int(at * _NANOSECONDS) for at in interval)
    attributes: dict[str, Value] = {"agent_rft.job.id": job_id, **counts}
    attributes["agent_rft.rollouts"] = len(links)
    SPANS.record(Span(name, position, job_position(job_id).span, began, ended, attributes, links))


@contextmanager
def rollout_span(key: SampleKey) -> Iterator[Span]:
    """Times one rollout, from its slot to its score."""
    with SPANS.open(SpanName.ROLLOUT, rollout_position(key)) as span:
        span.links.append(position_of_phase(key.job_id, key.split, key.step))
        span.attributes |= {
            "agent_rft.job.id": key.job_id,
            "agent_rft.rollout.id": key.trace_id,
            "agent_rft.split": key.split,
            "agent_rft.step": key.step,
            "agent_rft.row": key.prompt_index,
            "agent_rft.sample": key.sample_index,
            "agent_rft.requeued": key.attempt,
        }
        yield span


def describe_rollout(span: Span, rollout: Trajectory | ScoredRollout) -> None:
    if isinstance(rollout, Trajectory):
        trajectory, failure = rollout, None
    else:
        trajectory, failure = rollout.trajectory, rollout.failure
    span.attributes |= {
        "agent_rft.turns": len(trajectory.turns),
        "agent_rft.tool_calls": len(trajectory.tool_calls),
        "agent_rft.prompt_tokens": trajectory.prompt_tokens,
        "agent_rft.completion_tokens": trajectory.completion_tokens,
    }
    if trajectory.stop_reason is not None:
        span.attributes["agent_rft.stop_reason"] = trajectory.stop_reason.value
    if failure is not None:
        span.error = failure.failure_class.value


@contextmanager
def turn_span(trajectory: Trajectory) -> Iterator[Span]:
    """Times the next turn of a rollout: its sampling, and the calls that answer it."""
    key, index = trajectory.key, len(trajectory.turns)
    position = SpanPosition(trace_of(key.trace_id), span_of("turn", key.trace_id, index))
    with SPANS.open(SpanName.TURN, position) as span:
        span.attributes["agent_rft.turn"] = index
        try:
            yield span
        finally:
            for turn in trajectory.turns[index:]:
                span.attributes |= {
                    "agent_rft.completion_tokens": len(turn.token_ids),
                    "agent_rft.policy_version": turn.policy_version,
                    "agent_rft.finish_reason": turn.finish_reason,
                }
