"""`POST /v1/chat/completions`, also as a stream. A malformed call is plain content, as in vLLM."""

import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from app.files.shape_faults import unsupported_value
from app.kit.errors import InvalidRequest
from app.kit.faults import fault_clause
from app.rollouts.renderer import Renderer, fitting_prompt_ids
from app.rollouts.turns import Delta, ParsedTurn, TurnOptions, TurnReading
from workers.engines.cpu.batching.sequence import Sampling, Sequence
from workers.engines.cpu.engine import Engine, random_seed

_UNSUPPORTED: Final = "unsupported_value"
RESPONSE_FORMATS: Final = ("text",)
_MAX_SEED = 2**63 - 1
MAX_CHOICES = 128
MAX_TOP_LOGPROBS = 20
BodyT = TypeVar("BodyT", bound=BaseModel)
Seed = Annotated[int, Field(ge=-_MAX_SEED, le=_MAX_SEED)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    model: str
    temperature: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False, strict=False)] | None = (
        None
    )
    top_p: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False, strict=False)] | None = None
    seed: Seed | None = None
    stop_token_ids: list[int] | None = None
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    cache_salt: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    """Prefixes are reused, and rows of a batch shared fairly, by salt: e.g. one per tenant."""
    priority: Annotated[int, Field(ge=-(2**31), lt=2**31)] = 0
    """As in vLLM a lower number goes first; here those above 0 are background work."""

    neutral: ClassVar[Mapping[str, tuple[Any, ...]]] = MappingProxyType(
        {
            "top_k": (0, -1),
            "min_p": (0,),
            "repetition_penalty": (1,),
            "presence_penalty": (0,),
            "frequency_penalty": (0,),
            "logit_bias": ({},),
        }
    )

    @model_validator(mode="after")
    def _refuse_what_is_not_implemented(self) -> Self:
        for name, allowed in self.neutral.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise _unsupported(name, value, allowed)
        return self

    @property
    def background(self) -> bool:
        return self.priority > 0

    @property
    def include_usage(self) -> bool:
        return bool((self.stream_options or {}).get("include_usage"))


class CompletionBody(_Body):
    prompt: Annotated[list[int], Field(min_length=1)]
    max_tokens: Annotated[int, Field(ge=1)] = 16
    n: Annotated[int, Field(ge=1, le=MAX_CHOICES)] = 1
    logprobs: Annotated[int, Field(ge=0, le=MAX_TOP_LOGPROBS)] | None = None
    prompt_logprobs: Literal[0] | None = None
    return_token_ids: bool | None = None
    echo: Literal[False] | None = None
    best_of: Literal[1] | None = None
    suffix: None = None
    stop: Annotated[list[str], Field(max_length=0)] | None = None


class TemplateVariables(BaseModel):
    """The variables defined by `app.jobs.response_formats`; others are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reasoning_effort: Annotated[str, Field(min_length=1, max_length=32)] | None = None
    enable_thinking: bool | None = None


class ChatBody(_Body):
    messages: Annotated[list[dict[str, Any]], Field(min_length=1)]
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    n: int | None = None
    stop: list[Annotated[str, Field(min_length=1)]] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=MAX_TOP_LOGPROBS)] | None = None
    return_token_ids: bool | None = None
    response_format: dict[str, Any] | None = None
    chat_template_kwargs: TemplateVariables | None = None
    ignore_eos: bool | None = None
    min_tokens: int | None = None
    skip_special_tokens: bool | None = None

    neutral: ClassVar[Mapping[str, tuple[Any, ...]]] = MappingProxyType(
        {
            **_Body.neutral,
            "n": (1,),
            "tool_choice": ("auto", "none"),
            "ignore_eos": (False,),
            "min_tokens": (0,),
            "skip_special_tokens": (True,),
        }
    )

    @field_validator("stop", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("response_format")
    @classmethod
    def _text_only(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is not None and value.get("type") not in RESPONSE_FORMATS:
            raise _unsupported("response_format", value.get("type"), RESPONSE_FORMATS)
        return value

    @field_validator("tools")
    @classmethod
    def _function_tools(cls, value: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        for tool in value or []:
            function = tool.get("function")
            if not isinstance(function, dict) or not isinstance(function.get("name"), str):
                message = "each tool needs a function with a name"
                raise PydanticCustomError("invalid_value", message)
        return value


class LoadAdapterBody(BaseModel):
    lora_name: Annotated[str, Field(min_length=1)]
    lora_path: Annotated[str, Field(min_length=1)]


class UnloadAdapterBody(BaseModel):
    lora_name: Annotated[str, Field(min_length=1)]


def read_body(kind: type[BodyT], content: bytes) -> BodyT:
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        param = ".".join(str(part) for part in first["loc"]) or None
        if first["type"] == _UNSUPPORTED:
            param = first["ctx"]["param"]
            raise InvalidRequest(first["msg"], param=param, code=_UNSUPPORTED) from error
        raise InvalidRequest(f"{param or 'body'}: {fault_clause([first])}", param=param) from error


def _unsupported(param: str, value: Any, allowed: tuple[Any, ...]) -> PydanticCustomError:
    message = unsupported_value(param, value, allowed).message
    return PydanticCustomError(_UNSUPPORTED, "{message}", {"message": message, "param": param})


@dataclass(slots=True)
class ChatTurn:
    body: ChatBody
    sequence: Sequence
    renderer: Renderer
    envelope: dict[str, Any] = field(default_factory=dict)
    count: int = 0
    """Number of sampled tokens that belong to the turn. The sequence may contain more."""
    reading: TurnReading = field(init=False)

    def __post_init__(self) -> None:
        prompt = self.sequence.tokens[: self.sequence.prompt_length]
        self.reading = TurnReading(self.renderer.parser, _options(self.body), prompt=prompt)

    def advance_to(self, count: int) -> None:
        self.count = count
        self.reading.show(self.renderer.decode(self.token_ids))

    @property
    def cut(self) -> int | None:
        return self.reading.cut

    @property
    def token_ids(self) -> list[int]:
        start = self.sequence.prompt_length
        return self.sequence.tokens[start : start + self.count]

    def answer(self) -> ParsedTurn:
        """Parses all tokens. A malformed tool call is content, as in vLLM."""
        return self.reading.answer(self.token_ids)


def _options(body: ChatBody) -> TurnOptions:
    return TurnOptions(
        tools=body.tools or (),
        reads_calls=bool(body.tools) and body.tool_choice != "none",
        one_call=body.parallel_tool_calls is False,
        stop=tuple(body.stop or ()),
    )


async def begin_turn(engine: Engine, body: ChatBody, *, streamed: bool) -> ChatTurn:
    version = engine.versions.get(body.model)
    renderer, context_length = _renderer(version.base.renderer, body), version.base.context_length
    if body.tools and renderer.tools_fault is not None:
        raise InvalidRequest(
            f"The model `{version.base.spec.name}` {renderer.tools_fault}.", param="tools"
        )
    prompt = await fitting_prompt_ids(
        renderer, body.messages, body.tools, context_length=context_length
    )
    sampling = Sampling(
        max_tokens=body.max_completion_tokens or body.max_tokens or context_length,
        temperature=1.0 if body.temperature is None else body.temperature,
        seed=random_seed() if body.seed is None else body.seed & 0xFFFF_FFFF_FFFF_FFFF,
        top_p=1.0 if body.top_p is None else body.top_p,
        stop_token_ids=frozenset((*renderer.stop_token_ids, *(body.stop_token_ids or ()))),
        top_logprobs=(body.top_logprobs or 0) if body.logprobs else 0,
        cache_salt=body.cache_salt or "",
    )
    every_token = streamed or bool(body.stop)
    sequence = engine.sequence(
        version, prompt, sampling, streamed=every_token, background=body.background
    )
    envelope = {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion.chunk" if streamed else "chat.completion",
        "created": int(time.time()),
        "model": body.model,
    }
    return ChatTurn(body, sequence, renderer, envelope)


def _renderer(renderer: Renderer, body: ChatBody) -> Renderer:
    if body.chat_template_kwargs is None:
        return renderer
    return renderer.with_variables(body.chat_template_kwargs.model_dump(exclude_none=True))


async def chat(engine: Engine, body: ChatBody) -> dict[str, Any]:
    turn = await begin_turn(engine, body, streamed=False)
    updates = engine.updates(turn.sequence)
    try:
        async for update in updates:
            turn.advance_to(update.count)
            if turn.cut is not None:
                break
    finally:
        await updates.aclose()
    answer = turn.answer()
    message = {"role": "assistant", **_message(answer)}
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "logprobs": _logprobs(turn, 0),
        "finish_reason": _finish_reason(turn, answer),
    }
    if body.return_token_ids:
        choice["token_ids"] = turn.token_ids
        turn.envelope["prompt_token_ids"] = turn.sequence.tokens[: turn.sequence.prompt_length]
    return {**turn.envelope, "choices": [choice], "usage": _usage(turn, answer)}


async def stream_chat(engine: Engine, turn: ChatTurn) -> AsyncGenerator[dict[str, Any]]:
    """Yields chunks; a token's log-probs are in the first chunk after it was sampled."""
    yield _chunk(turn, {"role": "assistant", "content": ""})
    listed = 0
    updates = engine.updates(turn.sequence)
    try:
        async for update in updates:
            turn.advance_to(update.count)
            if turn.cut is not None:
                break
            for delta in _texts(turn.reading.new()):
                yield _chunk(turn, delta, logprobs=_logprobs(turn, listed))
                listed = turn.count
    finally:
        await updates.aclose()
    answer = turn.answer()
    for delta in _last_deltas(turn, answer):
        yield _chunk(turn, delta, logprobs=_logprobs(turn, listed))
        listed = turn.count
    last = _chunk(turn, {}, logprobs=_logprobs(turn, listed))
    last["choices"][0]["finish_reason"] = _finish_reason(turn, answer)
    yield last
    if turn.body.include_usage:
        yield {**turn.envelope, "choices": [], "usage": _usage(turn, answer)}


def _last_deltas(turn: ChatTurn, answer: ParsedTurn) -> list[dict[str, Any]]:
    calls = [{"tool_calls": [{"index": i, **call}]} for i, call in enumerate(_tool_calls(answer))]
    return [*_texts(turn.reading.rest(answer)), *calls]


def _texts(new: Delta) -> list[dict[str, Any]]:
    texts = {"reasoning": new.reasoning, "content": new.content}
    return [{kind: text} for kind, text in texts.items() if text]


def _message(answer: ParsedTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"content": answer.content}
    if answer.reasoning:
        message["reasoning"] = answer.reasoning
    if answer.tool_calls:
        message["content"] = answer.content or None
        message["tool_calls"] = _tool_calls(answer)
    return message


def _tool_calls(answer: ParsedTurn) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{uuid4().hex[:24]}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments_json},
        }
        for call in answer.tool_calls
    ]


def _finish_reason(turn: ChatTurn, answer: ParsedTurn) -> str:
    if answer.tool_calls:
        return "tool_calls"
    return "stop" if turn.cut is not None else turn.sequence.finish_reason or "stop"


def _chunk(
    turn: ChatTurn, delta: dict[str, Any], *, logprobs: dict[str, Any] | None = None
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": None}
    return {**turn.envelope, "choices": [choice]}


def _logprobs(turn: ChatTurn, first: int) -> dict[str, Any] | None:
    if not turn.body.logprobs:
        return None
    sequence, text = turn.sequence, turn.sequence.version.base.text
    entries = []
    for index, token in enumerate(turn.token_ids[first:], start=first):
        best = sequence.top_logprobs[index] if sequence.top_logprobs else {}
        entries.append(
            {
                **_token(text(token), sequence.logprobs[index]),
                "top_logprobs": [_token(text(other), value) for other, value in best.items()],
            }
        )
    return {"content": entries, "refusal": None}


def _token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


def _usage(turn: ChatTurn, answer: ParsedTurn) -> dict[str, Any]:
    prompt = turn.sequence.prompt_length
    return {
        "prompt_tokens": prompt,
        "completion_tokens": turn.count,
        "total_tokens": prompt + turn.count,
        "prompt_tokens_details": {"cached_tokens": turn.sequence.reused},
        "completion_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
    }
