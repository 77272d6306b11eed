"""Runs one rollout: samples, parses, steps the environment, appends replies, until done or a limit.

An episode is what a client can play over chat completions (`docs/tool-loop.md`): without tools the
text of a turn is content; a turn with a malformed call runs no call, and the model reads why.
Without tools to run, the first turn ends the episode, and its calls are for the grader.

Steps of `max_episode_steps` (hosted: a cap on tool calls and reasoning steps): each sampled turn is
one step and each tool call is one. Parallel calls that exceed the limit run their allowed prefix.
"""

import asyncio
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from pydantic import TypeAdapter

from app.files.datasets import DatasetRow
from app.kit.errors import InvalidRequest, RunFailed, together
from app.kit.ids import SampleKey
from app.kit.telemetry import SPANS
from app.kit.texts import excerpt, storable
from app.models.chat import most_characters
from app.rollouts.renderer import Renderer, off_loop_if_long
from app.rollouts.trajectory import (
    STORED_TOKENS,
    UNPARSABLE_CALL,
    Failure,
    FailureClass,
    GradeOrFailure,
    ScoredRollout,
    StopReason,
    Trajectory,
    Turn,
)
from app.rollouts.turns import ParsedTurn
from app.tools.tools import ToolOutcome
from workers.grading.job_grader import GroupScorer
from workers.journal import Journal, replay_or_ask
from workers.progress import PROGRESS
from workers.rollout.environment import (
    AssistantTurn,
    CallPosition,
    EpisodeLimits,
    InfrastructureFailure,
    Message,
    Observation,
    Policy,
    Reply,
    RolloutEnvironment,
    SampledTurn,
    SamplingParams,
    StepResult,
    ToolReply,
    call_records,
)
from workers.telemetry.process_metrics import count_rollouts
from workers.telemetry.spans import describe_rollout, rollout_span, turn_span


@dataclass(frozen=True, slots=True)
class JournalledTurn(SampledTurn):
    elapsed_s: float
    """Seconds that sampling it took; a replay counts the same ones."""


_TURN: Final = TypeAdapter(JournalledTurn)


class RolloutFailure(Exception):
    """Infrastructure ended the rollout; the trajectory so far is used for the trace only."""

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
    environment: RolloutEnvironment,
    journal: Journal,
    limits: EpisodeLimits,
    job_seed: int,
    temperature: float,
) -> Trajectory:
    """Closes the environment. Raises `RolloutFailure`, or `RunFailed` for an unusable row."""
    trajectory = Trajectory(key, messages=list(row.messages), started_at=time.time())
    try:
        observation = await environment.reset(row, key, journal=journal)
        prompt = await prompt_ids(
            renderer, observation, row, key, context_length=limits.context_length
        )
        trajectory.messages = list(observation.messages)
        trajectory.in_environment = observation.source is not None
        trajectory.prompt_tokens = len(prompt)
        trajectory.continue_in(prompt)
        episode = _Episode(
            *(trajectory, observation, policy, renderer, environment, journal, limits),
            one_call=row.one_call,
        )
        trajectory.stop_reason = await episode.play(job_seed, temperature)
    except InfrastructureFailure as error:
        raise RolloutFailure(error.failure, trajectory) from error
    finally:
        trajectory.finished_at = time.time()
        await environment.close()
    return trajectory


@dataclass(slots=True)
class _Episode:
    trajectory: Trajectory
    observation: Observation
    policy: Policy
    renderer: Renderer
    environment: RolloutEnvironment
    journal: Journal
    limits: EpisodeLimits
    one_call: bool
    steps: int = 0
    elapsed_s: float = 0.0
    """Sum of journalled durations, so that a replay stops where the first attempt did."""

    async def play(self, job_seed: int, temperature: float) -> StopReason:
        while True:
            tokens_left = self._tokens_left
            if tokens_left <= 0:
                return StopReason.TOKEN_LIMIT
            params = SamplingParams(
                max_tokens=min(self.limits.max_turn_tokens, tokens_left),
                temperature=temperature,
                seed=self.trajectory.key.seed(job_seed, len(self.trajectory.turns)),
                stop_token_ids=self.renderer.stop_token_ids,
            )
            with turn_span(self.trajectory):
                stopped = await self._take_turn(await self._sample(params))
            if stopped is not None:
                return stopped

    @property
    def _tokens_left(self) -> int:
        return self.limits.context_length - len(self.trajectory.row.tokens)

    async def _sample(self, params: SamplingParams) -> SampledTurn:
        tokens = list(self.trajectory.row.tokens)

        async def ask() -> JournalledTurn:
            SPANS.mark_asked()
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
        """Returns the reason if the rollout ends here."""
        trajectory = self.trajectory
        tools = self.observation.tools
        parsed = self.renderer.parser.parse(
            sampled.token_ids, tools=tools, with_tools=bool(tools), after=trajectory.row.tokens
        )
        if self.one_call:
            parsed = replace(parsed, tool_calls=parsed.tool_calls[:1])
        unstored = STORED_TOKENS - trajectory.completion_tokens
        texts = self.renderer.pieces(sampled.token_ids, max(0, unstored))
        trajectory.row.extend_sampled(list(sampled.token_ids), list(sampled.logprobs))
        self.steps += 1
        index = len(trajectory.turns)
        trajectory.messages.append(self._message(parsed, index))
        trajectory.turns.append(_turn(sampled, parsed, texts, row=len(trajectory.rows) - 1))
        if sampled.finish_reason != "stop" and not parsed.tool_calls:
            return StopReason.TOKEN_LIMIT
        if self.observation.single_turn:
            return StopReason.FINAL_ANSWER
        allowed = parsed.tool_calls[: max(0, self.limits.max_episode_steps - self.steps)]
        if parsed.tool_calls and not allowed:
            return StopReason.MAX_STEPS
        result = StepResult()
        if parsed.parse_error is None:
            self.steps += len(allowed)
            turn = AssistantTurn(index, storable(parsed.content), tuple(allowed))
            result = await self.environment.step(turn)
            self.elapsed_s += result.elapsed_s
        return await self._apply(result, parsed)

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

    async def _apply(self, result: StepResult, parsed: ParsedTurn) -> StopReason | None:
        trajectory = self.trajectory
        replies = result.replies or self._parse_error_reply(parsed)
        if not replies:
            if not result.done:
                raise ValueError("an environment that is not done must reply")
            trajectory.turns[-1] = replace(trajectory.turns[-1], environment=result.step)
            return StopReason.FINAL_ANSWER
        fitted = await fit_replies(
            self.renderer,
            trajectory.messages,
            replies,
            tools=self.observation.tools,
            row=trajectory.row.tokens,
            context_length=self.limits.context_length,
        )
        trajectory.messages.extend(fitted.messages)
        calls = call_records(
            zip(replies, fitted.texts, strict=True),
            earlier=trajectory.tool_calls,
            count_tokens=self.renderer.count_tokens,
        )
        trajectory.turns[-1] = replace(
            trajectory.turns[-1], tool_calls=calls, environment=result.step
        )
        if result.done:
            return StopReason.FINAL_ANSWER
        if self.steps >= self.limits.max_episode_steps:
            return StopReason.MAX_STEPS
        if self.elapsed_s >= self.limits.wall_time_s:
            return StopReason.WALL_TIME
        if fitted.token_ids is None:
            return StopReason.TOKEN_LIMIT
        trajectory.continue_in(fitted.token_ids)
        return None

    def _parse_error_reply(self, parsed: ParsedTurn) -> tuple[ToolReply, ...]:
        if parsed.parse_error is None:
            return ()
        position = CallPosition(self.trajectory.key, len(self.trajectory.turns) - 1, 0)
        outcome = ToolOutcome(storable(parsed.parse_error), "parse_error", 0.0, 0)
        return (ToolReply(position, UNPARSABLE_CALL, "", outcome),)


def _turn(sampled: SampledTurn, parsed: ParsedTurn, texts: Sequence[str], *, row: int) -> Turn:
    return Turn(
        token_ids=sampled.token_ids,
        logprobs=sampled.logprobs,
        policy_version=sampled.policy_version,
        content=storable(parsed.content),
        reasoning_tokens=parsed.reasoning_tokens,
        finish_reason=sampled.finish_reason,
        parse_error=parsed.parse_error,
        texts=tuple(texts),
        row=row,
    )


_SHOWN: Final = 300


async def prompt_ids(
    renderer: Renderer,
    observation: Observation,
    row: DatasetRow,
    key: SampleKey,
    *,
    context_length: int,
) -> list[int]:
    """An unusable row raises `RunFailed`, a first observation `InfrastructureFailure`."""
    source = observation.source
    try:
        text = renderer.prompt_text(observation.messages, observation.tools)
        ids = await off_loop_if_long(len(text), lambda: renderer.encode(text))
    except InvalidRequest as error:
        if source is not None:
            # A template repeats what it does not expect, which is text of the environment.
            why = f"cannot be rendered: {excerpt(str(error), most=_SHOWN)}"
            raise _unusable(source, why) from error
        label = "training" if key.split == "train" else "validation"
        raise RunFailed(
            f"Example {row.index + 1} of the {label} file cannot be rendered: {error}",
            code=f"invalid_{label}_file",
            param=f"{label}_file",
        ) from error
    if source is not None and len(ids) >= context_length:
        raise _unusable(source, f"has {len(ids)} tokens, and the context {context_length}")
    return ids


def _unusable(source: str, why: str) -> InfrastructureFailure:
    message = f"the conversation that it began {why}"
    return InfrastructureFailure(Failure(FailureClass.ENVIRONMENT_BAD_REPLY, message, source))


NOTICE: Final = "\n[cut: the reply did not fit into the context]"
_RESERVE: Final = 16
"""Tokens reserved for the next turn; with fewer it could not contain an answer."""


@dataclass(frozen=True, slots=True)
class FittedReplies:
    messages: list[Message]
    texts: list[str]
    token_ids: list[int] | None
    """The whole context of the next turn; `None` without room for one."""


async def fit_replies(
    renderer: Renderer,
    conversation: list[Message],
    replies: Sequence[Reply],
    *,
    tools: list[dict[str, Any]],
    row: Sequence[int],
    context_length: int,
) -> FittedReplies:
    """The replies to the last message of a conversation, and the context with them: at most
    `context_length` less a reserve. `row` are the ids of the last turn and of all before it.
    """
    budget = context_length - _RESERVE
    longest = max(len(reply.text) for reply in replies)
    high = min(longest, most_characters(budget))

    async def context(length: int) -> list[int]:
        messages = _messages(replies, length)
        return await off_loop_if_long(
            sum(len(message.get("content") or "") for message in [*conversation, *messages]),
            lambda: renderer.context_ids(conversation, messages, tools=tools, row=row),
        )

    ids = await context(high)
    if len(ids) > budget:
        low, ids_low = 0, await context(0)
        if len(ids_low) > budget:
            return _fitted(replies, high, None)
        # Find the longest common length that fits, to 1/32; finer is not worth it.
        while high - low > max(1, high // 32):
            middle = (low + high) // 2
            ids_middle = await context(middle)
            if len(ids_middle) > budget:
                high = middle
            else:
                low, ids_low = middle, ids_middle
        return _fitted(replies, low, ids_low)
    return _fitted(replies, high, ids)


def _fitted(replies: Sequence[Reply], length: int, token_ids: list[int] | None) -> FittedReplies:
    texts = [_cut(reply.text, length) for reply in replies]
    return FittedReplies(_messages(replies, length), texts, token_ids)


def _messages(replies: Sequence[Reply], length: int) -> list[Message]:
    return [reply.message(_cut(reply.text, length)) for reply in replies]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + NOTICE


class RolloutSlots(asyncio.Semaphore):
    """The slots of a run: its training rollouts and those of its validations share them."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


@dataclass(frozen=True, slots=True)
class RolloutSetup:
    renderer: Renderer
    new_environment: Callable[[], RolloutEnvironment]
    scorer: GroupScorer
    limits: EpisodeLimits
    job_seed: int
    temperature: float
    slots: RolloutSlots


@dataclass(frozen=True, slots=True)
class ScoredGroup:
    row: DatasetRow
    keys: tuple[SampleKey, ...]
    rollouts: tuple[ScoredRollout, ...]

    def __post_init__(self) -> None:
        if tuple(rollout.key for rollout in self.rollouts) != self.keys:
            raise ValueError("a group needs one rollout for each of its keys, in their order")
        if len({key.group for key in self.keys}) > 1:
            raise ValueError("the keys of a group must belong to one row, step and attempt")

    @property
    def rewards(self) -> list[float | None]:
        return [rollout.reward for rollout in self.rollouts]

    def min_valid(self, min_share: float) -> int:
        """Returns how many graded rollouts make a group of this size trainable."""
        return math.ceil(min_share * len(self.rollouts))


async def run_group(
    setup: RolloutSetup,
    row: DatasetRow,
    keys: Sequence[SampleKey],
    *,
    policy: Policy,
    journal: Journal,
    on_finished: Callable[[], None] = lambda: None,
) -> ScoredGroup:
    """`on_finished` is called whenever a rollout has left its slot."""
    asked = set[SampleKey]()

    async def play(key: SampleKey) -> Trajectory | ScoredRollout:
        async with setup.slots:
            with rollout_span(key) as span:
                rollout = await _play(setup, row, key, policy=policy, journal=journal)
                describe_rollout(span, rollout)
        if span.asked:
            asked.add(key)
        PROGRESS.mark(f"rollout of step {key.step} ended")
        on_finished()
        return rollout

    played = await together(play(key) for key in keys)
    group = await score_group(played, row, scorer=setup.scorer, journal=journal)
    # An earlier claim has counted a rollout of which everything was replayed.
    count_rollouts([rollout for rollout in group.rollouts if rollout.key in asked])
    return group


async def score_group(
    rollouts: Sequence[Trajectory | ScoredRollout],
    row: DatasetRow,
    *,
    scorer: GroupScorer,
    journal: Journal,
) -> ScoredGroup:
    """Scores the finished rollouts of a row that have no verdict yet, including posted ones."""
    unscored, given = list[Trajectory](), list[ScoredRollout | None]()
    for rollout in rollouts:
        given.append(rollout if isinstance(rollout, ScoredRollout) else None)
        if isinstance(rollout, Trajectory):
            unscored.append(rollout)
    verdicts: Sequence[GradeOrFailure] = []
    try:
        verdicts = await scorer.score(unscored, row, journal=journal) if unscored else []
    except asyncio.CancelledError:
        verdicts = [_cancelled_within()] * len(unscored)
    if len(verdicts) != len(unscored):
        raise ValueError(f"{len(verdicts)} verdicts for {len(unscored)} rollouts")
    fresh = map(ScoredRollout.of, unscored, verdicts)
    scored = tuple(next(fresh) if rollout is None else rollout for rollout in given)
    return ScoredGroup(row, tuple(rollout.key for rollout in scored), scored)


async def _play(
    setup: RolloutSetup, row: DatasetRow, key: SampleKey, *, policy: Policy, journal: Journal
) -> Trajectory | ScoredRollout:
    trajectory = Trajectory(key, messages=list(row.messages))
    try:
        trajectory = await run_episode(
            row,
            key,
            policy=policy,
            renderer=setup.renderer,
            environment=setup.new_environment(),
            journal=journal,
            limits=setup.limits,
            job_seed=setup.job_seed,
            temperature=setup.temperature,
        )
        verdict = await setup.scorer.score_early(trajectory, row, journal=journal)
    except RolloutFailure as error:
        return ScoredRollout(trajectory=error.trajectory, failure=error.failure)
    except asyncio.CancelledError:
        return ScoredRollout(trajectory=trajectory, failure=_cancelled_within())
    return trajectory if verdict is None else ScoredRollout.of(trajectory, verdict)


def _cancelled_within() -> Failure:
    """Returns the failure of work that cancelled itself; call it where a cancellation was caught. A
    cancelled task reports no error, so a caller that waits for its result would wait for ever.
    Raises `CancelledError` again if this task is to end.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
    return Failure(FailureClass.CANCELLED, "the rollout was cancelled from within", "rollout")
