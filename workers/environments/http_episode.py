"""One episode of a customer's environment: its calls in their order, journalled, and its close.

Owns the ids of the calls, the rebuild of an episode that the environment lost, and the time that an
episode waits. Promises: an answer is durable before it is used, so that a replay requests none of
them again; every fault of the environment is a failure of the infrastructure. Must not know the
model's mistakes.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import structlog
from pydantic import TypeAdapter

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.rollouts.reward_components import MAX_COMPONENTS
from app.domain.rollouts.trajectory import Failure, FailureClass
from app.gateways.egress.egress import EgressReply
from app.gateways.endpoints.calls import EndpointAnswer, EndpointFault, Read
from app.gateways.endpoints.environment_calls import (
    CallRefused,
    EnvironmentCall,
    ResetAnswer,
    StepAnswer,
    begun_id,
    close_body,
    read_close,
    read_reset,
    read_step,
    reset_body,
    step_body,
)
from app.gateways.endpoints.failure_class import failure_class
from app.gateways.endpoints.pool import Endpoint
from app.gateways.endpoints.signing import CallSigner
from app.telemetry.spans import SPANS
from workers.journal.journal import Journal
from workers.journal.replay import replay_or_ask
from workers.rollout.tools import InfrastructureFailure

CLOSE_LIMIT_S: Final = 5.0
"""Seconds that a rollout waits for `close`, whose answer changes nothing."""
MAX_REBUILDS: Final = 3
"""Times that a rollout begins its episode anew after the environment lost it."""
_Value = TypeVar("_Value")
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class EnvironmentEndpoint:
    """The environment of a job, shared by its rollouts."""

    endpoint: Endpoint
    signer: CallSigner
    name: str
    headers: dict[str, str] | None = field(repr=False)
    episode_waiting_limit_s: float
    """Seconds that one episode may wait for its answers, all attempts and rebuilds together: each
    answer may be in time where all of them hold the worker for days.
    """
    clock: Callable[[], float] = time.monotonic

    async def call_endpoint(
        self, call: EnvironmentCall, read: Read[_Value]
    ) -> EndpointAnswer[_Value]:
        """Makes one call to the environment. Raises `InfrastructureFailure`, and `CallRefused` for
        a call that the environment refused.
        """
        try:
            return await self.send(call, read)
        except EndpointFault as fault:
            kind = failure_class(fault.kind, "environment")
            raise self.failure(kind, fault.message) from fault

    async def send(self, call: EnvironmentCall, read: Read[_Value]) -> EndpointAnswer[_Value]:
        with SPANS.labelled(self.name):
            return await self.endpoint.call(call.request(self.headers), read, signer=self.signer)

    def failure(self, kind: FailureClass, message: str) -> InfrastructureFailure:
        return InfrastructureFailure(Failure(kind, message, self.name))


@dataclass(frozen=True, slots=True)
class SentTurn:
    """A turn of the model as it is sent."""

    index: int
    message: dict[str, Any]
    """In Chat Completions form."""
    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnsweredStep:
    answer: StepAnswer
    latency_s: float
    """Latency of the attempt that succeeded."""
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
        """The current id: an episode that the environment lost is begun anew under another id.
        `None` until the environment has sent it.
        """
        self._reset_failed = False
        self._played: list[tuple[SentTurn, StepAnswer]] = []
        self._rebuilds = 0
        self._waited_s = 0.0

    async def begin(self) -> ResetAnswer:
        """Resets the environment. Called once. Raises `InfrastructureFailure`."""
        call = self._reset_call()
        begun = await replay_or_ask(
            self._journal, call.call_id, call.encode(), partial(self._reset, call), codec=_RESET
        )
        self._begun, self._episode_id, self._is_open = begun, begun.episode_id, True
        return begun

    async def answer(self, turn: SentTurn) -> AnsweredStep:
        """Returns the environment's answer to a turn. Raises `InfrastructureFailure`."""
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
        """Sends `close` to the environment and waits a few seconds at most. An episode whose
        `reset` had no usable answer is closed too: nothing else would end it.
        """
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
        """Raises `InfrastructureFailure` for an episode whose steps sent too many components."""
        names = {name for _, answer in self._played for name in answer.components}
        if len(names) > MAX_COMPONENTS:
            message = f"sent more than {MAX_COMPONENTS} components in one episode"
            raise self._customer.failure(FailureClass.ENVIRONMENT_BAD_REPLY, message)

    async def _reset(self, call: EnvironmentCall) -> ResetAnswer:
        """Sends `reset`, and keeps what is known of the episode that it may begin."""
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
        """Makes one call within the time that is left of the episode's."""
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
        """Resets the environment to the same seed and repeats the turns so far. Raises
        `InfrastructureFailure` unless it answers as before: the model has read the earlier answers.
        """
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
        """Makes a call whose id follows from its name and the number of rebuilds."""
        call_name = f"{name}/{self._rebuilds}" if self._rebuilds else name
        return EnvironmentCall(body, self._key.environment_id(call_name), self._key.trace_id)
