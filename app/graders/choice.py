"""Chooses the grader that fits the rows, for `auto`. A null and a blank text count as absent."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

from app.graders.answer_numbers import is_answer
from app.graders.answer_words import json_fields_source, number_source
from app.graders.calls import ReferenceFault, expected_calls
from app.graders.definitions import AnyGrader, AutoGrader, read_grader
from app.graders.kinds.python import TestsFault, code_tests, is_function_name
from app.kit.errors import InvalidRequest
from app.kit.fields import DescribedFields
from app.kit.strict_json import TooManyValues, strict_loads

TESTS: Final = "tests"
FUNCTION_KEYS: Final = ("function", "entry_point")
CALL_KEYS: Final = ("calls", "expected_calls", "expected_tool_calls", "tool_calls")
# fmt: off
REFERENCE_KEYS: Final = (
    "reference_answer", "answer", "reference", "expected_answer", "expected", "target", "solution",
    "ground_truth", "label",
)
# fmt: on
_LABEL_CHARACTERS: Final = 64
_LABEL_WORDS: Final = 8


class ReferenceForm(Enum):
    FUNCTION_TESTS = "tests of a function"
    PROGRAM_TESTS = "tests of a program"
    NAME = "a name"
    CALLS = "calls"
    JSON = "JSON"
    NUMBER = "a number"
    LABEL = "a short text"
    TEXT = "a text"


@dataclass(frozen=True, slots=True)
class RowFacts:
    location: str
    forms: Mapping[str, ReferenceForm]
    faults: Mapping[str, str]
    offers_tools: bool


def row_facts(item: Mapping[str, Any], line: int, *, file: str | None = None) -> RowFacts:
    location = f"line {line}" if file is None else f"line {line} of the {file} file"
    forms, faults = dict[str, ReferenceForm](), dict[str, str]()
    for key, form_of in _READERS.items():
        value = item.get(key)
        if is_absent(value):
            continue
        try:
            form = form_of(value)
        except (TestsFault, ReferenceFault) as fault:
            faults[key] = str(fault)
            continue
        if form is not None:
            forms[key] = form
    return RowFacts(location, forms, faults, bool(item.get("tools")))


def is_absent(value: Any) -> bool:
    """Returns whether a reference is null, blank, or the `NaN` that tables have for nothing."""
    return value is None or (isinstance(value, str) and value.strip() in ("", "NaN"))


def empty_references(item: Mapping[str, Any]) -> list[str]:
    """Returns the keys of references that a row has, without a value."""
    keys = (TESTS, *CALL_KEYS, *REFERENCE_KEYS)
    return [key for key in keys if key in item and is_absent(item[key])]


EMPTY_REFERENCE: Final = "empty_reference"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _tests(value: Any) -> ReferenceForm:
    text = _as_text(value)
    try:
        code_tests(text, with_function=False)
    except TestsFault:
        try:
            code_tests(text, with_function=True)
        except TestsFault as fault:
            raise TestsFault(
                f'{fault}; a test is {{"arguments", "expected"}} or {{"stdin", "stdout"}}'
            ) from None
        return ReferenceForm.FUNCTION_TESTS
    return ReferenceForm.PROGRAM_TESTS


def _name(value: Any) -> ReferenceForm | None:
    if not isinstance(value, str) or not value.isidentifier():
        return None
    if not is_function_name(value):
        raise TestsFault(f"{value!r} is a keyword of Python, so no function has this name")
    return ReferenceForm.NAME


def _calls(value: Any) -> ReferenceForm:
    expected_calls(_as_text(value))
    return ReferenceForm.CALLS


def _reference(value: Any) -> ReferenceForm:
    match value:
        case bool():
            return ReferenceForm.LABEL
        case int() | float():
            return ReferenceForm.NUMBER
        case str():
            return _form_of_text(value.strip())
        case _:
            return ReferenceForm.JSON


def _form_of_text(text: str) -> ReferenceForm:
    if is_answer(text):
        return ReferenceForm.NUMBER
    if text[0] in "{[":
        try:
            strict_loads(text)
        except TooManyValues as many:
            raise ReferenceFault(str(many)) from None
        except (ValueError, RecursionError):
            return ReferenceForm.TEXT
        return ReferenceForm.JSON
    short = len(text) <= _LABEL_CHARACTERS and len(text.split()) <= _LABEL_WORDS
    return ReferenceForm.LABEL if short and "\n" not in text else ReferenceForm.TEXT


_READERS: Final[Mapping[str, Callable[[Any], ReferenceForm | None]]] = MappingProxyType(
    {
        TESTS: _tests,
        **dict.fromkeys(FUNCTION_KEYS, _name),
        **dict.fromkeys(CALL_KEYS, _calls),
        **dict.fromkeys(REFERENCE_KEYS, _reference),
    }
)


NO_GRADER_FITS: Final = "no_grader_fits"
_ADD: Final = (
    "add to every row a reference answer as 'answer', the 'tests' of its code, or the expected "
    "'calls' of its tools; or send a judge's name as 'model' of 'auto', or a grader of your own"
)


class NoGraderFits(ValueError):
    """Rows from which no grader can be chosen. The text is for their author, with the cure."""

    def __init__(self, text: str, *, key: str | None = None) -> None:
        """`key` is the key of `auto` that the chosen grader refuses."""
        super().__init__(text)
        self.key = key

    def at(self, param: str) -> InvalidRequest:
        return InvalidRequest(
            f"'auto' finds no grader that fits: {self}.",
            param=param if self.key is None else f"{param}.{self.key}",
            code=NO_GRADER_FITS,
        )


@dataclass(frozen=True, slots=True)
class GraderChoice(DescribedFields):
    """The grader that `auto` stands for."""

    grader: dict[str, Any]
    """The chosen grader with its defaults, in the form of a create call."""
    reason: str
    """The reason for the choice, in a sentence."""
    warning: str | None = None
    """A sentence about an option of `auto` that the choice does not use; `None` without one."""

    @property
    def kind(self) -> str:
        return self.read().type

    def read(self) -> AnyGrader:
        return read_grader(self.grader)


def choose_grader(
    auto: AutoGrader, facts: Iterable[RowFacts], *, answer_schema: dict[str, Any] | None
) -> GraderChoice:
    rows = list(facts)
    if not rows:
        raise NoGraderFits("there is no row to choose a grader from")
    definition, reason = (
        _by_tests(rows)
        or _by_calls(rows)
        or _by_reference(rows, answer_schema)
        or _by_answer_schema(answer_schema)
        or _by_judge(auto, rows)
    )
    named = {"name": auto.name, "pass_threshold": auto.pass_threshold}
    sent = {**definition, **{key: value for key, value in named.items() if value is not None}}
    try:
        grader = read_grader(sent)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = next((name for name in named if fault["loc"][:1] == (name,)), None)
        raise NoGraderFits(
            f"{reason}, and the grader for it is refused: {fault['msg']}", key=key
        ) from error
    return GraderChoice(
        grader.model_dump(mode="json"),
        f"{reason[:1].upper()}{reason[1:]}.",
        _unused_judge(auto, grader.type),
    )


def _unused_judge(auto: AutoGrader, chosen: str) -> str | None:
    if auto.model is None or chosen == "ai_judge":
        return None
    return (
        f"The judge '{auto.model}' is not asked: the rows say enough for '{chosen}'. For a judge, "
        "send a grader of type 'ai_judge' or 'score_model'."
    )


def choose_by_item(auto: AutoGrader, item: Mapping[str, Any] | None) -> GraderChoice:
    if item is None:
        raise InvalidRequest(
            "'auto' chooses a grader from rows: send one as 'item'.",
            param="item",
            code="missing_required_parameter",
        )
    try:
        return choose_grader(auto, [row_facts(item, 1)], answer_schema=None)
    except NoGraderFits as fault:
        raise fault.at("item" if fault.key is None else "grader") from fault


_Chosen = tuple[dict[str, Any], str]


def _by_tests(rows: Sequence[RowFacts]) -> _Chosen | None:
    if not _complete(rows, TESTS):
        return None
    form = rows[0].forms[TESTS]
    _only_form(rows, TESTS, form)
    if form is ReferenceForm.PROGRAM_TESTS:
        return {"type": "code_execution"}, f"{_each(rows)} 'tests' of a program"
    function = next((key for key in FUNCTION_KEYS if _complete(rows, key)), None)
    if function is None:
        raise NoGraderFits(
            f"{_each(rows)} 'tests' that call a function, but not its name: add it to every row "
            "as 'function'"
        )
    definition = {"type": "code_execution", "function": f"{{{{item.{function}}}}}"}
    return definition, f"{_each(rows)} 'tests' that call the function of its '{function}'"


def _by_calls(rows: Sequence[RowFacts]) -> _Chosen | None:
    key = next((key for key in CALL_KEYS if _complete(rows, key)), None)
    if key is None:
        return None
    definition = {"type": "tool_call", "reference": f"{{{{item.{key}}}}}"}
    return definition, f"{_each(rows)} expected calls of tools in '{key}'"


def _by_reference(rows: Sequence[RowFacts], answer_schema: dict[str, Any] | None) -> _Chosen | None:
    key = _reference_key(rows)
    if key is None:
        return None
    forms = {row.forms[key] for row in rows}
    if ReferenceForm.JSON in forms:
        _only_form(rows, key, ReferenceForm.JSON)
        definition = {"type": "python", "source": json_fields_source(key)}
        return definition, f"{_each(rows)} a reference in '{key}' that is JSON"
    if answer_schema is not None:
        raise NoGraderFits(
            f"'response_format' requests JSON, and the reference in '{key}' is none, so that it is "
            "not known which field of the answer it belongs to: send a grader whose 'input' reads "
            "that field, such as '{{sample.output_json.FIELD}}'"
        )
    if ReferenceForm.NUMBER in forms:
        _only_form(rows, key, ReferenceForm.NUMBER)
        definition = {"type": "python", "source": number_source(key)}
        return definition, f"{_each(rows)} a reference in '{key}' that is a number"
    reference = f"{{{{item.{key}}}}}"
    if ReferenceForm.TEXT not in forms:
        exact: dict[str, Any] = {"type": "exact_match", "reference": reference, "ignore_case": True}
        return exact, f"{_each(rows)} a reference in '{key}' that is a short text"
    definition = {
        "type": "text_similarity",
        "input": "{{sample.output_text}}",
        "reference": reference,
        "evaluation_metric": "rouge_l",
    }
    return definition, f"{_each(rows)} a reference in '{key}' that is a text"


def _by_answer_schema(answer_schema: dict[str, Any] | None) -> _Chosen | None:
    if answer_schema is None:
        return None
    definition = {"type": "json_valid", "json_schema": answer_schema or None}
    return definition, (
        "no row has a reference, and 'response_format' requests JSON: the form is scored, the "
        "content is not"
    )


def _by_judge(auto: AutoGrader, rows: Sequence[RowFacts]) -> _Chosen:
    if auto.model is not None:
        reason = "no row has a reference, and 'auto' names a judge that compares the rollouts"
        return {"type": "ai_judge", "model": auto.model}, reason
    tools = " and offer tools" if any(row.offers_tools for row in rows) else ""
    raise NoGraderFits(f"the rows have nothing to compare an answer with{tools}: {_ADD}")


def _reference_key(rows: Sequence[RowFacts]) -> str | None:
    known = [
        key for key in REFERENCE_KEYS if any(key in row.forms or key in row.faults for row in rows)
    ]
    whole = next((key for key in known if all(key in row.forms for row in rows)), None)
    if whole is None and known:
        _complete(rows, known[0])
    return whole


def _complete(rows: Sequence[RowFacts], key: str) -> bool:
    wrong = next((row for row in rows if key in row.faults), None)
    if wrong is not None:
        raise NoGraderFits(f"{wrong.location}, '{key}': {wrong.faults[key]}")
    lacking = [row.location for row in rows if key not in row.forms]
    if lacking and len(lacking) < len(rows):
        raise NoGraderFits(
            f"{len(rows) - len(lacking)} of {len(rows)} rows have '{key}' ({lacking[0]} lacks "
            "it): give it to every row or to none"
        )
    return not lacking


def _only_form(rows: Sequence[RowFacts], key: str, form: ReferenceForm) -> None:
    other = next((row for row in rows if row.forms[key] is not form), None)
    if other is None:
        return
    same = next(row for row in rows if row.forms[key] is form)
    first, second = sorted((same, other), key=rows.index)
    raise NoGraderFits(
        f"'{key}' is {first.forms[key].value} in {first.location} and "
        f"{second.forms[key].value} in {second.location}: one grader cannot read both, so write "
        "it in one form in every row, or send a grader of your own"
    )


def _each(rows: Sequence[RowFacts]) -> str:
    return "the row has" if len(rows) == 1 else f"all {len(rows)} rows have"
