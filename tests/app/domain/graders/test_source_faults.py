"""Faults of python graders, wherever in a definition they are."""

from typing import Any

from pydantic import TypeAdapter

from app.graders.definitions import Grader
from app.graders.kinds.python import MAX_READ, MAX_SOURCES, source_faults
from tests.support.cases import cases

GRADERS: TypeAdapter[Any] = TypeAdapter(Grader)
GOOD = {"type": "python", "name": "p", "source": "def grade(sample, item):\n    return 1"}
BAD = {**GOOD, "source": "def grade(sample, item):\n    return 1 +"}
LONG = {**BAD, "source": BAD["source"] + "\n" + "#" * MAX_READ}
DOTTED = {**BAD, "source": "import a" + ".\\\n a" * 9_000 + "\n" + BAD["source"]}
"""The parser takes memory that grows with the square of a dotted name: 1 GB for 60 KB."""


@cases(
    ("sent", "params"),
    [
        (GOOD, []),
        (BAD, ["grader.source"]),
        (LONG, []),
        (DOTTED, []),
        (
            {
                "type": "multi",
                "name": "m",
                "graders": {"a": GOOD, "b": BAD, "c": LONG},
                "calculate_output": "a + b + c",
            },
            ["grader.graders.b.source"],
        ),
    ],
)
def test_a_fault_has_the_path_of_its_grader(sent: dict[str, object], params: list[str]) -> None:
    grader = GRADERS.validate_python(sent)  # which reads no source: stored graders are read so
    found = list(source_faults([("grader", grader)]))
    assert [fault.param for fault in found] == params
    assert all("line 2: invalid syntax" in str(fault) for fault in found)


def padded(grader: dict[str, Any], size: int) -> dict[str, Any]:
    source = grader["source"] + "\n#"
    return {**grader, "source": source.ljust(size, "x")}


def multi(*graders: dict[str, Any]) -> Any:
    names = [f"g{number}" for number in range(len(graders))]
    parts = dict(zip(names, graders, strict=True))
    sent = {"type": "multi", "name": "m", "graders": parts, "calculate_output": "+".join(names)}
    return GRADERS.validate_python(sent)


def test_sources_of_a_whole_request_have_a_bound_before_any_is_parsed() -> None:
    """Over definitions and over the parts of each; the place is the source that is too many."""
    size = MAX_SOURCES // 4
    first, second = multi(*[padded(BAD, size)] * 2), multi(*[padded(BAD, size)] * 2)
    definitions = [("testing_criteria[0]", first), ("testing_criteria[1]", second)]
    assert list(source_faults(definitions)) == []
    one_more = GRADERS.validate_python(padded(BAD, 100))
    [fault] = source_faults([*definitions, ("testing_criteria[2]", one_more)])
    assert (fault.param, fault.code) == ("testing_criteria[2].source", "invalid_value")
    assert "have at most 512000 bytes together" in fault.message


def test_only_so_many_bytes_of_a_request_are_parsed() -> None:
    """Sources beyond are left to the sandbox, however short each of them is."""
    size = MAX_READ // 8
    parts = [padded(GOOD, size)] * 7
    last_read = multi(*parts, padded(BAD, size))
    [fault] = source_faults([("grader", last_read)])
    assert fault.param == "grader.graders.g7.source"
    beyond = multi(*parts, padded(GOOD, size), padded(BAD, 100))
    assert list(source_faults([("grader", beyond)])) == []
