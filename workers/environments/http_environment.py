"""The environment of a rollout behind a customer's address: reset, step and close over HTTP."""

import asyncio
import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import structlog
from pydantic import TypeAdapter

from app.files.datasets import DatasetRow
from app.kit.egress import EgressReply
from app.kit.endpoint_pool import Endpoint
from app.kit.endpoints import CallSigner, EndpointAnswer, EndpointFault, Read
from app.kit.ids import SampleKey
from app.kit.telemetry import SPANS
from app.kit.texts import storable
from app.rollouts.trajectory import MAX_COMPONENTS, EnvironmentStep, Failure, FailureClass
from app.tools.environment_calls import (
    CallRefused,
    EnvironmentCall,
    ResetAnswer,
    StepAnswer,
    assistant_message,
    begun_id,
    close_body,
    read_close,
    read_reset,
    read_step,
    reset_body,
    step_body,
)
from app.tools.tools import ToolOutcome
from workers.environments.tool_environment import check_arguments
from workers.journal import Journal, replay_or_ask
from workers.rollout.environment import (
    AssistantTurn,
    CallPosition,
    InfrastructureFailure,
    Message,
    Observation,
    Reply,
    StepResult,
    ToolReply,
    UserReply,
)

CLOSE_LIMIT_S: Final = 5.0
MAX_REBUILDS: Final = 3
"""Times that a rollout begins its episode anew after the environment lost it."""
_Value = TypeVar("_Value")
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class EnvironmentEndpoint:
    endpoint: Endpoint
    signer: CallSigner
    name: str
    headers: dict[str, str] | None = field(repr=False)
    episode_waiting_limit_s: float
    """Limit of all waits of an episode: each answer may be in time where all are not."""
    clock: Callable[[], float] = time.monotonic

    async def call_endpoint(
        self, call: EnvironmentCall, read: Read[_Value]
    ) -> EndpointAnswer[_Value]:
        """Raises `InfrastructureFailure`, and `CallRefused` for a refused call."""
        try:
            return await self.send(call, read)
        except EndpointFault as fault:
            kind = FailureClass.of_fault(fault.kind, "environment")
            raise self.failure(kind, fault.message) from fault

    async def send(self, call: EnvironmentCall, read: Read[_Value]) -> EndpointAnswer[_Value]:
        with SPANS.labelled(self.name):
            return await self.endpoint.call(call.request(self.headers), read, signer=self.signer)

    def failure(self, kind: FailureClass, message: str) -> InfrastructureFailure:
        return InfrastructureFailure(Failure(kind, message, self.name))


@dataclass(frozen=True, slots=True)
class SentTurn:
    index: int
    message: dict[str, Any]
    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnsweredStep:
    answer: StepAnswer
    latency_s: float
    attempts: int


_RESET: Final = TypeAdapter(ResetAnswer)
_STEP: Final = TypeAdapter(AnsweredStep)


class HttpEpisode:
    """Plays one rollout's episode; `seed` is the environment's."""

    def __init__(
        self,
        customer: EnvironmentEndpoint,
        row: DatasetRow,
        key: SampleKey,
        *,
        seed: int,
        journal: Journal,
    ) -> None:
        self._customer = customer
        self._row = row
        self._key = key
        self._seed = seed
        self._journal = journal
        self._begun: ResetAnswer | None = None
        self._is_open = False
        """True from the first `reset`, which may begin an episode whatever the answer is."""
        self._episode_id: str | None = None
        """An episode that the environment lost is begun anew under another id; `None` at first."""
        self._reset_failed = False
        self._played: list[tuple[SentTurn, StepAnswer]] = []
        self._rebuilds = 0
        self._waited_s = 0.0

    async def begin(self) -> ResetAnswer:
        call = self._reset_call()
        begun = await replay_or_ask(
            self._journal, call.call_id, call.encode(), partial(self._reset, call), codec=_RESET
        )
        self._begun, self._episode_id, self._is_open = begun, begun.episode_id, True
        return begun

    async def answer(self, turn: SentTurn) -> AnsweredStep:
        if self._begun is None:
            raise ValueError("an episode is stepped after it has begun")
        # The journal knows the step by the first episode: a replay does not know a later one.
        call = self._step_call(turn, self._begun.episode_id)
        answered = await replay_or_ask(
            self._journal,
            self._key.environment_id(f"step/{turn.index}"),
            call.encode(),
            partial(self._step, turn),
            codec=_STEP,
        )
        self._played.append((turn, answered.answer))
        self._check_components()
        return answered

    async def close(self, *, done: bool) -> None:
        """Waits a few seconds at most. Closes an episode without a usable first answer, too."""
        if not self._is_open:
            return
        body = close_body(self._key.trace_id, self._episode_id, done=done)
        # Another id than that of the rollout's end, which a replay may reach: it is another call.
        name = "close/reset" if self._reset_failed else "close"
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await self._customer.send(self._call(name, body), read_close)
        except (EndpointFault, TimeoutError) as error:
            log.info("episode not closed", rollout_id=self._key.trace_id, error=str(error))

    def _check_components(self) -> None:
        names = {name for _, answer in self._played for name in answer.components}
        if len(names) > MAX_COMPONENTS:
            message = f"sent more than {MAX_COMPONENTS} components in one episode"
            raise self._customer.failure(FailureClass.ENVIRONMENT_BAD_REPLY, message)

    async def _reset(self, call: EnvironmentCall) -> ResetAnswer:
        self._is_open, self._episode_id, self._reset_failed = True, None, True

        def read(reply: EgressReply) -> ResetAnswer:
            try:
                return read_reset(reply, before=self._row.messages)
            except EndpointFault:
                self._episode_id = begun_id(reply)
                raise

        try:
            begun = (await self._wait_for(call, read)).value
        except CallRefused as refused:
            self._is_open = False
            raise self._refused(refused) from refused
        self._episode_id, self._reset_failed = begun.episode_id, False
        return begun

    async def _step(self, turn: SentTurn) -> AnsweredStep:
        """Steps the environment; begins the episode anew first if the environment lost it."""
        while True:
            try:
                answer = await self._send(turn)
                return AnsweredStep(answer.value, answer.latency_s, answer.attempts)
            except CallRefused as refused:
                if not refused.is_gone or self._rebuilds == MAX_REBUILDS:
                    raise self._refused(refused) from refused
            await self._begin_anew()

    async def _send(self, turn: SentTurn) -> EndpointAnswer[StepAnswer]:
        if self._episode_id is None:
            raise ValueError("an episode is stepped after it has begun")
        call = self._step_call(turn, self._episode_id)
        return await self._wait_for(call, partial(read_step, call_ids=turn.call_ids))

    async def _wait_for(self, call: EnvironmentCall, read: Read[_Value]) -> EndpointAnswer[_Value]:
        customer, started = self._customer, self._customer.clock()
        left_s = customer.episode_waiting_limit_s - self._waited_s
        limit = asyncio.timeout(left_s)
        try:
            async with limit:
                if left_s <= 0:
                    raise self._out_of_time()
                return await customer.call_endpoint(call, read)
        except TimeoutError:
            if not limit.expired():
                raise
            raise self._out_of_time() from None
        finally:
            self._waited_s += customer.clock() - started

    def _out_of_time(self) -> InfrastructureFailure:
        limit_s = self._customer.episode_waiting_limit_s
        message = f"one episode waited for answers for {limit_s:g} seconds together"
        return self._customer.failure(FailureClass.ENVIRONMENT_TIMEOUT, message)

    async def _begin_anew(self) -> None:
        """Repeats the turns from the same seed; fails unless the environment answers as before."""
        self._rebuilds += 1
        before, again = self._begun, await self._reset(self._reset_call())
        same = before is not None and (again.messages, again.tools) == (
            before.messages,
            before.tools,
        )
        try:
            for turn, answer in self._played if same else ():
                same = same and (await self._send(turn)).value == answer
        except CallRefused as refused:
            raise self._refused(refused) from refused
        if not same:
            message = "lost the episode, and answered differently when it was begun anew"
            raise self._customer.failure(FailureClass.ENVIRONMENT_BAD_REPLY, message)

    def _refused(self, refused: CallRefused) -> InfrastructureFailure:
        return self._customer.failure(FailureClass.ENVIRONMENT_ERROR, str(refused))

    def _reset_call(self) -> EnvironmentCall:
        body = reset_body(self._key.trace_id, self._row.item, seed=self._seed)
        return self._call("reset", body)

    def _step_call(self, turn: SentTurn, episode_id: str) -> EnvironmentCall:
        body = step_body(self._key.trace_id, episode_id, turn=turn.index, message=turn.message)
        return self._call(f"step/{turn.index}", body)

    def _call(self, name: str, body: dict[str, Any]) -> EnvironmentCall:
        call_name = f"{name}/{self._rebuilds}" if self._rebuilds else name
        return EnvironmentCall(body, self._key.environment_id(call_name), self._key.trace_id)


class HttpEnvironment:
    def __init__(self, customer: EnvironmentEndpoint, *, job_seed: int) -> None:
        self._customer = customer
        self._job_seed = job_seed
        self._episode: HttpEpisode | None = None
        self._key: SampleKey
        self._tools: list[Message] = []
        self._done = False

    async def reset(self, row: DatasetRow, key: SampleKey, *, journal: Journal) -> Observation:
        seed = key.group.environment_seed(self._job_seed)
        episode = HttpEpisode(self._customer, row, key, seed=seed, journal=journal)
        self._episode, self._key = episode, key
        begun = await episode.begin()
        self._tools = row.tools if begun.tools is None else begun.tools
        return Observation(
            [*row.messages, *begun.messages], self._tools, source=self._customer.name
        )

    async def step(self, turn: AssistantTurn) -> StepResult:
        """Sends the turn with the calls that can be made; the others are answered here."""
        outcomes = dict[int, ToolOutcome]()
        for number, call in enumerate(turn.tool_calls):
            fault = check_arguments(call, self._tools)
            if fault is not None:
                outcomes[number] = ToolOutcome(fault.text, fault.error, 0.0, 0)
        if turn.tool_calls and len(outcomes) == len(turn.tool_calls):
            return StepResult(self._replies(turn, outcomes))
        answered = await self._answered(turn, without=outcomes.keys())
        self._done = answered.answer.done
        for number in range(len(turn.tool_calls)):
            found = answered.answer.results.get(self._position(turn, number).call_id)
            if found is not None:
                error = "tool_reported" if found.error else None
                outcomes[number] = ToolOutcome(found.content, error, answered.latency_s, 1)
        return self._result(answered, self._replies(turn, outcomes))

    async def close(self) -> None:
        if self._episode is not None:
            await self._episode.close(done=self._done)

    async def _answered(self, turn: AssistantTurn, *, without: AbstractSet[int]) -> AnsweredStep:
        calls = [
            (self._position(turn, number).call_id, storable(call.name), call.arguments_json)
            for number, call in enumerate(turn.tool_calls)
            if number not in without
        ]
        if self._episode is None:
            raise ValueError("an environment is stepped after its reset")
        message = assistant_message(turn.content, calls)
        ids = tuple(call_id for call_id, _, _ in calls)
        return await self._episode.answer(SentTurn(turn.index, message, ids))

    def _result(self, answered: AnsweredStep, replies: tuple[Reply, ...]) -> StepResult:
        answer = answered.answer
        user_replies = () if answer.message is None else (UserReply(answer.message),)
        return StepResult(
            (*replies, *user_replies),
            done=answer.done,
            elapsed_s=answered.latency_s,
            step=EnvironmentStep(
                done=answer.done,
                reward=answer.reward,
                latency_s=answered.latency_s,
                attempts=answered.attempts,
                components=answer.components,
            ),
        )

    def _replies(self, turn: AssistantTurn, outcomes: dict[int, ToolOutcome]) -> tuple[Reply, ...]:
        """In the order of the calls; a turn that ended the episode may have fewer replies."""
        return tuple(
            ToolReply(
                self._position(turn, number),
                storable(call.name),
                storable(call.arguments_json),
                outcomes[number],
            )
            for number, call in enumerate(turn.tool_calls)
            if number in outcomes
        )

    def _position(self, turn: AssistantTurn, number: int) -> CallPosition:
        return CallPosition(self._key, turn.index, number)
