"""The catalogue's graders of texts, type by type: a table of texts and scores each."""

from typing import Any

import pytest
from pydantic import ValidationError

from app.graders.definitions import pattern_faults, read_grader
from app.graders.scorer import ScoreFault
from tests.support.cases import cases
from tests.support.grading.scores import scored

Case = tuple[dict[str, Any], str, float]
EXACT = {"type": "exact_match", "reference": "{{item.answer}}"}
ITEM = {"answer": "Straße", "number": "1000", "accent": "é"}
NUMBER = {"type": "exact_match", "reference": "{{item.number}}", "numbers": True}
ACCENT = {"type": "exact_match", "reference": "{{item.accent}}"}

EXACT_MATCH: list[Case] = [
    (EXACT, "Straße", 1.0),
    (EXACT, " Straße\n", 1.0),
    ({**EXACT, "strip": False}, " Straße", 0.0),
    (EXACT, "STRASSE", 0.0),
    ({**EXACT, "ignore_case": True}, "STRASSE", 1.0),
    (EXACT, "", 0.0),
    (ACCENT, "e\u0301", 1.0),
    ({**ACCENT, "unicode": "none"}, "e\u0301", 0.0),
    ({**ACCENT, "unicode": "NFKC", "reference": "fi"}, "\ufb01", 1.0),
    (NUMBER, "1,000.00", 1.0),
    (NUMBER, "1e3", 1.0),
    (NUMBER, "1\u202f000", 1.0),
    (NUMBER, "10_00", 0.0),
    ({**NUMBER, "reference": "-5"}, "\u22125", 1.0),
    (NUMBER, "nan", 0.0),
    ({**NUMBER, "numbers": False}, "1e3", 0.0),
    (NUMBER, "1" * 100_000, 0.0),
]

NEEDLES = {"type": "contains", "needles": ["{{item.number}}", "Ulm"]}
CONTAINS: list[Case] = [
    (NEEDLES, "Ulm has 1000 towers", 1.0),
    (NEEDLES, "Ulm", 0.0),
    ({**NEEDLES, "match": "any"}, "Ulm", 1.0),
    ({**NEEDLES, "match": "any", "ignore_case": True}, "ulm", 1.0),
    ({**NEEDLES, "match": "share"}, "Ulm", 0.5),
]

SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
JSON = {"type": "json_valid"}
TYPED = {"type": "json_valid", "json_schema": SCHEMA}
TREE = {"type": "json_valid", "json_schema": {"properties": {"c": {"$ref": "#"}}}}
JSON_VALID: list[Case] = [
    (JSON, '{"a": 1}', 1.0),
    (JSON, "7", 1.0),
    (JSON, "{'a': 1}", 0.0),
    (JSON, "NaN", 0.0),
    (JSON, "1e999", 0.0),
    (JSON, '```json\n{"a": 1}\n```', 0.0),
    ({**JSON, "fenced": True}, 'Here:\n```json\n{"a": 1}\n```', 1.0),
    ({**JSON, "fenced": True}, "```\n1\n```\n```\n2\n```", 0.0),
    ({**JSON, "fenced": True}, '{"a": "```sh\\nls\\n```", "b": "\\n```"}', 1.0),
    ({**JSON, "fenced": True}, "```\n{\n```", 0.0),
    (TYPED, '{"a": 1}', 1.0),
    (TYPED, '{"a": "1"}', 0.0),
    (TREE, '{"c": ' * 100 + "1" + "}" * 100, 1.0),
    (TREE, '{"c": ' * 100_000 + "1" + "}" * 100_000, 0.0),
    (JSON, "[" * 1_000_000, 0.0),
]

REGEX: list[Case] = [
    ({"type": "regex", "pattern": r"\bUlm\b"}, "in Ulm.", 1.0),
    ({"type": "regex", "pattern": r"\bUlm\b"}, "Ulmer", 0.0),
    ({"type": "regex", "pattern": "ulm", "ignore_case": True}, "Ulm", 1.0),
    ({"type": "regex", "pattern": "[0-9]+", "whole": True}, "12 towns", 0.0),
    ({"type": "regex", "pattern": "a|ab", "whole": True}, "ab", 1.0),
    ({"type": "regex", "pattern": "^x$"}, "a\nx", 0.0),
    ({"type": "regex", "pattern": "(a+)+$", "whole": True}, "a" * 1_000_000 + "b", 0.0),
    ({"type": "regex", "pattern": "(x*)*(x*)*y"}, "x" * 1_000_000, 0.0),
]

TAGS = {"type": "format", "tags": ["think", "answer"]}
SECTIONS = {"type": "format", "sections": ["# Plan", "# Answer"]}
FORMAT: list[Case] = [
    (TAGS, "<think>a</think> so <answer>b</answer>", 1.0),
    (TAGS, "<answer>b</answer><think>a</think>", 0.5),
    ({**TAGS, "ordered": False}, "<answer>b</answer><think>a</think>", 1.0),
    (TAGS, "<think> </think><answer>b</answer>", 0.5),
    (TAGS, "<think>a<answer>b</answer>", 0.5),
    ({**TAGS, "partial": False}, "<think>a</think>", 0.0),
    ({**TAGS, "only": True}, "<think>a</think>\n<answer>b</answer>\n", 1.0),
    ({**TAGS, "only": True}, "Well: <think>a</think><answer>b</answer>", 2 / 3),
    ({**TAGS, "only": True}, "<think>a</think>", 2 / 3),
    ({**TAGS, "only": True}, "", 0.0),
    (SECTIONS, "# Plan\nlook\n# Answer\n42", 1.0),
    (SECTIONS, "# Plan\n# Answer\n42", 0.5),
    ({**SECTIONS, "only": True}, "Hm\n# Plan\nlook\n# Answer\n42", 2 / 3),
    (TAGS, "<think>" * 200_000, 0.0),
    (SECTIONS, "# Plan\n" * 200_000, 0.0),
]

BOUNDS = {"type": "length_bounds"}
LENGTH_BOUNDS: list[Case] = [
    ({**BOUNDS, "max": 3}, "abc", 1.0),
    ({**BOUNDS, "max": 3}, "abcd", 0.0),
    ({**BOUNDS, "max": 3, "slack": 4}, "abcd", 0.75),
    ({**BOUNDS, "min": 2, "slack": 4}, "", 0.5),
    ({**BOUNDS, "min": 1, "max": 2, "unit": "words"}, " one\ntwo ", 1.0),
    ({**BOUNDS, "min": 1, "max": 2, "unit": "words"}, "one two three", 0.0),
    ({**BOUNDS, "max": 2, "unit": "items"}, "[1, [2, 3]]", 1.0),
    ({**BOUNDS, "max": 2, "unit": "items"}, '{"a": 1}', 0.0),
]

TABLES = [*EXACT_MATCH, *CONTAINS, *JSON_VALID, *REGEX, *FORMAT, *LENGTH_BOUNDS]


def _name(case: Case) -> str:
    return f"{case[0]['type']}-{case[1][:20]!r}"


@cases("case", TABLES, ids=_name)
async def test_a_text_has_its_score(case: Case) -> None:
    grader, text, expected = case
    result = await scored(grader, text, item=ITEM)
    assert result.score == pytest.approx(expected)
    assert 0.0 <= result.score <= 1.0


async def test_bounds_of_tokens_count_what_the_policy_sampled() -> None:
    grader = {**BOUNDS, "max": 5, "unit": "tokens"}
    turns = [{"completion_tokens": 3}, {"completion_tokens": 2}]
    assert (await scored(grader, sample={"turns": turns})).score == 1.0
    assert (await scored({**grader, "max": 4}, sample={"turns": turns})).score == 0.0
    with pytest.raises(ScoreFault, match="how many tokens"):
        await scored(grader, "a text of unknown tokens")


async def test_bounds_of_items_count_the_calls_of_a_rollout() -> None:
    grader = {**BOUNDS, "max": 1, "unit": "items", "input": "{{sample.tool_calls}}"}
    calls = [{"name": "f", "arguments": "{}"}] * 2
    assert (await scored(grader, sample={"tool_calls": calls[:1]})).score == 1.0
    assert (await scored(grader, sample={"tool_calls": calls})).score == 0.0


@cases(
    ("grader", "text", "reason"),
    [
        (EXACT, "x", "the texts differ"),
        (NEEDLES, "Ulm", "1 of 2 needles are in the text"),
        (JSON, "{", "it is not JSON"),
        (TYPED, '{"a": "secret"}', "at '/a': the value is not of type \"integer\""),
        (TAGS, "", "'think' does not stand once with a text; 'answer' does not"),
        ({**BOUNDS, "max": 1}, "abc", "3 characters: 2 beyond the bound"),
    ],
)
async def test_a_score_has_its_reason(grader: dict[str, Any], text: str, reason: str) -> None:
    found = (await scored(grader, text, item=ITEM)).reason
    assert found is not None
    assert found.startswith(reason)


@cases(
    ("grader", "path", "part"),
    [
        ({"type": "exact_match"}, ("reference",), "required"),
        ({**EXACT, "unicode": "NFX"}, ("unicode",), "'NFC'"),
        ({"type": "contains", "needles": ["{{x.y}}"]}, ("needles", 0), "unknown namespace"),
        ({"type": "regex", "pattern": "a" * 5_000}, ("pattern",), "4096"),
        ({"type": "format"}, ("tags",), "either 'tags' or 'sections'"),
        ({"type": "format", "tags": ["a b"]}, ("tags", 0), "pattern"),
        ({"type": "format", "tags": ["a", "a"]}, ("tags",), "stands once"),
        (BOUNDS, ("max",), "'min', 'max' or both"),
        ({**BOUNDS, "min": 2, "max": 1}, ("max",), "below 'min'"),
    ],
)
def test_a_fault_is_reported_with_its_path(
    grader: dict[str, Any], path: tuple[Any, ...], part: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        read_grader(grader)
    fault = caught.value.errors(include_url=False)[0]
    assert fault["loc"] == path
    assert part in fault["msg"]


@pytest.mark.parametrize(
    ("grader", "path", "part"),
    [
        ({**JSON, "json_schema": {"type": "strin"}}, ("json_schema",), "not a JSON schema"),
        (
            {**JSON, "json_schema": {"$ref": "https://schemas.example/a.json"}},
            ("json_schema",),
            "are not fetched",
        ),
        ({**JSON, "json_schema": {"pattern": "(?=a)"}}, ("json_schema",), "not a JSON schema"),
        (
            {"type": "regex", "pattern": "("},
            ("pattern",),
            "it cannot be read in the syntax of Rust's `regex`: missing )",
        ),
        ({"type": "regex", "pattern": "(?=a)"}, ("pattern",), "look-around"),
        ({"type": "regex", "pattern": "a{1000}{1000}{1000}"}, ("pattern",), "too large"),
    ],
)
def test_code_that_does_not_compile_is_reported_with_its_path(
    grader: dict[str, Any], path: tuple[Any, ...], part: str
) -> None:
    (fault,) = pattern_faults([("grader", read_grader(grader))])
    assert fault.param == f"grader.{path[0]}"
    assert part in fault.message
