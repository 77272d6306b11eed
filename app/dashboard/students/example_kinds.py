"""The kinds of examples: the columns that a person types, and the row of a file that they make.

Pure. Each kind fits one recipe, whose grader or loss reads the row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, assert_never

from app.domain.curricula.column_rows import tags_in
from app.domain.data.row_tags import TAG_FIELD, tags_of
from app.domain.methods.supervised import MethodType

TOPIC: Final = "topic"


class ExampleKind(StrEnum):
    WORDS = "words"
    NUMBER = "number"
    BETTER = "better"
    CODE = "code"
    CALLS = "calls"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    label: str
    needed: bool = True


@dataclass(frozen=True, slots=True)
class KindText:
    """The words for a kind on the pages."""

    title: str
    purpose: str
    columns: tuple[Column, ...]
    """Columns of the form; empty for a kind that comes from files only."""
    recipe: str
    """Id of the recipe that practises it."""
    method: MethodType


class CellFault(ValueError):
    """A cell that makes no row; users read the text."""


_QUESTION: Final = Column("question", "Question")
_TOPIC: Final = Column(TOPIC, "Topic (if you like)", needed=False)
KINDS: Final[Mapping[ExampleKind, KindText]] = {
    ExampleKind.WORDS: KindText(
        "A right answer contains certain words",
        "Support, policies, facts: the answer is right when your words are in it.",
        (_QUESTION, Column("answer", "Words of a right answer"), _TOPIC),
        "customer_support",
        "reinforcement",
    ),
    ExampleKind.NUMBER: KindText(
        "A right answer ends with a number",
        "Sums, doses, measures: the last number of the answer decides.",
        (_QUESTION, Column("answer", "Right number"), _TOPIC),
        "reasoning",
        "reinforcement",
    ),
    ExampleKind.BETTER: KindText(
        "Of two answers one is better",
        "Tone, refusals, style: you show a better and a worse answer.",
        (
            _QUESTION,
            Column("better", "Better answer"),
            Column("worse", "Worse answer"),
            _TOPIC,
        ),
        "safety_alignment",
        "dpo",
    ),
    ExampleKind.CODE: KindText(
        "A function passes its tests",
        "Python functions with tests, from a file.",
        (),
        "code_assistant",
        "reinforcement",
    ),
    ExampleKind.CALLS: KindText(
        "The right tool is called",
        "Questions with the call that they need, from a file.",
        (),
        "tool_use",
        "reinforcement",
    ),
}
TYPED: Final = tuple(kind for kind, text in KINDS.items() if text.columns)
_MARKS: Final = (
    ("preferred_output", ExampleKind.BETTER),
    ("fact", ExampleKind.WORDS),
    ("tests", ExampleKind.CODE),
    ("calls", ExampleKind.CALLS),
    ("answer", ExampleKind.NUMBER),
)
"""The key of a row that shows its kind, the most specific first."""


def kind_of(row: Mapping[str, Any]) -> ExampleKind | None:
    """Returns the kind of a row; `None` for one that no recipe can rate."""
    return next((kind for key, kind in _MARKS if key in row), None)


def kind_of_recipe(recipe: str) -> ExampleKind | None:
    return next((kind for kind, text in KINDS.items() if text.recipe == recipe), None)


def row_of(kind: ExampleKind, cells: Mapping[str, str], instructions: str) -> dict[str, Any]:
    """Returns the row of typed cells. Raises `CellFault` for one that is missing or no number."""
    for column in KINDS[kind].columns:
        if column.needed and not cells.get(column.name, "").strip():
            raise CellFault(f"“{column.label}” is empty")
    texts = {name: text.strip() for name, text in cells.items()}
    topics = tags_in(texts.get(TOPIC, ""))
    topic = {TAG_FIELD: topics} if topics else {}
    asked = {"role": "user", "content": texts["question"]}
    messages = [{"role": "system", "content": instructions}, asked] if instructions else [asked]
    match kind:
        case ExampleKind.WORDS:
            return {"messages": messages, "fact": texts["answer"], **topic}
        case ExampleKind.NUMBER:
            return {"messages": messages, "answer": _number(texts["answer"]), **topic}
        case ExampleKind.BETTER:
            if texts["better"] == texts["worse"]:
                raise CellFault("both answers are the same, so neither is better")
            return {
                "input": {"messages": messages},
                "preferred_output": [{"role": "assistant", "content": texts["better"]}],
                "non_preferred_output": [{"role": "assistant", "content": texts["worse"]}],
                **topic,
            }
        case ExampleKind.CODE | ExampleKind.CALLS:
            raise CellFault("examples of this kind come from a file")
        case _:
            assert_never(kind)


def _number(text: str) -> int | float:
    try:
        number = float(text.replace(",", "").replace(" ", ""))
        return int(number) if number.is_integer() else number
    except (ValueError, OverflowError):
        raise CellFault(f"“{text:.40}” is not a number") from None


def question_of(row: Mapping[str, Any]) -> str:
    """Returns the last text that a person wrote in a row."""
    given = row.get("input")
    messages = given.get("messages") if isinstance(given, dict) else row.get("messages")
    texts = messages if isinstance(messages, list) else []
    asked = [each for each in texts if isinstance(each, dict) and each.get("role") == "user"]
    return text_of_content(asked[-1].get("content")) if asked else ""


def wanted_of(row: Mapping[str, Any]) -> str:
    """Returns what a row says about a right answer, as a person would read it."""
    match kind_of(row):
        case ExampleKind.WORDS:
            return text_of_content(row["fact"])
        case ExampleKind.NUMBER:
            return text_of_content(row["answer"])
        case ExampleKind.BETTER:
            return f"better: {_answer(row, 'preferred_output')}"
        case ExampleKind.CODE:
            return f"the function {text_of_content(row.get('function'))} passes its tests"
        case ExampleKind.CALLS:
            sent = row["calls"] if isinstance(row["calls"], list) else []
            calls = [each for each in sent if isinstance(each, dict)]
            return ", ".join(text_of_content(each.get("name")) for each in calls) or "no call"
        case None:
            return ""
        case unknown:
            assert_never(unknown)


def worse_of(row: Mapping[str, Any]) -> str:
    """Returns the worse answer of a pair; empty for other rows."""
    return _answer(row, "non_preferred_output") if "non_preferred_output" in row else ""


def topics_of(row: Mapping[str, Any]) -> list[str]:
    """Returns the topics of a row: its tags, else those of older rows and of samples."""
    named = (tags_of(row, name) for name in (TAG_FIELD, TOPIC, "tag", "kind"))
    return next((tags for tags in named if tags), [])


def with_tags(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row with its topics as tags, by which the service divides and compares rows."""
    topics = topics_of(row)
    return {**row, TAG_FIELD: topics} if topics and not tags_of(row) else row


def _answer(row: Mapping[str, Any], name: str) -> str:
    return text_of_content(row[name][-1].get("content"))


def text_of_content(value: Any) -> str:
    """Returns a text, the texts of a list of parts, or the value as it would be printed."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = (each.get("text") for each in value if isinstance(each, dict))
        return " ".join(each for each in parts if isinstance(each, str))
    return "" if value is None else str(value)
