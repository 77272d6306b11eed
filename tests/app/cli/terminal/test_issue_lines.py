"""Issues of a call on a terminal: a sentence once, with its count and its first places."""

from app.cli.terminal import issue_lines
from app.kit.errors import PreflightIssue


def issue(message: str, param: str | None = None, **more: object) -> PreflightIssue:
    return PreflightIssue("error", "invalid_value", message, param, **more)  # type: ignore[arg-type]  # line and pointer


def test_a_sentence_about_many_parameters_is_one_line() -> None:
    tools = [
        issue(f"Invalid value for 'tools[{index}].url': it is private.", f"tools[{index}].url")
        for index in range(2)
    ]
    [line] = issue_lines("ERROR", tools)
    assert line == (
        "ERROR    invalid_value [tools[0].url]: Invalid value for 'tools[0].url': it is private. "
        "(2 times: tools[0].url, tools[1].url)"
    )


def test_different_sentences_and_files_stay_apart_in_their_order() -> None:
    found = [
        issue("Line 2: no JSON", "training_file", line=2),
        issue("too few rows"),
        issue("Line 2: no JSON", "validation_file", line=2),
        issue("Line 9: \x1b[2J", "training_file", line=9),
    ]
    assert list(issue_lines("WARNING", found)) == [
        "WARNING  invalid_value [training_file]: Line 2: no JSON",
        "WARNING  invalid_value: too few rows",
        "WARNING  invalid_value [validation_file]: Line 2: no JSON",
        r"WARNING  invalid_value [training_file]: Line 9: \x1b[2J",
    ]
