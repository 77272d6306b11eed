"""Faults of python graders, wherever in a definition they are."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from app.domain.graders.graders import Grader
from app.domain.graders.python_source import MAX_READ
from app.domain.graders.source_faults import source_faults

GRADERS: TypeAdapter[Any] = TypeAdapter(Grader)
GOOD = {"type": "python", "name": "p", "source": "def grade(sample, item):\n    return 1"}
BAD = {**GOOD, "source": "def grade(sample, item):\n    return 1 +"}
LONG = {**BAD, "source": BAD["source"] + "\n" + "#" * MAX_READ}
DOTTED = {**BAD, "source": "import a" + ".\\\n a" * 9_000 + "\n" + BAD["source"]}
"""The parser takes memory that grows with the square of a dotted name: 1 GB for 60 KB."""


@pytest.mark.parametrize(
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
    found = list(source_faults(grader, "grader"))
    assert [fault.param for fault in found] == params
    assert all("line 2: invalid syntax" in str(fault) for fault in found)
