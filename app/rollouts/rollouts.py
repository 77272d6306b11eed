"""The row of a rollout, which was scored, or discarded with a reason, exactly once."""

import hashlib
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from app.kit.errors import InvalidRequest
from app.kit.fields import Json
from app.kit.ids import SampleKey, Split
from app.rollouts.trajectory import (
    EnvironmentStep,
    FailureClass,
    StopReason,
    ToolCallRecord,
    Trajectory,
    Turn,
)

RolloutOrder = Literal["step", "reward"]
"""`step`: by split, step, row, sample and attempt. `reward`: graded rollouts, by reward first."""
PassKind = Literal["never", "sometimes", "always"]
"""The share of a row's graded rollouts that pass, in a word."""
PASS_KINDS: Final[tuple[PassKind, ...]] = get_args(PassKind)


@dataclass(frozen=True, slots=True)
class RolloutRow:
    id: str
    project_id: str
    job_id: str
    split: Split
    step: int
    prompt_index: int
    sample_index: int
    attempt: int
    trace_id: str
    reward: float | None
    failure_class: str | None
    failure_message: str | None
    stop_reason: str | None
    policy_version: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    tool_calls: int
    components: dict[str, float]
    trace: dict[str, Any]
    started_at: float
    """Unix seconds."""
    finished_at: float

    @property
    def advantage(self) -> float | None:
        """The advantage that it was trained with."""
        return self.trace.get("advantage")

    @property
    def shaped_reward(self) -> float | None:
        """The reward less all terms of the job's objective, from which advantages are computed."""
        return self.trace.get("shaped_reward")


@dataclass(frozen=True, slots=True)
class RolloutCursor:
    """Position of a rollout in the order `step`; it stays valid after the row is deleted."""

    split: str
    step: int
    prompt_index: int
    sample_index: int
    attempt: int

    @classmethod
    def of(cls, row: RolloutRow) -> "RolloutCursor":
        return cls(row.split, row.step, row.prompt_index, row.sample_index, row.attempt)


@dataclass(frozen=True, slots=True)
class RowMean:
    """Means over the rollouts of one row at one step."""

    prompt_index: int
    step: int
    rollouts: int
    graded: int
    reward: float | None
    """Mean over graded rollouts; `None` when all were lost."""
    tool_calls: float | None
    """Mean over graded rollouts."""
    deviation: float | None
    """Standard deviation of the graded rewards around their mean."""
    lowest: float | None
    """Lowest reward."""
    highest: float | None
    """Highest reward."""
    completion_tokens: float | None
    """Mean over graded rollouts."""
    duration_s: float | None
    """Mean over graded rollouts, from the first turn to the score."""


@dataclass(frozen=True, slots=True)
class PlayedRow:
    """The reward of one training rollout of a row; `None` for a lost one."""

    prompt_index: int
    reward: float | None


@dataclass(frozen=True, slots=True)
class PassCount:
    """Number of graded rollouts of one row at one step, and of those that reached a given
    reward.
    """

    prompt_index: int
    step: int
    graded: int
    passed: int

    @property
    def share(self) -> float | None:
        return self.passed / self.graded if self.graded else None

    @property
    def kind(self) -> PassKind:
        return pass_kind(self.passed, self.graded)


def pass_kind(passed: int, graded: int) -> PassKind:
    """Returns the kind of a row, or of a row at one step, from its numbers of rollouts."""
    if not passed:
        return "never"
    return "always" if passed == graded else "sometimes"


@dataclass(frozen=True, slots=True)
class RolloutFilter:
    """Conditions on rollouts; `None` sets no condition. A lost rollout meets no condition on the
    reward.
    """

    split: Split | None = None
    step: int | None = None
    prompt_index: int | None = None
    min_reward: float | None = None
    max_reward: float | None = None
    stop_reason: StopReason | None = None
    failure_class: FailureClass | None = None
    failed: bool | None = None
    """True for rollouts that were lost to a failure, false for the others."""
    tool: str | None = None
    """Name of a tool that was called, at least once."""
    repeated_call: bool | None = None
    """True for rollouts that called a tool again with the same arguments, false for the others."""

    def check(self, order_by: RolloutOrder) -> None:
        """Raises `InvalidRequest` for contradictory conditions."""
        if (
            self.min_reward is not None
            and self.max_reward is not None
            and self.min_reward > self.max_reward
        ):
            raise InvalidRequest(
                f"'min_reward' ({self.min_reward:g}) is above 'max_reward' ({self.max_reward:g}).",
                param="min_reward",
                code="invalid_value",
            )
        by_reward = order_by == "reward" or (self.min_reward, self.max_reward) != (None, None)
        lost = "failure_class" if self.failure_class is not None else "failed"
        if (self.failure_class is not None or self.failed) and by_reward:
            raise InvalidRequest(
                f"A rollout that was lost to a failure has no reward: send '{lost}' without "
                "'min_reward', 'max_reward' and 'order_by=reward'.",
                param=lost,
                code="invalid_value",
            )
        if self.failure_class is not None and self.failed is False:
            raise InvalidRequest(
                "'failure_class' and 'failed=false' exclude each other: send one of them.",
                param="failed",
                code="invalid_value",
            )


def key_of(row: RolloutRow) -> SampleKey:
    return SampleKey(
        row.job_id, row.split, row.step, row.prompt_index, row.sample_index, row.attempt
    )


def trajectory_of(row: RolloutRow) -> Trajectory:
    messages: list[Json] = row.trace["messages"]
    turns: list[Json] = row.trace["turns"]
    assistant_messages = [message for message in messages if message["role"] == "assistant"]
    written = assistant_messages[len(assistant_messages) - len(turns) :]
    return Trajectory(
        key=key_of(row),
        tokens=[],
        mask=[],
        logprobs=[],
        turns=[_turn(*pair) for pair in zip(turns, written, strict=False)],
        messages=messages,
        in_environment="environment" in row.trace,
        prompt_tokens=row.prompt_tokens,
        stop_reason=None if row.stop_reason is None else StopReason(row.stop_reason),
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _turn(turn: Json, message: Json) -> Turn:
    count = int(turn["tokens"])
    return Turn(
        token_ids=(0,) * count,
        logprobs=(0.0,) * count,
        policy_version=turn.get("policy_version", 0),
        content=message.get("content") or "",
        reasoning_tokens=turn.get("reasoning_tokens", 0),
        finish_reason=turn["finish_reason"],
        tool_calls=tuple(_call(call) for call in turn["tool_calls"]),
        parse_error=turn["parse_error"],
        environment=_step(turn.get("environment")),
    )


def _step(step: Json | None) -> EnvironmentStep | None:
    return None if step is None else EnvironmentStep(**step)


def _call(call: Json) -> ToolCallRecord:
    return ToolCallRecord(
        id=call.get("id", ""),
        call_id=call.get("call_id", ""),
        name=call["name"],
        arguments=call["arguments"],
        output=call["output"],
        error=call["error"],
        latency_s=call["latency_s"],
        attempts=call.get("attempts", 1),
        output_tokens=call.get("output_tokens", 0),
        repeated=call["repeated"],
    )


def trace_of(row: RolloutRow, *, model: str, model_config: Json) -> Json:
    """Returns `{type: "trace", id, started_at, ended_at, spans}`; times are unix seconds."""
    return {
        "type": "trace",
        "id": row.trace_id,
        "started_at": row.started_at,
        "ended_at": row.finished_at,
        "spans": _Spans(row, model=model, model_config=model_config).all(),
    }


def prompt_messages(row: RolloutRow) -> list[Json]:
    """Returns the messages of a trace before the model's first turn."""
    messages: list[Json] = row.trace["messages"]
    return messages[: len(messages) - _written(row)]


def last_turn(row: RolloutRow) -> Json | None:
    """Returns the last message the model wrote, `None` when it wrote none."""
    written = row.trace["messages"][len(prompt_messages(row)) :]
    return next((message for message in reversed(written) if message["role"] == "assistant"), None)


def _written(row: RolloutRow) -> int:
    """Yields the messages that came after the row's own: each turn, and each reply to one of its
    calls.

    Counted from the end, because a row may hold earlier turns of an assistant.
    """
    turns, messages = len(row.trace["turns"]), row.trace["messages"]
    count = 0
    while turns > 0 and count < len(messages):
        count += 1
        turns -= messages[-count]["role"] == "assistant"
    return count


class _Spans:
    def __init__(self, row: RolloutRow, *, model: str, model_config: Json) -> None:
        self._row = row
        self._model = model
        self._model_config = model_config
        self._spans: list[Json] = []

    def all(self) -> list[Json]:
        prompt = prompt_messages(self._row)
        messages: list[Json] = self._row.trace["messages"]
        turns = iter(self._row.trace["turns"])
        for position in range(len(prompt), len(messages)):
            if messages[position]["role"] == "assistant":
                self._generation(messages[:position], messages[position], next(turns))
        return self._spans

    def _generation(self, before: list[Json], message: Json, turn: Json) -> None:
        tokens, reasoning = turn["tokens"], turn["reasoning_tokens"]
        generation = self._add(
            None,
            {
                "type": "GENERATION",
                "input": [_addressed(message) for message in before],
                "output": [_addressed(message)],
                "model": self._model,
                "model_config": self._model_config,
                "usage": {"output_tokens": tokens, "reasoning_tokens": reasoning},
            },
            error=turn["parse_error"],
        )
        for call in turn["tool_calls"]:
            self._add(
                generation,
                {
                    "type": "FUNCTION",
                    "name": f"functions.{call['name']}",
                    "input": call["arguments"],
                    "output": call["output"],
                    "mcp_data": None,
                },
                error=call["error"],
                duration_s=call["latency_s"],
            )

    def _add(self, parent: str | None, data: Json, *, error: str | None, **more: Any) -> str:
        span_name = f"{self._row.trace_id}/{len(self._spans)}"
        span_id = f"span_{hashlib.sha256(span_name.encode()).hexdigest()[:24]}"
        self._spans.append(
            {
                "id": span_id,
                "object": "trace.span",
                "trace_id": self._row.trace_id,
                "parent_id": parent,
                "started_at": None,
                "ended_at": None,
                "span_data": data,
                "error": None if error is None else {"message": error},
                "created_at": int(self._row.finished_at),
                **more,
            }
        )
        return span_id


def _addressed(message: Json) -> Json:
    """Returns the message with its `recipient`: `all`, or the function that a turn calls."""
    calls = message.get("tool_calls") or []
    name = calls[0]["function"]["name"] if calls else None
    return {**message, "recipient": "all" if name is None else f"functions.{name}"}
