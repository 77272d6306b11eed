"""Encodes the calls of an HTTP environment and reads its answers: reset, step, close."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, TypeVar, assert_never

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.files.conversations import conversation_faults
from app.files.function_tools import tools_faults
from app.kit.egress import EgressReply
from app.kit.endpoints import EndpointFault, EndpointRequest, FaultKind
from app.kit.fields import parameter
from app.kit.http import is_client_error, is_success
from app.kit.strict_json import MAX_DEPTH, TooManyValues, is_too_deep, strict_loads
from app.kit.texts import excerpt, has_nul, storable
from app.rollouts.trajectory import (
    COMPONENT_NAME,
    LARGEST_REWARD,
    MAX_COMPONENTS,
    is_component_name,
)

GONE: Final = frozenset({404, 410})
_Number = Annotated[float, Field(ge=-LARGEST_REWARD, le=LARGEST_REWARD, strict=True)]


class CallRefused(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"answered {status}")
        self.status = status

    @property
    def is_gone(self) -> bool:
        return self.status in GONE


@dataclass(frozen=True, slots=True)
class ResetAnswer:
    episode_id: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None
    """Function schemas; `None` offers those of the row."""
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallResult:
    content: str
    error: bool
    """True for a mistake of the model, which it reads in the content."""


@dataclass(frozen=True, slots=True)
class StepAnswer:
    done: bool
    results: dict[str, CallResult] = field(default_factory=dict)
    message: str | None = None
    reward: float | None = None
    components: dict[str, float] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


class _AnswerBody(BaseModel):
    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


class _EpisodeBody(_AnswerBody):
    episode_id: str = Field(min_length=1, max_length=256, strict=True)


class _ResetBody(_EpisodeBody):
    messages: list[dict[str, Any]] | None = None
    tools: list[dict[str, Any]] | None = None


class _ResultBody(_AnswerBody):
    call_id: str = Field(strict=True)
    content: str = Field(strict=True)
    error: bool = Field(default=False, strict=True)


class _StepBody(_AnswerBody):
    done: bool = Field(strict=True)
    results: list[_ResultBody] | None = None
    message: str | None = Field(default=None, strict=True)
    reward: _Number | None = None
    components: dict[str, _Number] | None = Field(default=None, max_length=MAX_COMPONENTS)


_Model = TypeVar("_Model", bound=_AnswerBody)
_SHOWN_KEY: Final = 80


@dataclass(frozen=True, slots=True)
class EnvironmentCall:
    body: Mapping[str, Any]
    call_id: str
    trace_id: str

    def encode(self) -> bytes:
        return json.dumps(self.body, separators=(",", ":")).encode()

    def request(self, headers: Mapping[str, str] | None) -> EndpointRequest:
        return EndpointRequest(headers or {}, self.encode(), self.call_id, self.trace_id)


def reset_body(rollout_id: str, task: Mapping[str, Any], *, seed: int) -> dict[str, Any]:
    return {"type": "reset", "rollout_id": rollout_id, "task": task, "seed": seed}


def step_body(
    rollout_id: str, episode_id: str, *, turn: int, message: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "type": "step",
        "rollout_id": rollout_id,
        "episode_id": episode_id,
        "turn": turn,
        "message": message,
    }


def close_body(rollout_id: str, episode_id: str | None, *, done: bool) -> dict[str, Any]:
    """Without an id the call closes what the environment began for the rollout."""
    return {"type": "close", "rollout_id": rollout_id, "episode_id": episode_id, "done": done}


def assistant_message(content: str, calls: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in calls
        ]
    return message


def read_reset(
    reply: EgressReply, *, before: Sequence[Mapping[str, Any]], hidden: Callable[[str], str] = str
) -> ResetAnswer:
    sent = _object(reply)
    # A step's texts are a reply to the model, so characters are replaced there, as in a tool's.
    if has_nul(sent):
        raise _bad("the answer has the character U+0000")
    answer = _validated(_ResetBody, sent)
    messages, tools = answer.messages or [], answer.tools
    for fault in conversation_faults([*before, *messages], ()):
        position = fault.path[0] if fault.path else 0
        position = position - len(before) if isinstance(position, int) else 0
        raise _bad(f"`messages[{max(0, position)}]`: {fault.reason}")
    if messages and messages[-1]["role"] != "user":
        raise _bad("the last of `messages` is not a user's, so the turn is not the model's")
    for fault in tools_faults(tools or [], ("tools",)):
        raise _bad(f"`{fault.param}`: {fault.reason}")
    return ResetAnswer(answer.episode_id, messages, tools, _unread(answer, hidden))


def read_step(
    reply: EgressReply, *, call_ids: Sequence[str], hidden: Callable[[str], str] = str
) -> StepAnswer:
    sent = _object(reply)
    components = sent.get("components")
    # An invalid name is not shown: it may have any size.
    if isinstance(components, dict) and not all(map(is_component_name, components)):
        raise _bad(f"`components` has a name that does not match {COMPONENT_NAME}")
    answer = _validated(_StepBody, sent)
    results = {
        one.call_id: CallResult(storable(one.content), one.error) for one in answer.results or ()
    }
    _check_results(answer, results, call_ids)
    return StepAnswer(
        done=answer.done,
        results=results,
        message=None if answer.message is None else storable(answer.message),
        reward=answer.reward,
        components=answer.components or {},
        unread=_unread(answer, hidden, results=answer.results or ()),
    )


def begun_id(reply: EgressReply) -> str | None:
    try:
        return _EpisodeBody.model_validate(_object(reply)).episode_id
    except (EndpointFault, CallRefused, ValidationError):
        return None


def may_have_begun(fault: EndpointFault) -> bool:
    """Returns whether a `reset` with this fault may have begun an episode: it was sent."""
    match fault.kind:
        case FaultKind.ERROR | FaultKind.TIMEOUT | FaultKind.BAD_REPLY | FaultKind.TOO_LARGE:
            return True
        case FaultKind.UNREACHABLE | FaultKind.REFUSED:
            return False
        case other:
            assert_never(other)


def read_close(reply: EgressReply) -> int:
    return reply.status


def _check_results(
    answer: _StepBody, results: Mapping[str, object], call_ids: Sequence[str]
) -> None:
    if len(results) < len(answer.results or ()):
        raise _bad("`results` has two of the same `call_id`")
    if any(call_id not in call_ids for call_id in results):
        raise _bad("`results` has a `call_id` that is not a call of the turn")
    missing = sum(call_id not in results for call_id in call_ids)
    if missing and not answer.done:
        raise _bad(f"`results` lacks {missing} of the turn's {len(call_ids)} calls")
    if call_ids and answer.message is not None:
        raise _bad("a turn with calls is answered with `results`, not with a `message`")
    if not call_ids and answer.message is None and not answer.done:
        raise _bad("a turn without calls needs a `message`, or `done`")


def _object(reply: EgressReply) -> dict[str, Any]:
    if is_client_error(reply.status):
        raise CallRefused(reply.status)
    if not is_success(reply.status):
        raise _bad(f"answered {reply.status}")
    try:
        value = strict_loads(reply.body.decode())
    except UnicodeDecodeError:
        raise _bad("the answer is not UTF-8") from None
    except TooManyValues as error:
        raise _bad(f"the answer cannot be read: {error}") from None
    except (ValueError, RecursionError):
        raise _bad("the answer is not JSON") from None
    if not isinstance(value, dict):
        raise _bad("the answer is not a JSON object")
    if is_too_deep(value):
        raise _bad(f"the answer is nested deeper than {MAX_DEPTH} levels")
    return value


def _validated(model: type[_Model], sent: dict[str, Any]) -> _Model:
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        path = fault["loc"]
        # Names of components are texts of the answer.
        shown = path[:1] if path[0] == "components" else path
        raise _bad(f"`{parameter('', shown)}`: {fault['msg']}") from None


def _unread(
    answer: _AnswerBody, hidden: Callable[[str], str], *, results: Sequence[_AnswerBody] = ()
) -> tuple[str, ...]:
    """Returns the unknown keys, hidden before they are cut: a part of a credential is not found."""
    found = [("", key) for key in answer.model_extra or ()]
    found += [("results[].", key) for one in results for key in one.model_extra or ()]
    return tuple(sorted({at + excerpt(hidden(key), most=_SHOWN_KEY) for at, key in found}))


def _bad(message: str) -> EndpointFault:
    return EndpointFault(FaultKind.BAD_REPLY, message)
