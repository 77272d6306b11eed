"""`tool_call`: the forms in which models write calls, and the rule of the score."""

import json
from itertools import permutations
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError
from typing_extensions import override

from app.graders.calls import RawText, best_in_any_order, best_in_order, read_calls
from app.graders.definitions import read_grader
from app.graders.kinds.tool_call import matches
from app.graders.scorer import ScoreFault
from tests.support.cases import cases
from tests.support.grading.scores import scored
from tests.support.rendering.format_cases import BROKEN, MARKED, READ

ARGUMENTS = {"city": "Ulm", "days": 3}
EXPECTED = [{"name": "forecast", "arguments": ARGUMENTS}]
GRADER = {"type": "tool_call", "reference": "{{item.calls}}"}
AS_JSON = json.dumps(EXPECTED[0])

FORMS = {
    "tool_call tag": f"Let me look.\n<tool_call>\n{AS_JSON}\n</tool_call>",
    "function_call tag": f"<function_call>{AS_JSON}</function_call>",
    "tool tag": f'<tool id="1">{AS_JSON}</tool>',
    "list in tool_calls": f"<tool_calls>[{AS_JSON}]</tool_calls>",
    "invoke in function_calls": (
        '<function_calls><invoke name="forecast"><parameter name="city">Ulm</parameter>'
        "<parameter name='days'>3</parameter></invoke></function_calls>"
    ),
    "list in a tag": f"<tool_call>[{AS_JSON}]</tool_call>",
    "function tag with JSON": f"<function=forecast>{json.dumps(ARGUMENTS)}</function>",
    "function tag with parameters": (
        "<function=forecast>\n<parameter=city>\nUlm\n</parameter>\n"
        "<parameter=days>\n3\n</parameter>\n</function>"
    ),
    "invoke": (
        '<invoke name="forecast"><parameter name="city">Ulm</parameter>'
        "<parameter name='days'>3</parameter></invoke>"
    ),
    "after another in a tag": f'<tool_call>{{"name": "f"}}\n{AS_JSON}</tool_call>',
    "after another": f'{{"name": "f", "arguments": {{}}}}, {AS_JSON}',
    "mark in a string": f'<tool>{{"name": "f", "args": {{"x": "</tool>"}}}}{AS_JSON}</tool>',
    "after reasoning": f"<reasoning><tool_call>{{}}</tool_call></reasoning>{AS_JSON}",
    "markdown": f"Here it is:\n```json\n{AS_JSON}\n```",
    "raw JSON": AS_JSON,
    "raw list": json.dumps(EXPECTED),
    "chat form": json.dumps(
        [{"type": "function", "function": {"name": "forecast", "arguments": json.dumps(ARGUMENTS)}}]
    ),
    "other keys": json.dumps({"tool": "forecast", "parameters": ARGUMENTS}),
    "arguments as text": json.dumps({"function": "forecast", "args": json.dumps(ARGUMENTS)}),
}


@cases("form", FORMS)
async def test_each_form_of_a_right_call_scores_1(form: str) -> None:
    assert (await scored(GRADER, FORMS[form], item={"calls": EXPECTED})).score == 1.0


@cases(("text", "arguments"), [(row[1], row[-1]) for row in (*READ, *MARKED)])
async def test_each_format_of_a_family_is_read(text: str, arguments: Any) -> None:
    expected = [{"name": "f", "arguments": each} for each in arguments]
    assert (await scored(GRADER, text, item={"calls": expected})).score == 1.0


@cases("text", [row[1] for row in BROKEN])
async def test_no_call_is_lost_in_silence(text: str) -> None:
    result = await scored(GRADER, text, item={"calls": EXPECTED})
    assert result.score == 0
    assert result.errors.sample_parse_error is not (result.sub_scores.get("calls", 0) > 0)


def chat(*calls: tuple[str, Any]) -> list[dict[str, Any]]:
    return [
        {"id": "c", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for name, arguments in calls
    ]


SCORES: list[tuple[list[tuple[str, Any]], float]] = [
    ([], 0.0),
    ([("weather", ARGUMENTS)], 0.0),
    ([("forecast", {})], 0.3),
    ([("forecast", {"city": "Ulm"})], 0.6),
    ([("forecast", {"city": "Ulm", "days": "3"})], 0.6),
    ([("forecast", {**ARGUMENTS, "unit": "C"})], 0.6),
    ([("forecast", {"days": 3.0, "city": "Ulm"})], 1.0),
    ([("forecast", {"city": "Ulm", "days": True})], 0.6),
    ([("weather", {}), ("forecast", ARGUMENTS)], 1.0),
]


@cases(("made", "expected"), SCORES)
async def test_the_rule(made: list[tuple[str, Any]], expected: float) -> None:
    for key in ("output_tools", "tool_calls"):
        found = await scored(GRADER, item={"calls": EXPECTED}, sample={key: chat(*made)})
        assert found.score == expected, key
    alone = await scored(
        {**GRADER, "reference": json.dumps(EXPECTED[0])}, sample={"tool_calls": chat(*made)}
    )
    assert alone.score == expected, "one call needs no list"


TWO = [{"name": "f", "arguments": {"a": 1}}, {"name": "f", "arguments": {"a": 2}}]
SEVERAL: list[tuple[dict[str, Any], list[tuple[str, Any]], float]] = [
    ({}, [("f", {"a": 2}), ("f", {"a": 1})], 1.0),
    ({"ordered": True}, [("f", {"a": 1}), ("g", {}), ("f", {"a": 2})], 1.0),
    ({"ordered": True}, [("f", {"a": 2}), ("f", {"a": 1})], 0.5),
    ({}, [("f", {"a": 1})], 0.5),
    ({}, [("f", {"a": 1})] * 2, 0.65),
    ({"extra_calls": "count"}, [("f", {"a": 1}), ("f", {"a": 2}), ("g", {}), ("g", {})], 0.5),
]


@cases(("options", "made", "expected"), SEVERAL)
async def test_several_calls(
    options: dict[str, Any], made: list[tuple[str, Any]], expected: float
) -> None:
    sample = {"tool_calls": chat(*made)}
    found = await scored({**GRADER, **options}, item={"calls": TWO}, sample=sample)
    assert found.score == pytest.approx(expected)


async def test_no_call_can_be_what_is_expected() -> None:
    assert (await scored(GRADER, "Hello", item={"calls": []})).score == 1.0
    assert (await scored(GRADER, AS_JSON, item={"calls": []})).score == 0.0


async def test_the_source_of_calls_is_an_option() -> None:
    sample = {"tool_calls": chat(("other", {})), "output_tools": chat(("forecast", ARGUMENTS))}
    item = {"calls": EXPECTED}
    found = {
        source: (await scored({**GRADER, "source": source}, "", item=item, sample=sample)).score
        for source in ("auto", "rollout", "last_turn", "text")
    }
    assert found == {"auto": 0.0, "rollout": 0.0, "last_turn": 1.0, "text": 0.0}


@cases("arguments", ['{"a": ', "[1]", '{"a": NaN}', "{'a': 1}", [1], 7])
async def test_arguments_that_cannot_be_read_are_not_the_same_as_none(arguments: Any) -> None:
    made = {"tool_calls": [{"name": "forecast", "arguments": arguments}]}
    for options in ({}, {"comparators": {"city": "any", "days": "any"}}):
        for wanted in ({}, ARGUMENTS):
            item = {"calls": [{"name": "forecast", "arguments": wanted}]}
            assert (await scored({**GRADER, **options}, item=item, sample=made)).score == 0.3


@cases("form", ["<function=f>{}</function>", '<invoke name="f">{}</invoke>'])
async def test_a_tag_holds_arguments_as_json_or_none_that_can_be_read(form: str) -> None:
    for written, score in [('{"a": 1}', 1.0), ("", 0.3), ('{"a": NaN}', 0.3), ("[1]", 0.3)]:
        item = {"calls": [{"name": "f", "arguments": {"a": 1}}]}
        assert (await scored(GRADER, form.replace("{}", written), item=item)).score == score
    nothing = {"calls": [{"name": "f", "arguments": {}}]}
    for written, score in [("", 1.0), ("{}", 1.0), ('{"a": NaN}', 0.3), ("[1]", 0.3)]:
        assert (await scored(GRADER, form.replace("{}", written), item=nothing)).score == score


@cases("arguments", [None, "", " "])
async def test_null_and_blank_arguments_are_none(arguments: Any) -> None:
    made = {"tool_calls": [{"name": "f", "arguments": arguments}]}
    for reference in ({"name": "f", "arguments": {}}, {"name": "f"}):
        assert (await scored(GRADER, item={"calls": reference}, sample=made)).score == 1.0


@cases(
    "answer",
    [
        {"name": "Ulm", "population": 120000},
        {"name": "Ulm"},
        {"function": {"name": "Ulm", "arguments": {}}, "population": 120000},
    ],
)
@cases("form", ["{}", "Here:\n```json\n{}\n```"])
async def test_an_ordinary_json_answer_is_no_call(answer: Any, form: str) -> None:
    text = form.replace("{}", json.dumps(answer))
    assert read_calls(text) == []
    assert (await scored(GRADER, text, item={"calls": []})).score == 1.0


WRONG_REFERENCES: list[Any] = [
    "x",
    [{"arguments": {}}],
    [EXPECTED[0]] * 65,
    "[{'name': 'forecast', 'arguments': {}}]",
    [{"name": "forecast", "arguments": "{'city': 'Ulm'}"}],
    [{"name": "forecast", "arguments": [1]}],
    [{"name": "forecast", "arguments": {"city": float("nan")}}],
    [EXPECTED[0], {"name": "forecast", "argumnts": ARGUMENTS}],
    [{"type": "function", "function": {"name": "forecast", "argumnts": "{}"}}],
]


@cases("calls", WRONG_REFERENCES)
def test_a_wrong_literal_reference_is_refused_when_the_grader_is_created(calls: Any) -> None:
    literal = calls if isinstance(calls, str) else json.dumps(calls)
    with pytest.raises(ValidationError, match="'reference'") as caught:
        read_grader({**GRADER, "reference": literal})
    assert caught.value.errors()[0]["loc"] == ("reference",)


async def test_a_reference_that_the_answer_wrote_is_no_fault_of_the_row() -> None:
    grader = {**GRADER, "reference": "{{sample.output_text}}"}
    result = await scored(grader, "no calls")
    assert (result.score, result.errors.raised) == (0.0, ("sample_parse_error",))
    assert "'reference' is not a JSON list of calls" in (result.errors.details or "")


@cases("calls", WRONG_REFERENCES)
async def test_a_wrong_reference_is_a_fault_and_no_score(calls: Any) -> None:
    with pytest.raises(ScoreFault, match="'reference'"):
        await scored(GRADER, AS_JSON, item={"calls": calls})


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


NESTED = _nested(20_000)


@cases(
    ("comparator", "expected", "made", "equal"),
    [
        ("exact", [1, {"a": None}], [1.0, {"a": None}], True),
        ("exact", 1, True, False),
        ("exact", "a", "A", False),
        ("ignore_case", "Ulm", "ULM", True),
        ("number", "1,000", 1000, True),
        ("contains", "ulm", "in Ulm", True),
        ("unordered", [1, 2], [2, 1], True),
        ("unordered", [1, 2], [2], False),
        ("any", 1, None, True),
        ("unordered", [{"a": 1, "b": [2]}], [{"b": [2.0], "a": 1.0}], True),
        ("unordered", [1], [True], False),
        ("contains", "ü", ["München"], True),
        ("contains", "", "anything", False),
        ("ignore_case", ["MÜNCHEN"], ["münchen"], True),
        ("ignore_case", NESTED, [NESTED], False),
        ("exact", 3, RawText("NaN"), False),
        ("exact", 3, RawText("3"), True),
        ("exact", 3, RawText("three"), False),
    ],
)
def test_comparators(comparator: Any, expected: Any, made: Any, equal: bool) -> None:
    assert matches(comparator, expected, made) is equal


async def test_comparators_are_by_argument_and_any_may_be_missing() -> None:
    grader = {**GRADER, "comparators": {"city": "ignore_case", "days": "any"}}
    sample = {"tool_calls": chat(("forecast", {"city": "ULM"}))}
    assert (await scored(grader, item={"calls": EXPECTED}, sample=sample)).score == 1.0


def test_pairs_have_the_highest_sum_that_there_is() -> None:
    random = Random(7)
    for _ in range(100):
        rows, columns = random.randint(1, 4), random.randint(0, 5)
        scores = [[random.choice([0, 0.3, 0.6, 1]) for _ in range(columns)] for _ in range(rows)]
        width = rows + columns
        wide = [[*row, *[0.0] * (width - columns)] for row in scores]
        best = max(
            sum(row[column] for row, column in zip(wide, order, strict=False))
            for order in permutations(range(width), rows)
        )
        assert sum(best_in_any_order(scores)) == pytest.approx(best)
        rising = max(
            sum(row[column] for row, column in zip(wide, order, strict=False))
            for order in permutations(range(width), rows)
            if _rises([column for column in order if column < columns])
        )
        assert sum(best_in_order(scores)) == pytest.approx(rising)


def _rises(order: list[int]) -> bool:
    return order == sorted(order)


class CountedText(str):
    """Counts the searches in it, each of which may read the whole text."""

    __slots__ = ("searches",)
    searches: int

    @override
    def find(self, *arguments: Any) -> int:
        self.searches = getattr(self, "searches", 0) + 1
        return super().find(*arguments)


@cases(
    "text",
    ["<tool_call>", "<tool_call", "<function=", "<function=f>", "<invoke name=a>", "```", "```\n"],
)
def test_openings_without_an_end_cost_no_second_search(text: str) -> None:
    counted = CountedText(text * 50_000)
    assert read_calls(counted) == []
    closed = text == "```\n"
    assert counted.searches < (80_000 if closed else 50)


def test_deep_and_broken_json_are_no_calls() -> None:
    broken = [AS_JSON + end for end in (" and so on", ' {"name": }', AS_JSON[:-1])]
    in_tags = [f"<tool_call>{text}</tool_call>" for text in broken]
    assert [read_calls(text) for text in [*broken, *in_tags, f"<thinking>{AS_JSON}"]] == [[]] * 7
    assert read_calls(AS_JSON + " 1" * 1_000_000) == []
    for text in ("[" * 1_000_000, '{"name": "f", "arguments": "' + "[" * 100_000 + '"}', "\ud800"):
        assert [call.arguments for call in read_calls(text)] in ([], [None])
