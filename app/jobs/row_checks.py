"""Checks that a row's tools pass through the model's chat template and tool-call parser unchanged.

A part of a schema is shown if the prompt without it is another one, whatever the template writes in
its place.
"""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, assert_never

from app.files.rows import learned_turns, nothing_left
from app.jobs.file_checks import Lengths, ReadFile, RowPrompt
from app.jobs.preflight import InspectionRequest
from app.kit.errors import InvalidRequest, PreflightIssue
from app.models.models import BaseModelSpec
from app.rollouts.chat_template import Message
from app.rollouts.renderer import Renderer

_DECODER: Final = json.JSONDecoder()
_DEEPEST: Final = 6
_TEXT: Final = 'a "quoted" wörd'
_LEAVES: Final = {"integer": 7, "number": 2.5, "boolean": True, "null": None}
_BRANCHES: Final = ("anyOf", "oneOf", "allOf")
_UNSAID: Final = frozenset({"strict", "required", "additionalProperties", "title", "$schema"})
"""Keys that few templates show, and without which a model makes the same calls."""
_MOST_PARTS: Final = 40
"""Largest number of parts of one tool whose absence is rendered."""
_MOST_NAMED: Final = 5

Part = tuple[str, tuple[str, ...]]
"""A part of a function in words, and its keys from the outermost on."""


def tool_problems(
    renderer: Renderer, messages: list[Message], tools: list[Message]
) -> Iterator[tuple[int, str]]:
    """Yields positions in `tools` with their problems. Raises `InvalidRequest` if the prompt cannot
    be rendered.
    """
    rendered = list(_objects(renderer.prompt_text(messages, tools)))
    shown = renderer.control_text.tools(tools) or []
    for position, (tool, safe) in enumerate(zip(tools, shown, strict=True)):
        function = tool["function"]
        if safe not in rendered and safe["function"] not in rendered:
            hidden = _hidden_parts(renderer, messages, tools, position)
            if hidden:
                yield position, f"the chat template does not show the model {_listing(hidden)}"
        problem = _call_problem(renderer, messages, tools, function)
        if problem is not None:
            yield position, problem


def _hidden_parts(
    renderer: Renderer, messages: list[Message], tools: list[Message], position: int
) -> list[str]:
    """Returns the parts of a tool that the prompt does not show; of a hidden part no inner one."""
    whole = renderer.prompt_text(messages, tools)
    hidden: list[Part] = []
    for words, path in islice(_parts(tools[position]["function"]), _MOST_PARTS):
        if any(path[: len(outer)] == outer for _, outer in hidden):
            continue
        tool = {**tools[position], "function": _without(tools[position]["function"], path)}
        try:
            shorter = renderer.prompt_text(
                messages, [*tools[:position], tool, *tools[position + 1 :]]
            )
        except InvalidRequest:  # the template reads it
            continue
        if shorter == whole:
            hidden.append((words, path))
    return [words for words, _ in hidden]


def _parts(function: dict[str, Any]) -> Iterator[Part]:
    """Yields description, parameters and what describes them, each part before its inner ones."""
    if function.get("description"):
        yield "its description", ("description",)
    parameters = function.get("parameters")
    if isinstance(parameters, dict) and parameters:
        yield "its parameters", ("parameters",)
        yield from _properties(parameters, ("parameters",), "")


def _properties(schema: dict[str, Any], path: tuple[str, ...], outer: str) -> Iterator[Part]:
    named = schema.get("properties")
    if not isinstance(named, dict) or len(path) > 2 * _DEEPEST:
        return
    for name, inner in named.items():
        at, full = (*path, "properties", name), f"{outer}{name}"
        yield f"the parameter '{full}'", at
        if not isinstance(inner, dict):
            continue
        for key in sorted(inner.keys() - _UNSAID - {"properties"}):
            yield f"'{key}' of the parameter '{full}'", (*at, key)
        yield from _properties(inner, at, f"{full}.")


def _without(value: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    first, *rest = path
    if rest:
        return {**value, first: _without(value[first], tuple(rest))}
    return {key: inner for key, inner in value.items() if key != first}


def _listing(parts: list[str]) -> str:
    more = len(parts) - _MOST_NAMED
    return ", ".join(parts[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _call_problem(
    renderer: Renderer, messages: list[Message], tools: list[Message], function: dict[str, Any]
) -> str | None:
    arguments = example_of(function.get("parameters") or {})
    if not isinstance(arguments, dict):
        return "its parameters describe no JSON object, so the model cannot fill them"
    try:
        parsed = renderer.reread_call(messages, tools, name=function["name"], arguments=arguments)
    except InvalidRequest as error:
        return f"the chat template cannot show a call of it: {error.message}"
    if len(parsed) != 1 or parsed[0].name != function["name"]:
        return "a call of it is not read back by the tool-call parser"
    if json.loads(parsed[0].arguments_json) != arguments:
        return "the arguments of a call of it are read back differently"
    return None


def _objects(text: str) -> Iterator[Any]:
    """Yields every outermost JSON object in a text."""
    start = text.find("{")
    while start != -1:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        yield value
        start = text.find("{", end)


def example_of(schema: Any, depth: int = 0) -> Any:
    """Returns a value of a JSON schema's type; constraints beyond type and enum are ignored."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return _TEXT
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    branch = next((schema[key][0] for key in _BRANCHES if _listed(schema, key)), None)
    if branch is not None:
        return example_of(branch, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema or depth == 0 else "string")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        properties = schema.get("properties")
        named = properties.items() if isinstance(properties, dict) else ()
        return {name: example_of(inner, depth + 1) for name, inner in named}
    if kind == "array":
        return [example_of(schema.get("items"), depth + 1)]
    return _LEAVES.get(kind, _TEXT) if isinstance(kind, str) else _TEXT


def _listed(schema: dict[str, Any], key: str) -> bool:
    return isinstance(schema.get(key), list) and bool(schema[key])


ANSWERS_CUT = "answers_cut"


def answer_issues(
    request: InspectionRequest,
    param: str,
    file: ReadFile,
    by_line: Lengths,
    *,
    renderer: Renderer,
    base: BaseModelSpec,
) -> Iterator[PreflightIssue]:
    """Yields the rows that end the job, then a warning about answers that are cut. `by_line` has
    the lengths of whole examples.
    """
    limit, cut = base.context_length, 0
    for line in by_line:
        found = _span(request, file.sampled[line], by_line[line], limit, renderer)
        if found is None:
            continue
        begins, ends = found
        if begins >= limit:
            message = f"Line {line}: {nothing_left(limit)}"
            yield PreflightIssue("error", f"invalid_{param}", message, param, line)
        else:
            cut += ends > limit
    if cut:
        label = param.removesuffix("_file")
        message = (
            f"{cut} of {len(by_line)} measured {label} examples are longer than {limit} tokens and "
            "are cut at their end"
        )
        yield PreflightIssue("warning", ANSWERS_CUT, message, param)


def _span(
    request: InspectionRequest, prompt: RowPrompt, length: int, limit: int, renderer: Renderer
) -> tuple[int, int] | None:
    """Returns the tokens before the first learned answer and up to the end of the longest one,
    `None` for a row that fits or that the template cannot render.
    """
    match request.method:
        case "supervised":
            if length <= limit:  # with the beginning of another turn
                return None
            learned = learned_turns(prompt.item["messages"], request.train_on)
            before, texts = learned[0], [prompt.messages[: learned[-1] + 1]]
        case "dpo":
            asked = prompt.item["input"]["messages"]
            answers = (prompt.item[name] for name in ("preferred_output", "non_preferred_output"))
            before, texts = len(asked), [[*asked, *answer] for answer in answers]
        case "reinforcement":
            raise ValueError("the answers of a reinforcement job are sampled")
        case _:
            assert_never(request.method)
    tools = prompt.tools
    try:
        ends = [
            len(renderer.prompt_ids(text[:-1], tools)) + len(renderer.turn_ids(text, tools))
            for text in texts
        ]
        return len(renderer.prompt_ids(texts[0][:before], tools)), max(ends)
    except InvalidRequest:
        return None
