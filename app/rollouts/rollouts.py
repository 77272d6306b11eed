"""Rollouts as domain values, their baselines by row of the file, and their traces."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from math import comb
from statistics import fmean, pstdev
from typing import Any, Final, Literal, get_args

from app.kit.errors import InvalidRequest
from app.kit.fields import Json
from app.kit.ids import SampleKey, Split
from app.rollouts.metrics import TIE
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
    finished_at: float

    @property
    def advantage(self) -> float | None:
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
    prompt_index: int
    step: int
    rollouts: int
    graded: int
    reward: float | None
    """Mean over graded rollouts; `None` when all were lost."""
    tool_calls: float | None
    deviation: float | None
    lowest: float | None
    highest: float | None
    completion_tokens: float | None
    duration_s: float | None
    """Mean over graded rollouts, from the first turn to the score."""


@dataclass(frozen=True, slots=True)
class PlayedRow:
    """The reward of one training rollout of a row; `None` for a lost one."""

    prompt_index: int
    reward: float | None


@dataclass(frozen=True, slots=True)
class PassCount:
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
    if not passed:
        return "never"
    return "always" if passed == graded else "sometimes"


@dataclass(frozen=True, slots=True)
class RolloutFilter:
    """Conditions on rollouts; `None` sets none. A lost rollout meets none on the reward."""

    split: Split | None = None
    step: int | None = None
    prompt_index: int | None = None
    min_reward: float | None = None
    max_reward: float | None = None
    stop_reason: StopReason | None = None
    failure_class: FailureClass | None = None
    failed: bool | None = None
    tool: str | None = None
    repeated_call: bool | None = None

    def check(self, order_by: RolloutOrder) -> None:
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
        turns=[_turn(*pair) for pair in zip(turns, written, strict=False)],
        messages=messages,
        in_environment="environment" in row.trace,
        prompt_tokens=row.prompt_tokens,
        stop_reason=None if row.stop_reason is None else StopReason(row.stop_reason),
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _turn(turn: Json, message: Json) -> Turn:
    count, step = int(turn["tokens"]), turn.get("environment")
    return Turn(
        token_ids=(0,) * count,
        logprobs=(0.0,) * count,
        policy_version=turn.get("policy_version", 0),
        content=message.get("content") or "",
        reasoning_tokens=turn.get("reasoning_tokens", 0),
        finish_reason=turn["finish_reason"],
        tool_calls=tuple(_call(call) for call in turn["tool_calls"]),
        parse_error=turn["parse_error"],
        environment=None if step is None else EnvironmentStep(**step),
        row=turn.get("row", 0),
    )


def _call(call: Json) -> ToolCallRecord:
    known = {each.name for each in fields(ToolCallRecord)}
    stored = {name: value for name, value in call.items() if name in known}
    defaults = {"id": "", "call_id": "", "attempts": 1, "output_tokens": 0}
    return ToolCallRecord(**{**defaults, **stored})


def trace_of(row: RolloutRow, *, model: str, model_config: Json) -> Json:
    """Returns `{type: "trace", id, started_at, ended_at, spans}`; times are unix seconds."""
    spans: list[Json] = []

    def add(parent: str | None, data: Json, *, error: str | None, **more: Any) -> str:
        name = f"{row.trace_id}/{len(spans)}"
        span_id = f"span_{hashlib.sha256(name.encode()).hexdigest()[:24]}"
        spans.append(
            {
                "id": span_id,
                "object": "trace.span",
                "trace_id": row.trace_id,
                "parent_id": parent,
                "started_at": None,
                "ended_at": None,
                "span_data": data,
                "error": None if error is None else {"message": error},
                "created_at": int(row.finished_at),
                **more,
            }
        )
        return span_id

    messages, turns = row.trace["messages"], iter(row.trace["turns"])
    for position in range(len(prompt_messages(row)), len(messages)):
        if messages[position]["role"] == "assistant":
            before = [_addressed(message) for message in messages[:position]]
            generation = {
                "type": "GENERATION",
                "input": before,
                "output": [_addressed(messages[position])],
                "model": model,
                "model_config": model_config,
            }
            _add_turn(add, generation, next(turns))
    return {
        "type": "trace",
        "id": row.trace_id,
        "started_at": row.started_at,
        "ended_at": row.finished_at,
        "spans": spans,
    }


def _add_turn(add: Callable[..., str], generation: Json, turn: Json) -> None:
    tokens, reasoning = turn["tokens"], turn["reasoning_tokens"]
    usage = {"output_tokens": tokens, "reasoning_tokens": reasoning}
    more = {"row": turn["row"]} if "row" in turn else {}
    parent = add(None, {**generation, "usage": usage}, error=turn["parse_error"], **more)
    for call in turn["tool_calls"]:
        data = {
            "type": "FUNCTION",
            "name": f"functions.{call['name']}",
            "input": call["arguments"],
            "output": call["output"],
            "mcp_data": None,
        }
        add(parent, data, error=call["error"], duration_s=call["latency_s"])


def prompt_messages(row: RolloutRow) -> list[Json]:
    messages: list[Json] = row.trace["messages"]
    return messages[: len(messages) - _written(row)]


def last_turn(row: RolloutRow) -> Json | None:
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


def _addressed(message: Json) -> Json:
    calls = message.get("tool_calls") or []
    name = calls[0]["function"]["name"] if calls else None
    return {**message, "recipient": "all" if name is None else f"functions.{name}"}


BINS: Final = 10


@dataclass(frozen=True, slots=True)
class RewardHistogram:
    """Graded rollouts by step, in bins of equal width from the lowest reward to the highest."""

    low: float
    high: float
    counts: Mapping[int, Sequence[int]]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        ends = [
            self.low * (1 - part / BINS) + self.high * (part / BINS) for part in range(BINS + 1)
        ]
        return list(pairwise(ends))


BaselineVerdict = Literal["nothing", "little", "something", "unclear"]
_LITTLE: Final = 0.1
"""Share of rows with different rewards below which a job trains on little."""


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """The graded samples of one row; at least one."""

    row: int
    graded: int
    passed: int
    lost: int
    mean: float
    deviation: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, row: int, rewards: Sequence[float], *, passed: int, lost: int) -> "BaselineRow":
        return cls(
            row=row,
            graded=len(rewards),
            passed=passed,
            lost=lost,
            mean=fmean(rewards),
            deviation=pstdev(rewards),
            lowest=min(rewards),
            highest=max(rewards),
        )

    @property
    def kind(self) -> PassKind:
        return pass_kind(self.passed, self.graded)

    @property
    def teaches(self) -> bool:
        return self.highest - self.lowest > TIE

    def pass_at(self, samples: int) -> float | None:
        """Returns the unbiased pass@k; `None` for more samples than were graded."""
        if samples > self.graded:
            return None
        return 1 - comb(self.graded - self.passed, samples) / comb(self.graded, samples)


@dataclass(frozen=True, slots=True)
class Baseline:
    rows: Sequence[BaselineRow]
    all_lost: int = 0
    """Further rows, of which no sample was graded."""

    @classmethod
    def of(cls, rows: Sequence[BaselineRow], *, all_lost: int = 0) -> "Baseline":
        return cls(sorted(rows, key=lambda one: (-one.deviation, one.row)), all_lost)

    @classmethod
    def of_means(cls, means: Sequence[RowMean], counts: Sequence[PassCount]) -> "Baseline":
        """Returns that of one validation. Between the two reads a rollout may be deleted."""
        passed = {one.prompt_index: min(one.passed, one.graded) for one in counts}
        rows = [
            BaselineRow(
                row=mean.prompt_index,
                graded=mean.graded,
                passed=min(passed.get(mean.prompt_index, 0), mean.graded),
                lost=mean.rollouts - mean.graded,
                mean=mean.reward,
                deviation=mean.deviation or 0.0,
                lowest=mean.lowest or 0.0,
                highest=mean.highest or 0.0,
            )
            for mean in means
            if mean.reward is not None
        ]
        return cls.of(rows, all_lost=sum(not mean.graded for mean in means))

    @property
    def samples(self) -> int:
        return max((one.graded for one in self.rows), default=0)

    @property
    def teaching(self) -> list[BaselineRow]:
        return [one for one in self.rows if one.teaches]

    def of_kind(self, kind: PassKind) -> list[BaselineRow]:
        return [one for one in self.rows if one.kind == kind]

    def pass_at(self, samples: int) -> float | None:
        found = [value for one in self.rows if (value := one.pass_at(samples)) is not None]
        return fmean(found) if found else None

    @property
    def passes(self) -> list[tuple[int, float]]:
        """pass@k for k = 1, 2, 4 … and for the largest number of samples."""
        counts = {2**power for power in range(self.samples.bit_length()) if self.samples}
        values = [(k, self.pass_at(k)) for k in sorted(counts | {self.samples} - {0})]
        return [(k, value) for k, value in values if value is not None]

    @property
    def verdict(self) -> BaselineVerdict:
        if not self.rows or (self.samples == 1 and not self._is_solved):
            return "unclear"
        teaching = len(self.teaching)
        if not teaching:
            return "nothing"
        return "little" if teaching < _LITTLE * len(self.rows) else "something"

    @property
    def reason(self) -> str:
        if not self.rows:
            return "No rollout was graded."
        if self._is_solved:
            return (
                "Every sample of every row already passes: take harder rows, or a stricter grader."
            )
        if self.samples == 1:
            return (
                "There is one graded sample of each row, which shows no spread: sample each row "
                "several times."
            )
        rows = len(self.rows)
        if teaching := len(self.teaching):
            rest = "" if teaching == rows else " A job learns nothing from the others as they are."
            return f"{teaching} of {rows} rows have samples with different rewards.{rest}"
        if len(self.of_kind("never")) == rows:
            return (
                "No sample of any row passes, and all samples of a row have the same reward: take "
                "easier rows, a grader with scores for parts of the task, or another model."
            )
        return (
            "All samples of a row have the same reward, so there is nothing to prefer: sample more "
            "of each row, or take a grader with finer scores."
        )

    @property
    def _is_solved(self) -> bool:
        return len(self.of_kind("always")) == len(self.rows) and not self.teaching
