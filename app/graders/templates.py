r"""Texts of a grader that are not templates: a placeholder in one is refused, because it would
never be filled.

Placeholders are `{{…}}` around a name, and a path of `item` or `sample` in single braces; other
braces (`\textbf{item}`, `{"item": 3}`) are text.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, ValidationInfo
from pydantic_core import PydanticCustomError

_PLACEHOLDER: Final = re.compile(
    r"\{\{\s{0,9}[A-Za-z_][\w.\[\]'\"-]{0,200}\s{0,9}\}\}"
    r"|\{\s{0,9}(?:sample|item)\s{0,9}[.\[][^{}\n]{0,200}\}",
    re.ASCII,
)


def placeholder_in(text: str) -> str | None:
    """Returns the first placeholder of a text."""
    found = _PLACEHOLDER.search(text)
    return None if found is None else found[0]


def _plain(what: str, cure: str, *, blank: str) -> Callable[[str], str]:
    """Returns a validator that raises `PydanticCustomError` for a blank text, and for one with a
    placeholder.
    """

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
"""Largest number in all templates of a definition: the event loop of all tenants parses them, in
6e-6 seconds each.
"""
MAX_RENDERED: Final = 2_097_152
"""Largest number of characters of a rendered text."""
_PATH: Final = re.compile(r"(?P<namespace>[^\s.\[\]{}]+)(?P<rest>.*)", re.DOTALL)
_STEP: Final = re.compile(
    r"\.(?P<key>[^\s.\[\]{}\"']+)|\[(?P<index>[0-9]{1,9})\]|\[\"(?P<quoted>[^\"\]]+)\"\]"
    r"|\['(?P<single>[^'\]]+)'\]"
)
_MAX_STEPS: Final = 64
_SHOWN: Final = 80


class TemplateError(ValueError):
    """Reports an invalid template. The message is for its author."""


class MissingVariable(Exception):
    """A path that does not exist in this sample or item."""

    def __init__(self, path: str, namespace: str) -> None:
        super().__init__(f"'{path}' is not there")
        self.path = path
        self.namespace = namespace
        """`item` or `sample`."""


class RenderedTooLong(Exception):
    """The text would be longer than `MAX_RENDERED`."""

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
        """Returns the work of the validation, a new one for a part that is read by itself."""
        return info.context if isinstance(info.context, cls) else cls()

    def count(self, template: str) -> None:
        """Counts a template before it is parsed. Raises `TemplateError`."""
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
        """Returns the value as text. Raises `MissingVariable`."""
        value = self.value(namespaces)
        if value is None and self.namespace == "sample":
            raise MissingVariable(self.text, self.namespace)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def value(self, namespaces: Mapping[str, Any]) -> Any:
        """Returns the value in its JSON type. Raises `MissingVariable`."""
        value = namespaces[self.namespace]
        for step in self.steps:
            value = self._descend(value, step)
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
        """True if the text depends on the answer, not only on the row."""
        return any(each.namespace == "sample" for each in self.placeholders)

    def render(
        self, *, sample: Mapping[str, Any], item: Mapping[str, Any], limit: int = MAX_RENDERED
    ) -> str:
        """Returns at most `limit` characters. Raises `MissingVariable` or `RenderedTooLong`."""
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
    """Renders several texts of one sample under the limit of one, because each of many templates
    may repeat the same long value.
    """

    def __init__(self, *, sample: Mapping[str, Any], item: Mapping[str, Any]) -> None:
        self._sample, self._item = sample, item
        self._left = MAX_RENDERED

    def render(self, template: Template) -> str:
        """Returns the next text. Raises as `Template.render`."""
        text = template.render(sample=self._sample, item=self._item, limit=self._left)
        self._left -= len(text)
        return text


def parse_template(text: str) -> Template:
    """Parses a template. Raises `TemplateError` with the invalid placeholder."""
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
    return Template(tuple(part for part in (*parts, text[position:]) if part != ""))


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
