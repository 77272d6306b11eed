"""Request bodies of the engine's endpoints, as vLLM 0.32 names their fields.

Settings that change the distribution and are not implemented are refused; fields without effect
(`user`, `metadata`, …) are ignored.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from app.files.conversations import unsupported_value
from app.kit.errors import InvalidRequest
from app.kit.faults import fault_clause

_UNSUPPORTED: Final = "unsupported_value"
RESPONSE_FORMATS: Final = ("text",)
"""Types of `response_format` that this engine can give."""
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
    """Cached prefixes are reused only among requests with the same salt, e.g. one per tenant. Rows
    of a batch are shared fairly among salts.
    """
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
    """Values that request no effect; other values are refused."""

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
    """Token ids."""
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
    """Parses and validates a body. Raises `InvalidRequest` naming the first invalid field."""
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
