"""Sampling of an eval run in the words of Chat Completions, and its check by the rules of a chat.
Pure.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from app.domain.chat.parameters import check_parameters
from app.domain.documents.json_object import Json
from app.domain.errors import InvalidRequest, refused_value
from app.domain.evals.data_sources import JsonlSource, SampledSource, SentSampling

TEXT: Final = "text"
"""Type of the `response_format` that every engine gives."""


def settings_of(params: SentSampling, *, seed: int) -> Json:
    """Returns Chat Completions settings; translates names of the Responses API."""
    form = params.response_format or (params.text or {}).get("format")
    if isinstance(form, dict) and form.get("type") == "json_schema" and "json_schema" not in form:
        form = {
            "type": "json_schema",
            "json_schema": {key: value for key, value in form.items() if key != "type"},
        }
    settings = {
        "seed": seed,
        "temperature": 1.0 if params.temperature is None else params.temperature,
        "top_p": 1.0 if params.top_p is None else params.top_p,
        "max_completion_tokens": params.max_completion_tokens,
        "reasoning_effort": params.reasoning_effort,
        "response_format": form,
        "tools": _tools(params) or None,
    }
    return {key: value for key, value in settings.items() if value is not None}


def requested_format(source: SampledSource) -> str:
    """Returns the type of the requested `response_format`, which was checked."""
    form = settings_of(source.sampling_params, seed=0).get("response_format", {})
    return str(form.get("type", TEXT))


def unavailable_format(
    source: SampledSource, formats: Sequence[str], *, root: str
) -> InvalidRequest:
    """Returns the error of a format that the engine of the model cannot give."""
    sent = "response_format" if source.sampling_params.response_format else "text.format"
    return refused_value(
        f"{root}.sampling_params.{sent}.type",
        f"the engine that serves '{source.model}' gives {', '.join(formats)} alone; leave it out, "
        "and ask for the form in the messages",
    )


def tools_of(source: JsonlSource | SampledSource) -> list[Json]:
    """Returns the tools that the model is offered, which a judge of its answers reads too."""
    match source:
        case SampledSource():
            return _tools(source.sampling_params)
        case JsonlSource():
            return []
        case _:
            assert_never(source)


def sampling_fault(source: JsonlSource | SampledSource, root: str) -> InvalidRequest | None:
    """Returns the error of the first setting that no chat takes, at its place in the data source
    `root`.
    """
    match source:
        case JsonlSource():
            return None
        case SampledSource(sampling_params=params):
            settings = settings_of(params, seed=params.seed or 0)
        case _:
            assert_never(source)
    try:
        check_parameters({"model": source.model, "messages": [], **settings})
    except InvalidRequest as fault:
        return _at(fault, params, f"{root}.sampling_params.")
    return None


def _at(fault: InvalidRequest, params: SentSampling, root: str) -> InvalidRequest:
    """Returns the error of a setting at its place in the call, also in the Responses API's form."""
    said = fault.param or ""
    sent = said
    if said.startswith("response_format") and not params.response_format:
        sent = f"text.format{said.removeprefix('response_format').replace('.json_schema', '', 1)}"
    elif any("function" not in tool for tool in params.tools or ()):
        sent = said.replace(".function", "", 1)
    message = fault.message.replace(f"'{said}'", f"'{root}{sent}'")
    return InvalidRequest(message, param=root + sent, code=fault.code)


def _tools(params: SentSampling) -> list[Json]:
    return [_tool(tool) for tool in params.tools or ()]


def _tool(tool: Json) -> Json:
    """Returns a function in the nested form of Chat Completions; the Responses API's is flat."""
    if "function" in tool:
        return tool
    return {
        "type": "function",
        "function": {key: value for key, value in tool.items() if key != "type"},
    }
