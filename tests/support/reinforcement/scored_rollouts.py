"""Builds finished rollouts and groups by hand."""

from collections.abc import Sequence
from typing import Any

from app.files.datasets import DatasetRow
from app.kit.ids import SampleKey, Split
from app.rollouts.trajectory import (
    Failure,
    FailureClass,
    Grade,
    ScoredRollout,
    StopReason,
    TokenRow,
    ToolCallRecord,
    Trajectory,
    Turn,
)
from workers.rollout.episode import ScoredGroup


def tool_call(name: str = "lookup", **changes: Any) -> ToolCallRecord:
    fields: dict[str, Any] = {
        "id": "fc_1",
        "call_id": "call_1",
        "name": name,
        "arguments": "{}",
        "output": "42",
        "error": None,
        "latency_s": 0.5,
        "attempts": 1,
        "output_tokens": 3,
        "repeated": False,
    }
    return ToolCallRecord(**{**fields, **changes})


def scored(
    position: tuple[Split, int, int, int],
    score: float | None,
    *,
    job_id: str = "ftjob-1",
    calls: tuple[ToolCallRecord, ...] = (),
    sampled: int = 2,
    parse_error: str | None = None,
    stop: StopReason = StopReason.FINAL_ANSWER,
    components: dict[str, float] | None = None,
) -> ScoredRollout:
    """Builds a rollout at (split, step, prompt, sample): three prompt tokens, `sampled` others.

    With a score of `None` a tool failed and the rollout is lost.
    """
    ids = tuple(range(10, 10 + sampled))
    logprobs = tuple(-0.5 for _ in ids)
    turn = Turn(ids, logprobs, position[1], "text", 1, "stop", calls, parse_error)
    trajectory = Trajectory(
        key=SampleKey(job_id, *position),
        rows=[TokenRow([1, 2, 3, *ids], [0, 0, 0, *(1 for _ in ids)], [0.0, 0.0, 0.0, *logprobs])],
        turns=[turn],
        messages=[{"role": "user", "content": "?"}],
        prompt_tokens=3,
        stop_reason=stop,
        started_at=1.0,
        finished_at=2.0,
    )
    if score is None:
        failure = Failure(FailureClass.TOOL_ERROR, "answered 500", "lookup")
        return ScoredRollout(trajectory, failure=failure)
    return ScoredRollout(trajectory, grade=Grade(score, components or {}, latency_s=0.25))


def scored_group(rollouts: Sequence[ScoredRollout]) -> ScoredGroup:
    """Builds the group of finished rollouts of one row."""
    messages = rollouts[0].trajectory.messages[:1]
    row = DatasetRow(rollouts[0].key.prompt_index, messages, [], {"messages": messages})
    return ScoredGroup(row, tuple(rollout.key for rollout in rollouts), tuple(rollouts))
