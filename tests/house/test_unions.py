from pathlib import Path

import pytest

from tests.house import unions


def test_no_dispatch_over_a_closed_union_has_a_silent_branch() -> None:
    assert [str(each) for each in unions.findings()] == []


def test_the_unions_are_read_from_the_code() -> None:
    assert unions.union_members() == {
        "ReinforcementMethod", "SupervisedMethod", "DpoMethod", "ReinforcementBody",
        "StoredReinforcement", "StoredSupervised", "StoredDpo", "JsonlSource", "SampledSource",
        "FileContent", "FileReference",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("if isinstance(method, Left):\n    pass\n", [1]),
        ("x = 1 if not isinstance(a.b, (str, Right)) else 2\n", [1]),
        ("x = isinstance(a, Left | None)\n", [1]),
        ("x = isinstance(a, str)\n", []),
        ("match a:\n    case Left():\n        pass\n", []),
    ],
)
def test_an_isinstance_of_a_member_is_found(source: str, lines: list[int]) -> None:
    found = unions.find(Path("x.py"), source, frozenset({"Left", "Right"}))
    assert [each.line for each in found] == lines
