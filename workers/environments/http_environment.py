"""The environment of a rollout behind a customer's address: reset, step and close over HTTP.

Owns the split of a turn: a call that the model got wrong is answered here, as for tools; the other
calls are sent together. Must not know ids, journals or the wire format.
"""

from collections.abc import Set as AbstractSet

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.rollouts.environment_steps import EnvironmentStep
from app.domain.texts.storable_text import storable
from app.domain.tools.outcome import ToolOutcome
from app.gateways.endpoints.environment_calls import assistant_message
from workers.environments.arguments import check_arguments
from workers.environments.http_episode import (
    AnsweredStep,
    EnvironmentEndpoint,
    HttpEpisode,
    SentTurn,
)
from workers.journal.journal import Journal
from workers.rollout.environment import (
    AssistantTurn,
    Message,
    Observation,
    Reply,
    StepResult,
    ToolReply,
    UserReply,
)
from workers.rollout.tools import CallPosition


class HttpEnvironment:
    """Implements `workers.rollout.environment.RolloutEnvironment`."""

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
        """Returns the replies in the order of the calls; a turn that ended the episode may have
        fewer of them.
        """
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
