"""One rollout: sample, parse, call tools, append, until an answer or a limit.

Owns the order of things and the token record. Promises: what is trained on are the sampled ids with
their log-probs, tool text carries mask 0, nothing is used before it is remembered, and a limit is a
stop reason, never an exception. Must not know HTTP, SQL or tensors.

Steps of `max_episode_steps` (hosted: a cap on tool calls and reasoning steps): each sampled turn is
one step and each tool call is one. A batch of parallel calls that does not fit runs its allowed
prefix.
"""

import asyncio
import json
import time
from dataclasses import asdict, dataclass
from typing import Any, Final

from pydantic import TypeAdapter

from app.domain.data.dataset import DatasetRow
from app.domain.errors import InvalidRequest, RunFailed
from app.domain.first_fault import first_fault
from app.domain.ids import SampleKey
from app.domain.rollouts.trajectory import Failure, StopReason, ToolCallRecord, Trajectory, Turn
from app.domain.storable_text import storable
from app.rendering.renderer import ParsedTurn, Renderer
from workers.journal.journal import Journal
from workers.journal.replay import replay_or_ask
from workers.rollout.policy import Policy, SampledTurn, SamplingParams
from workers.rollout.tool_replies import Reply, fit_replies
from workers.rollout.tools import CallPosition, ToolCaller, ToolFailure, ToolOutcome

UNPARSABLE = "(unparsable)"


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    max_episode_steps: int
    context_length: int
    """Tokens of the whole rollout, prompt included."""
    max_turn_tokens: int
    wall_time_s: float = 3600.0
    """Seconds of sampling and of tools at work; waiting for an endpoint to come back is not in."""


@dataclass(frozen=True, slots=True)
class JournalledTurn(SampledTurn):
    """A sampled turn as the journal stores it."""

    elapsed_s: float
    """Seconds that sampling it took; a replay counts the same ones."""


_TURN: Final = TypeAdapter(JournalledTurn)


class RolloutFailure(Exception):
    """Infrastructure ended the rollout; the trajectory so far is for the trace only."""

    def __init__(self, failure: Failure, trajectory: Trajectory) -> None:
        super().__init__(f"{failure.source}: {failure.message}")
        self.failure = failure
        self.trajectory = trajectory


async def run_episode(
    row: DatasetRow,
    key: SampleKey,
    *,
    policy: Policy,
    renderer: Renderer,
    tools: ToolCaller,
    journal: Journal,
    limits: EpisodeLimits,
    job_seed: int,
    temperature: float,
) -> Trajectory:
    """Play one row to its end. Raises `RolloutFailure`, or `RunFailed` for an unusable row."""
    schemas = tools.offered(row.tools)
    try:
        prompt = renderer.prompt_ids(row.messages, schemas)
    except InvalidRequest as error:
        label = "training" if key.split == "train" else "validation"
        raise RunFailed(
            f"Example {row.index + 1} of the {label} file cannot be rendered: {error}",
            code=f"invalid_{label}_file",
            param=f"{label}_file",
        ) from error
    trajectory = Trajectory(
        key=key,
        tokens=list(prompt),
        mask=[0] * len(prompt),
        logprobs=[0.0] * len(prompt),
        messages=list(row.messages),
        prompt_tokens=len(prompt),
        started_at=time.time(),
    )
    episode = _Episode(trajectory, schemas, policy, renderer, tools, journal, limits)
    try:
        trajectory.stop_reason = await episode.play(job_seed, temperature)
    except ToolFailure as error:
        raise RolloutFailure(error.failure, trajectory) from error
    finally:
        trajectory.finished_at = time.time()
    return trajectory


@dataclass(slots=True)
class _Episode:
    trajectory: Trajectory
    schemas: list[dict[str, Any]]
    policy: Policy
    renderer: Renderer
    tools: ToolCaller
    journal: Journal
    limits: EpisodeLimits
    steps: int = 0
    elapsed_s: float = 0.0
    """From remembered durations, so that a replay stops where the first run did."""

    async def play(self, job_seed: int, temperature: float) -> StopReason:
        while True:
            room = self.limits.context_length - len(self.trajectory.tokens)
            if room <= 0:
                return StopReason.TOKEN_LIMIT
            params = SamplingParams(
                max_tokens=min(self.limits.max_turn_tokens, room),
                temperature=temperature,
                seed=self.trajectory.key.seed(job_seed, len(self.trajectory.turns)),
                stop_token_ids=self.renderer.stop_token_ids,
            )
            sampled = await self._sample(params)
            stopped = await self._take_turn(sampled)
            if stopped is not None:
                return stopped

    async def _sample(self, params: SamplingParams) -> SampledTurn:
        tokens = list(self.trajectory.tokens)

        async def ask() -> JournalledTurn:
            started = time.perf_counter()
            turn = await self.policy.sample(tokens, params)
            return JournalledTurn(
                token_ids=turn.token_ids,
                logprobs=turn.logprobs,
                finish_reason=turn.finish_reason,
                policy_version=turn.policy_version,
                elapsed_s=time.perf_counter() - started,
            )

        key = self.trajectory.key.turn_key(len(self.trajectory.turns))
        request = json.dumps([tokens, asdict(params)]).encode()
        sampled = await replay_or_ask(self.journal, key, request, ask, codec=_TURN)
        self.elapsed_s += sampled.elapsed_s
        return sampled

    async def _take_turn(self, sampled: SampledTurn) -> StopReason | None:
        """Record a sampled turn and run its calls; why the rollout ends here, if it does."""
        trajectory = self.trajectory
        trajectory.extend_sampled(list(sampled.token_ids), list(sampled.logprobs))
        self.steps += 1
        parsed = self.renderer.parse(sampled.token_ids)
        place = len(trajectory.turns)
        trajectory.messages.append(self._message(parsed, place))
        trajectory.turns.append(_turn(sampled, parsed, ()))
        cut = sampled.finish_reason != "stop"
        asks = bool(parsed.tool_calls) or parsed.parse_error is not None
        if not asks or (cut and (parsed.parse_error is not None or not parsed.tool_calls)):
            return StopReason.TOKEN_LIMIT if cut else StopReason.FINAL_ANSWER
        replies = await self._replies(parsed, place)
        if not replies:
            return StopReason.MAX_STEPS
        return await self._append(sampled, parsed, replies)

    def _message(self, parsed: ParsedTurn, turn: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": storable(parsed.content)}
        if parsed.reasoning:
            message["reasoning_content"] = storable(parsed.reasoning)
        if parsed.tool_calls:
            message["tool_calls"] = [
                {
                    "id": self.trajectory.key.call_id(turn, number),
                    "type": "function",
                    "function": {
                        "name": storable(call.name),
                        "arguments": storable(call.arguments_json),
                    },
                }
                for number, call in enumerate(parsed.tool_calls)
            ]
        return message

    async def _replies(self, parsed: ParsedTurn, turn: int) -> list[Reply]:
        """Run the calls that fit into the step limit, side by side; replies in request order."""
        key = self.trajectory.key
        allowed = parsed.tool_calls[: max(0, self.limits.max_episode_steps - self.steps)]
        self.steps += len(allowed)
        places = [CallPosition(key, turn, number) for number in range(len(allowed))]
        with first_fault():
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(
                        self.tools.call(call, place, schemas=self.schemas, journal=self.journal)
                    )
                    for call, place in zip(allowed, places, strict=True)
                ]
        outcomes = [task.result() for task in tasks]
        self.elapsed_s += max((outcome.latency_s for outcome in outcomes), default=0.0)
        replies = [
            Reply(place, storable(call.name), storable(call.arguments_json), outcome)
            for call, place, outcome in zip(allowed, places, outcomes, strict=True)
        ]
        if parsed.parse_error is not None:
            place = CallPosition(key, turn, len(parsed.tool_calls))
            outcome = ToolOutcome(storable(parsed.parse_error), "parse_error", 0.0, 0)
            replies.append(Reply(place, UNPARSABLE, "", outcome))
        return replies

    async def _append(
        self, sampled: SampledTurn, parsed: ParsedTurn, replies: list[Reply]
    ) -> StopReason | None:
        """Put the replies into the conversation, cut to what the context still holds."""
        trajectory = self.trajectory
        room = self.limits.context_length - len(trajectory.tokens)
        fitted = await fit_replies(
            self.renderer,
            trajectory.messages,
            replies,
            tools=self.schemas,
            ended=sampled.token_ids[-1:] != ()
            and sampled.token_ids[-1] in self.renderer.stop_token_ids,
            room=room,
        )
        trajectory.messages.extend(fitted.messages)
        records = self._records(replies, fitted.texts)
        trajectory.turns[-1] = _turn(sampled, parsed, records)
        if self.steps >= self.limits.max_episode_steps:
            return StopReason.MAX_STEPS
        if self.elapsed_s >= self.limits.wall_time_s:
            return StopReason.WALL_TIME
        if fitted.token_ids is None:
            return StopReason.TOKEN_LIMIT
        trajectory.extend_context(fitted.token_ids)
        return None

    def _records(self, replies: list[Reply], texts: list[str]) -> tuple[ToolCallRecord, ...]:
        seen = {(call.name, call.arguments) for call in self.trajectory.tool_calls}
        records = []
        for reply, text in zip(replies, texts, strict=True):
            records.append(
                ToolCallRecord(
                    id=reply.place.function_call_id,
                    call_id=reply.place.call_id,
                    name=reply.name,
                    arguments=reply.arguments,
                    output=text,
                    error=reply.outcome.error,
                    latency_s=reply.outcome.latency_s,
                    attempts=reply.outcome.attempts,
                    output_tokens=self.renderer.count_tokens(text),
                    repeated=reply.name != UNPARSABLE and (reply.name, reply.arguments) in seen,
                )
            )
            seen.add((reply.name, reply.arguments))
        return tuple(records)


def _turn(sampled: SampledTurn, parsed: ParsedTurn, calls: tuple[ToolCallRecord, ...]) -> Turn:
    return Turn(
        token_ids=sampled.token_ids,
        logprobs=sampled.logprobs,
        policy_version=sampled.policy_version,
        content=storable(parsed.content),
        reasoning_tokens=parsed.reasoning_tokens,
        finish_reason=sampled.finish_reason,
        tool_calls=calls,
        parse_error=parsed.parse_error,
    )
