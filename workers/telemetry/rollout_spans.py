"""Spans of rollouts and turns. A rollout is a trace of its own, linked with its step's span."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from app.domain.ids import SampleKey
from app.domain.rollouts.trajectory import ScoredRollout, Trajectory
from app.telemetry.spans import SPANS, OpenSpan, SpanName, SpanPosition
from app.telemetry.trace_ids import span_of, trace_of
from workers.telemetry.job_spans import position_of_phase, rollout_position


@contextmanager
def rollout_span(key: SampleKey) -> Iterator[OpenSpan]:
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


def describe_rollout(span: OpenSpan, rollout: Trajectory | ScoredRollout) -> None:
    """Adds the counts and the end of a rollout that was played."""
    match rollout:
        case Trajectory():
            trajectory, failure = rollout, None
        case ScoredRollout():
            trajectory, failure = rollout.trajectory, rollout.failure
        case _:
            assert_never(rollout)
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
def turn_span(trajectory: Trajectory) -> Iterator[OpenSpan]:
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
