"""The reasons why a regular expression is refused: which of them, and where."""

import pytest

from app.graders.json_schemas import JsonSchemaFault, compile_pattern
from tests.support.cases import cases


@cases(
    ("pattern", "fault"),
    [
        ("a(", "missing ), unterminated subpattern at character 2 ('(')"),
        ("*a", "nothing to repeat at character 1 ('*a')"),
        ("[b-a]", "bad character range b-a at character 2 ('b-a]')"),
        ("\\", "bad escape (end of pattern) at character 1 ('\\')"),
        (r"\p{L}(", "unterminated subpattern at character 6"),
        ("(?<name>a)(", "unterminated subpattern at character 11"),
        ("a(?i)b(", "unterminated subpattern at character 7"),
        ("[[:alpha:]](", "unterminated subpattern at character 12"),
        ("x{", "'{' at character 2 begins no repetition; as a character it is '\\{'"),
        (r"a\Z", r"'\Z' at character 2 is unknown in the syntax of Rust's `regex`"),
        (r"a\p{Town}", r"'\p{Town}' at character 2 is unknown"),
        ("(?a:b)", "'(?a' at character 1 is unknown"),
        ("ö(?=b)", "look-around ('(?=' at character 2) is not available"),
        ("[(?=](?<!b)", "look-around ('(?<!' at character 6) is not available"),
        ("a(?>b)", "an atomic group ('(?>b' at character 2) is not available"),
        (r"(a)\1", r"a back-reference ('\1' at character 4) is not available"),
        ("(?<n>a)(?P=n)", "a back-reference ('(?P=' at character 8) is not available"),
        ("ab{1000}{9,}", "it is too large: compiled, it may have 262144 bytes, and '{1000}' at "),
    ],
)
def test_a_refused_expression_names_its_fault_and_where_it_is(pattern: str, fault: str) -> None:
    with pytest.raises(JsonSchemaFault) as refused:
        compile_pattern(pattern)
    assert fault in str(refused.value)


def test_an_expression_may_be_too_large_in_one_form() -> None:
    pattern = "|".join(f"w\u00f6rd{number}x" for number in range(380))
    assert compile_pattern(pattern).matches("w\u00f6rd7x")
    with pytest.raises(JsonSchemaFault, match="may have 262144 bytes; make it shorter"):
        compile_pattern(rf"\pL|{pattern}", whole=True, ignore_case=True)


def test_an_expression_whose_comment_swallows_a_bracket_matches_whole_texts() -> None:
    compiled = compile_pattern("(?x)a # c", whole=True)
    assert [compiled.matches(text) for text in ("a", "ab")] == [True, False]
    with pytest.raises(JsonSchemaFault, match="unbalanced parenthesis at character 2"):
        compile_pattern("a)|(b", whole=True)
