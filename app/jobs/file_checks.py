"""Reads a file of rows in bounded memory: faults, tools, prompts and their lengths."""

import heapq
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any, BinaryIO, Final, assert_never

from app.files.datasets import Prompts, inspect_row, prompt_messages
from app.files.division import has_unread_difficulty
from app.files.rows import (
    MAX_ROW_BYTES,
    MIN_EXAMPLES,
    DatasetError,
    is_blank,
    learned_turns,
    nothing_left,
)
from app.files.unread_parts import UNREAD_PART, unread_parts
from app.jobs.preflight import NO_NEEDS, InspectionRequest, RowFaults, RowNeeds, TokenLengths
from app.jobs.supervised import MethodType, TrainOn
from app.kit.errors import InvalidRequest, IssueSeverity, PreflightIssue
from app.models.chat import NO_ROOM_CURE, fills_context, full_context
from app.models.models import BaseModelSpec
from app.rollouts.chat_template import Message
from app.rollouts.renderer import Renderer


def lines_of(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yields number and bytes of each line; a line over the limit is cut just above it."""
    number = 0
    while line := file.readline(MAX_ROW_BYTES + 2):
        number += 1
        rest = line
        while len(rest) == MAX_ROW_BYTES + 2 and not rest.endswith(b"\n"):
            rest = file.readline(MAX_ROW_BYTES + 2)
        yield number, line


MAX_ISSUES: Final = 100
_SHOWN_LINES: Final = 5
_INDEX: Final = re.compile(r"/[0-9]+(?=/|$)", re.ASCII)
"""An index in a JSON pointer: the same fault may be in the first message and in the second one."""
_EVEN_SAMPLE: Final = 2000
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class RowPrompt:
    messages: list[Message]
    tools: list[Message]
    item: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FileRules:
    param: str
    method: MethodType
    job_tools: frozenset[str] | None
    max_rows: int
    train_on: TrainOn = "all"
    needs: RowNeeds = NO_NEEDS

    @property
    def code(self) -> str:
        return f"invalid_{self.param}"


@dataclass(slots=True)
class ReadFile:
    rows: int = 0
    faulty_rows: int = 0
    issues: list[PreflightIssue] = field(default_factory=list)
    prompts: Prompts = field(default_factory=Prompts)
    tools: Counter[str] = field(default_factory=Counter)
    unread_difficulties: int = 0
    first_unread_difficulty: int | None = None
    sampled: dict[int, RowPrompt] = field(default_factory=dict)

    def offer_on_every_row(self, tools: Sequence[dict[str, Any]]) -> None:
        self.sampled = {
            line: replace(prompt, tools=[*prompt.tools, *tools])
            for line, prompt in self.sampled.items()
        }


def read_file(path: Path, rules: FileRules) -> ReadFile:
    """Equal faults are one issue; past the first 100 of them, faults are only counted."""
    unmet = RowFaults(rules.needs, with_references=rules.method == "reinforcement")
    result, sampler = ReadFile(), _RowSampler()
    equal, unread = _EqualFaults(), _EqualFaults()
    with path.open("rb") as file:
        for number, line in lines_of(file):
            if is_blank(line):
                continue
            result.rows += 1
            if result.rows > rules.max_rows:
                continue
            item, faults = inspect_row(
                rules.method, line, number, job_tools=rules.job_tools, train_on=rules.train_on
            )
            if item is None:
                result.faulty_rows += 1
                equal.see(faults)
                continue
            prompt = _prompt(rules.method, item)
            result.tools.update(str(tool["function"]["name"]) for tool in prompt.tools)
            result.prompts.see(prompt.messages, number)
            unmet.see(prompt.item, number)
            unread.see([DatasetError(number, *part) for part in unread_parts(rules.method, item)])
            if has_unread_difficulty(prompt.item):
                result.unread_difficulties += 1
                result.first_unread_difficulty = result.first_unread_difficulty or number
            sampler.offer(number, prompt, size=len(line))
    result.sampled = sampler.prompts()
    result.issues += equal.issues(rules.param, severity="error", code=rules.code)
    result.issues += unread.issues(rules.param, severity="warning", code=UNREAD_PART)
    result.issues += _count_issues(result, rules, unlisted=equal.unlisted)
    result.issues += unmet.found(rules.param.removesuffix("_file"))
    return result


class _EqualFaults:
    def __init__(self) -> None:
        self._first: dict[tuple[str, str], DatasetError] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lines: dict[tuple[str, str], list[int]] = {}
        self.unlisted = 0

    def see(self, faults: Sequence[DatasetError]) -> None:
        for fault in faults:
            key = (_INDEX.sub("/*", fault.pointer), fault.message)
            if key not in self._first and len(self._first) == MAX_ISSUES:
                self.unlisted += 1
                continue
            self._first.setdefault(key, fault)
            self._counts[key] += 1
            lines = self._lines.setdefault(key, [])
            if fault.line not in lines and len(lines) <= _SHOWN_LINES:
                lines.append(fault.line)

    def issues(self, param: str, *, severity: IssueSeverity, code: str) -> Iterator[PreflightIssue]:
        for key, fault in self._first.items():
            yield PreflightIssue(
                severity=severity,
                code=code,
                message=f"{fault}{_repeated(self._counts[key], self._lines[key])}",
                param=param,
                line=fault.line,
                pointer=fault.pointer,
            )


def _repeated(count: int, lines: Sequence[int]) -> str:
    if count == 1:
        return ""
    shown = ", ".join(map(str, lines[:_SHOWN_LINES]))
    more = ", …" if len(lines) > _SHOWN_LINES else ""
    noun = "line" if len(lines) == 1 else "lines"
    return f" ({count} times, {noun} {shown}{more})"


def _count_issues(result: ReadFile, rules: FileRules, *, unlisted: int) -> Iterator[PreflightIssue]:
    label = rules.param.replace("_", " ").capitalize()
    if unlisted > 0:
        message = f"{unlisted} more faults, in {result.faulty_rows} faulty rows altogether."
        yield PreflightIssue("error", rules.code, message, rules.param)
    if result.rows < MIN_EXAMPLES:
        message = (
            f"{label} has {result.rows} example(s), but must have at least {MIN_EXAMPLES} examples"
        )
        yield PreflightIssue("error", "invalid_n_examples", message, rules.param)
    if result.rows > rules.max_rows:
        message = f"{label} has {result.rows} examples, but may have at most {rules.max_rows}"
        yield PreflightIssue("error", rules.code, message, rules.param)
    if result.prompts.repeats:
        message = f"{result.prompts.repeats} rows of the {label.lower()} repeat an earlier prompt."
        yield PreflightIssue("warning", "duplicate_rows", message, rules.param)


class _RowSampler:
    """Samples every row of a small file, or an even sample and the longest rows of a large one.

    The sample takes every n-th row and doubles n whenever it is full, so it is even over a file
    whose length is not known beforehand.
    """

    def __init__(self) -> None:
        self._stride = 1
        self._seen = 0
        self._even: dict[int, tuple[int, RowPrompt]] = {}
        self._longest: list[tuple[int, int]] = []
        self._long: dict[int, RowPrompt] = {}

    def offer(self, number: int, prompt: RowPrompt, *, size: int) -> None:
        if self._seen % self._stride == 0:
            self._even[number] = (self._seen, prompt)
        self._seen += 1
        if len(self._even) > _EVEN_SAMPLE:
            self._stride *= 2
            self._even = {n: row for n, row in self._even.items() if row[0] % self._stride == 0}
        heapq.heappush(self._longest, (size, number))
        self._long[number] = prompt
        if len(self._longest) > _LONGEST:
            del self._long[heapq.heappop(self._longest)[1]]

    def prompts(self) -> dict[int, RowPrompt]:
        even = {number: prompt for number, (_, prompt) in self._even.items()}
        return dict(sorted({**even, **self._long}.items()))


def _prompt(method: MethodType, item: dict[str, Any]) -> RowPrompt:
    offering = item["input"] if method == "dpo" else item
    return RowPrompt(prompt_messages(method, item), offering.get("tools") or [], item)


PROMPT_EXCEEDS_CONTEXT = "prompt_exceeds_context"

Lengths = dict[int, int]
"""Tokens of each measured prompt by its line."""


def prompt_lengths(renderer: Renderer, file: ReadFile) -> Lengths:
    lengths: Lengths = {}
    for line, prompt in file.sampled.items():
        try:
            lengths[line] = len(renderer.prompt_ids(prompt.messages, prompt.tools))
        except InvalidRequest:
            continue
    return lengths


def token_lengths(by_line: Lengths, base: BaseModelSpec) -> TokenLengths | None:
    if not by_line:
        return None
    lengths = sorted(by_line.values())

    def percentile(share: float) -> int:
        return lengths[min(len(lengths) - 1, round(share * (len(lengths) - 1)))]

    return TokenLengths(
        measured_rows=len(lengths),
        mean=round(fmean(lengths), 1),
        p50=percentile(0.5),
        p90=percentile(0.9),
        p99=percentile(0.99),
        max=lengths[-1],
        context_length=base.context_length,
        over_context=sum(fills_context(length, base.context_length) for length in lengths),
    )


def length_issues(
    request: InspectionRequest, param: str, by_line: Lengths, base: BaseModelSpec
) -> Iterator[PreflightIssue]:
    full = [line for line, length in by_line.items() if fills_context(length, base.context_length)]
    if not full:
        return
    share = request.no_room_share if param == "validation_file" else 1.0
    ends = request.no_room_share is not None and len(full) >= (share or 1.0) * len(by_line)
    severity: IssueSeverity = "error" if ends else "warning"
    shown = ", ".join(map(str, full[:_SHOWN_LINES])) + (", …" if len(full) > _SHOWN_LINES else "")
    message = (
        f"{len(full)} of {len(by_line)} measured prompts "
        f"{full_context(base.context_length, max(by_line.values()))}: lines {shown}. That leaves "
        f"no token for an answer. {NO_ROOM_CURE}."
    )
    yield PreflightIssue(severity, PROMPT_EXCEEDS_CONTEXT, message, param, full[0])


_DECODER: Final = json.JSONDecoder()
_DEEPEST: Final = 6
_TEXT: Final = 'a "quoted" wörd'
_LEAVES: Final = {"integer": 7, "number": 2.5, "boolean": True, "null": None}
_BRANCHES: Final = ("anyOf", "oneOf", "allOf")
_UNSAID: Final = frozenset({"strict", "required", "additionalProperties", "title", "$schema"})
"""Keys that few templates show, and without which a model makes the same calls."""
_MOST_PARTS: Final = 40
_MOST_NAMED: Final = 5

Part = tuple[str, tuple[str, ...]]
"""A part of a function in words, and its keys from the outermost on."""


def tool_problems(
    renderer: Renderer, messages: list[Message], tools: list[Message]
) -> Iterator[tuple[int, str]]:
    """Yields positions in `tools` with problems. Raises `InvalidRequest` of the template."""
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
    """`by_line` has the lengths of whole examples."""
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
