"""Checks the parameters of a chat. Names outside `ACCEPTED` are refused: chat templates are
programs, cache salts and request ids affect other tenants, transfer settings name addresses.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from app.files.function_tools import check_choice_among_tools, check_tool_choice, check_tools
from app.files.shape_faults import (
    invalid_type,
    invalid_value,
    not_one_of,
    refuse_unknown,
    too_high,
    too_low,
    unsupported_parameter,
    unsupported_value,
)
from app.jobs.response_formats import CALLED_EFFORTS, response_format_fault
from app.kit.errors import InvalidRequest

_MAX_MODEL: Final = 256
_MAX_SEED: Final = 2**63 - 1
_MAX_TOKENS: Final = 2**31 - 1
_OF_STORE: Final = ("store", "metadata", "user", "safety_identifier")
_STREAM_OPTIONS: Final = ("include_usage", "include_obfuscation")
ParameterCheck = Callable[[str, Any], None]


def check_parameters(body: dict[str, Any]) -> None:
    unknown = sorted(body.keys() - ACCEPTED)
    if unknown:
        name = unknown[0][:64]
        raise InvalidRequest(
            f"Unrecognized request argument supplied: {name}", param=name, code="unknown_parameter"
        )
    _check_model(body.get("model"))
    _array("messages", body.get("messages"))
    for name, value in body.items():
        if value is None or name in _CHECKED_ELSEWHERE:
            continue
        cure = _UNSUPPORTED.get(name)
        if cure is not None:
            raise unsupported_parameter(name, cure)
        _CHECKS[name](name, value)
    if body.get("top_logprobs") and not body.get("logprobs"):
        raise invalid_value("top_logprobs", "it needs 'logprobs' to be true")
    if body.get("stream_options") is not None and not body.get("stream"):
        raise invalid_value("stream_options", "it needs 'stream' to be true")
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        raise InvalidRequest(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            param="max_tokens",
            code="invalid_parameter_combination",
        )
    check_choice_among_tools(body)


def engine_options(body: dict[str, Any]) -> dict[str, Any]:
    body = {name: value for name, value in body.items() if name not in _OF_STORE}
    options = body.get("stream_options")
    if options is None:
        return body
    kept = {name: value for name, value in options.items() if name != "include_obfuscation"}
    return {**body, "stream_options": kept}


@dataclass(frozen=True, slots=True)
class _Number:
    low: int | None = None
    high: int | None = None
    above: bool = False
    kind: str = "decimal"

    def __call__(self, param: str, value: Any) -> None:
        allowed = (int,) if self.kind == "integer" else (int, float)
        if isinstance(value, bool) or not isinstance(value, allowed):
            article = "an" if self.kind == "integer" else "a"
            raise invalid_type(param, f"{article} {self.kind}", value)
        if self.low is not None and (value < self.low or (self.above and value == self.low)):
            bound = f"{'>' if self.above else '>='} {self.low}"
            raise too_low(param, self.kind, bound, value)
        if self.high is not None and value > self.high:
            raise too_high(param, self.kind, f"<= {self.high}", value)


def _integer(low: int | None = None, high: int | None = None) -> _Number:
    return _Number(low, high, kind="integer")


def _typed(kind: type, words: str) -> ParameterCheck:
    def check(param: str, value: Any) -> None:
        if not isinstance(value, kind):
            raise invalid_type(param, words, value)

    return check


_boolean, _string = _typed(bool, "a boolean"), _typed(str, "a string")
_object, _array = _typed(dict, "an object"), _typed(list, "an array")


def _check_model(model: Any) -> None:
    _string("model", model)
    if not 0 < len(model) <= _MAX_MODEL:
        raise invalid_value("model", f"it must have 1 to {_MAX_MODEL} characters")


def _stop(param: str, value: Any) -> None:
    if not isinstance(value, str | list):
        raise invalid_type(param, "a string or an array of strings", value)
    for position, stop in enumerate([value] if isinstance(value, str) else value):
        item_param = param if isinstance(value, str) else f"{param}[{position}]"
        _string(item_param, stop)
        if not stop:
            raise invalid_value(item_param, "it must not be empty")


def _token_ids(param: str, value: Any) -> None:
    _array(param, value)
    for position, token in enumerate(value):
        _integer(0, _MAX_TOKENS)(f"{param}[{position}]", token)


def _biases(param: str, value: Any) -> None:
    _object(param, value)
    for token, bias in value.items():
        _Number(-100, 100)(f"{param}.{token[:64]}", bias)


def _modalities(param: str, value: Any) -> None:
    _array(param, value)
    other = [modality for modality in value if modality != "text"]
    if other:
        raise unsupported_value(param, other[0], ("text",))


def _stream_options(param: str, value: Any) -> None:
    _object(param, value)
    refuse_unknown(value, _STREAM_OPTIONS, param)
    for name, option in value.items():
        if option is not None:
            _boolean(f"{param}.{name}", option)
    if value.get("include_obfuscation"):
        raise unsupported_value(f"{param}.include_obfuscation", True, (False,))


def _response_format(param: str, value: Any) -> None:
    _object(param, value)
    fault = response_format_fault(value, param)
    if fault is not None:
        raise fault


def _metadata(param: str, value: Any) -> None:
    _object(param, value)
    for key, text in value.items():
        _string(f"{param}.{key[:64]}", text)


def _one_of(*supported: str) -> ParameterCheck:
    def check(param: str, value: Any) -> None:
        if value not in supported:
            raise not_one_of(param, value, supported)

    return check


_CHECKED_ELSEWHERE: Final = frozenset({"model", "messages"})
_UNSUPPORTED: Final = MappingProxyType(
    {
        "audio": "Answers are text.",
        "function_call": "Use 'tool_choice' instead.",
        "functions": "Use 'tools' instead.",
        "moderation": "No answer is moderated: leave it out.",
        "prediction": "No predicted output is used: leave it out.",
        "web_search_options": "Offer a search function in 'tools' instead.",
    }
)
_CHECKS: Final[MappingProxyType[str, ParameterCheck]] = MappingProxyType(
    {
        "frequency_penalty": _Number(-2, 2),
        "ignore_eos": _boolean,
        "logit_bias": _biases,
        "logprobs": _boolean,
        "max_completion_tokens": _integer(1, _MAX_TOKENS),
        "max_tokens": _integer(1, _MAX_TOKENS),
        "metadata": _metadata,
        "min_p": _Number(0, 1),
        "min_tokens": _integer(0, _MAX_TOKENS),
        "modalities": _modalities,
        "n": _integer(1, 128),
        "parallel_tool_calls": _boolean,
        "presence_penalty": _Number(-2, 2),
        "prompt_cache_key": _string,
        "prompt_cache_options": _object,
        "prompt_cache_retention": _string,
        "reasoning_effort": _one_of(*CALLED_EFFORTS),
        "repetition_penalty": _Number(0, above=True),
        "response_format": _response_format,
        "return_token_ids": _boolean,
        "safety_identifier": _string,
        "seed": _integer(-_MAX_SEED, _MAX_SEED),
        "service_tier": _one_of("auto", "default", "flex", "scale", "priority"),
        "skip_special_tokens": _boolean,
        "stop": _stop,
        "stop_token_ids": _token_ids,
        "store": _boolean,
        "stream": _boolean,
        "stream_options": _stream_options,
        "temperature": _Number(0, 2),
        "tool_choice": check_tool_choice,
        "tools": check_tools,
        "top_k": _integer(-1, _MAX_TOKENS),
        "top_logprobs": _integer(0, 20),
        "top_p": _Number(0, 1, above=True),
        "user": _string,
        "verbosity": _one_of("low", "medium", "high"),
    }
)
ACCEPTED: Final = frozenset({*_CHECKED_ELSEWHERE, *_UNSUPPORTED, *_CHECKS})
