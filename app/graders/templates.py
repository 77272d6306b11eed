"""Templates of graders, and texts that are none: a placeholder in those would never be filled. A
text that the answer makes unusable scores 0 with a flag; one that the row makes unusable is a fault
that removes the rollout, and takes precedence.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from app.graders.scorer import (
    ITEM_MISSING,
    ITEM_UNREADABLE,
    GradeRequest,
    GraderErrors,
    ScoreFault,
    ScoreResult,
)

_PLACEHOLDER: Final = re.compile(
    r"\{\{\s{0,9}[A-Za-z_][\w.\[\]'\"-]{0,200}\s{0,9}\}\}"
    r"|\{\s{0,9}(?:sample|item)\s{0,9}[.\[][^{}\n]{0,200}\}",
    re.ASCII,
)


def placeholder_in(text: str) -> str | None:
    found = _PLACEHOLDER.search(text)
    return None if found is None else found[0]


def _plain(what: str, cure: str, *, blank: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        fault = None if text.strip() else f"it is blank: {blank}"
        found = placeholder_in(text)
        if found is not None:
            fault = f"'{found}' would not be filled in, because {what} are not templates: {cure}"
        if fault is not None:
            raise PydanticCustomError("grader_error", "{fault}", {"fault": fault})
        return text

    return check


CriterionText = Annotated[
    str,
    AfterValidator(
        _plain(
            "criteria",
            "the judge reads the row by the template 'question' and the answer by 'input' of a "
            "grader of type 'llm_judge'",
            blank="say what the judge is to look at",
        )
    ),
]
StandardsText = Annotated[
    str,
    AfterValidator(
        _plain(
            "the standards of an 'ai_judge'",
            "it reads the messages of each rollout; a grader of type 'llm_judge' or 'score_model' "
            "reads the row by templates",
            blank="say what the judge is to look at, or leave it out",
        )
    ),
]
LabelText = Annotated[
    str,
    AfterValidator(
        _plain(
            "labels",
            "the judge reads the row by the templates in 'input'",
            blank="a label is a word or more",
        )
    ),
]
SectionText = Annotated[
    str,
    AfterValidator(
        _plain(
            "sections",
            "they are the same for every row",
            blank="an entry is one line that is not blank",
        )
    ),
]


NAMESPACES: Final = ("item", "sample")
MAX_PLACEHOLDERS: Final = 1_000
MAX_PLACEHOLDERS_TOGETHER: Final = 10_000
"""Most placeholders of a definition: the event loop parses each in 6e-6 seconds."""
MAX_RENDERED: Final = 2_097_152
_PATH: Final = re.compile(r"(?P<namespace>[^\s.\[\]{}]+)(?P<rest>.*)", re.DOTALL)
_STEP: Final = re.compile(
    r"\.(?P<key>[^\s.\[\]{}\"']+)|\[(?P<index>[0-9]{1,9})\]|\[\"(?P<quoted>[^\"\]]+)\"\]"
    r"|\['(?P<single>[^'\]]+)'\]"
)
_MAX_STEPS: Final = 64
_SHOWN: Final = 80


_FILLED_IN: Final = (("messages",), ("tools",))
"""Steps to what `grader_item` fills in with nulls."""
_STATEMENT: Final = re.compile(r"\{%|\{#[^{}]*#\}")
"""`%}` alone ends a box of LaTeX, and `{#name}` is an anchor."""


class TemplateError(ValueError):
    """Reports an invalid template. The message is for its author."""


class MissingVariable(Exception):
    def __init__(self, path: str, namespace: str) -> None:
        super().__init__(f"'{path}' is not there")
        self.path = path
        self.namespace = namespace
        """`item` or `sample`."""


class RenderedTooLong(Exception):
    def __init__(self) -> None:
        super().__init__(too_long(MAX_RENDERED))


def too_long(limit: int) -> str:
    return f"a text is longer than {limit} characters"


@dataclass(slots=True)
class DefinitionWork:
    """The placeholders that the parts of one definition may still have."""

    _placeholders: int = MAX_PLACEHOLDERS_TOGETHER

    @classmethod
    def of(cls, info: ValidationInfo) -> "DefinitionWork":
        return info.context if isinstance(info.context, cls) else cls()

    def count(self, template: str) -> None:
        self._placeholders -= template.count("{{")
        if self._placeholders < 0:
            raise TemplateError(
                f"there are more than {MAX_PLACEHOLDERS_TOGETHER} placeholders together"
            )


@dataclass(frozen=True, slots=True)
class Placeholder:
    text: str
    namespace: str
    steps: tuple[str | int, ...]

    def find(self, namespaces: Mapping[str, Any]) -> str:
        value = self.value(namespaces)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def value(self, namespaces: Mapping[str, Any]) -> Any:
        """Returns a value of the row or the sample. Null is none: as a text it could be matched."""
        value = namespaces[self.namespace]
        for step in self.steps:
            value = self._descend(value, step)
        if value is None and (self.namespace == "sample" or self.steps[:1] not in _FILLED_IN):
            raise MissingVariable(self.text, self.namespace)
        return value

    def leads_somewhere(self, namespaces: Mapping[str, Any]) -> bool:
        try:
            self.value(namespaces)
        except MissingVariable:
            return False
        return True

    def _descend(self, value: Any, step: str | int) -> Any:
        if isinstance(value, dict) and str(step) in value:
            return value[str(step)]
        if isinstance(value, list) and isinstance(step, int) and step < len(value):
            return value[step]
        raise MissingVariable(self.text, self.namespace)


@dataclass(frozen=True, slots=True)
class Template:
    parts: tuple[str | Placeholder, ...]

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        return tuple(part for part in self.parts if isinstance(part, Placeholder))

    @property
    def reads_sample(self) -> bool:
        return any(each.namespace == "sample" for each in self.placeholders)

    def render(
        self, *, sample: Mapping[str, Any], item: Mapping[str, Any], limit: int = MAX_RENDERED
    ) -> str:
        namespaces = {"sample": sample, "item": item}
        texts: list[str] = []
        length = 0
        for part in self.parts:
            text = part if isinstance(part, str) else part.find(namespaces)
            length += len(text)
            if length > limit:
                raise RenderedTooLong
            texts.append(text)
        return "".join(texts)


class RenderBudget:
    """Renders several texts under the limit of one: each may repeat the same long value."""

    def __init__(self, *, sample: Mapping[str, Any], item: Mapping[str, Any]) -> None:
        self._sample, self._item = sample, item
        self._left = MAX_RENDERED

    def render(self, template: Template) -> str:
        text = template.render(sample=self._sample, item=self._item, limit=self._left)
        self._left -= len(text)
        return text


def parse_template(text: str) -> Template:
    parts: list[str | Placeholder] = []
    position = 0
    while (start := text.find("{{", position)) != -1:
        end = text.find("}}", start + 2)
        if end == -1:
            raise TemplateError("a '{{' has no '}}'")
        if len(parts) == 2 * MAX_PLACEHOLDERS:
            raise TemplateError(f"there are more than {MAX_PLACEHOLDERS} placeholders")
        parts += [text[position:start], _placeholder(text[start + 2 : end].strip())]
        position = end + 2
    parts.append(text[position:])
    _refuse_statements(part for part in parts if isinstance(part, str))
    return Template(tuple(part for part in parts if part != ""))


def _refuse_statements(texts: Iterable[str]) -> None:
    for text in texts:
        found = _STATEMENT.search(text)
        if found is not None:
            shown = text[found.start() : found.start() + _SHOWN]
            raise TemplateError(
                f"'{shown}' is plain text: there are no statements and comments, only placeholders "
                "such as {{item.answer}}"
            )


def _placeholder(path: str) -> Placeholder:
    match = _PATH.fullmatch(path)
    if match is None:
        raise TemplateError(f"'{{{{{path[:_SHOWN]}}}}}' holds no path such as item.answer")
    namespace = match["namespace"]
    if namespace not in NAMESPACES:
        raise TemplateError(
            f"unknown namespace '{namespace[:_SHOWN]}': a path starts with 'item' or 'sample'"
        )
    return Placeholder(path, namespace, _steps(match["rest"], path))


def _steps(rest: str, path: str) -> tuple[str | int, ...]:
    steps: list[str | int] = []
    position = 0
    while position < len(rest):
        match = _STEP.match(rest, position)
        if match is None or len(steps) == _MAX_STEPS:
            raise TemplateError(f"'{path[:_SHOWN]}' is not a path of names and [indexes]")
        position = match.end()
        index = match["index"]
        steps.append(int(index) if index else match["key"] or match["quoted"] or match["single"])
    return tuple(steps)


class Unrenderable(Exception):
    def __init__(self, errors: GraderErrors) -> None:
        super().__init__(errors.details)
        self.errors = errors

    @property
    def result(self) -> ScoreResult:
        return ScoreResult(0.0, self.errors)


def render(template: Template, request: GradeRequest, *, source: str) -> str:
    return render_all([template], request, source=source)[0]


def render_all(templates: Sequence[Template], request: GradeRequest, *, source: str) -> list[str]:
    budget, texts = RenderBudget(sample=request.sample, item=request.item), dict[int, str]()
    for number, template in sorted(enumerate(templates), key=lambda one: one[1].reads_sample):
        with as_grader_errors(source):
            try:
                texts[number] = budget.render(template)
            except RenderedTooLong as error:
                errors = GraderErrors(other_error=True, details=str(error))
                raise unusable_text_fault([template], errors, source=source) from None
    return [texts[number] for number in range(len(templates))]


def unusable_text_fault(
    faulty: Sequence[Template], errors: GraderErrors, *, source: str
) -> Unrenderable | ScoreFault:
    if all(template.reads_sample for template in faulty):
        return Unrenderable(errors)
    return unreadable_item(errors.details or "", source=source)


def unreadable_item(message: str, *, source: str) -> ScoreFault:
    message = f"the row cannot be graded: {message}"
    errors = GraderErrors(other_error=True, details=message)
    return ScoreFault(ITEM_UNREADABLE, message, source=source, errors=errors)


@contextmanager
def as_grader_errors(source: str) -> Iterator[None]:
    try:
        yield
    except MissingVariable as missing:
        errors = GraderErrors(invalid_variable_error=True, details=str(missing))
        if missing.namespace == "item":
            message = f"its template reads '{missing.path}', which the row does not have"
            raise ScoreFault(ITEM_MISSING, message, source=source, errors=errors) from None
        raise Unrenderable(errors) from None
    except RenderedTooLong as error:
        raise Unrenderable(GraderErrors(other_error=True, details=str(error))) from None
