from pathlib import Path

import pytest

from tests.house import unions
from tests.house.closed_unions import Symbol, Tree

SHAPES = """
from typing import Annotated, Any, assert_never
class Left: ...
class Right: ...
class Third: ...
Side = Left | Right
Marked = Annotated[Side | Third, "note"]
Kinds = (Left, Right)
Optional = Left | None
Foreign = Left | str
Wider = Side | str | None
"""


def test_the_unions_of_the_product_are_read_from_its_code() -> None:
    found = unions.product().unions
    names = {symbol.name for symbol in found}
    assert names >= {
        "TuningMethod", "RequestedMethod", "StoredMethod", "DataSource", "Rows", "Principal",
        "PolicyLoss", "AnyMode", "AnyGrader", "StopRule", "GradeOrFailure", "Reply", "Consumer",
        "ScoreResult | ScoreFault", "ReachedCap | RuleTrigger | None", "Trajectory | ScoredRollout",
    }  # fmt: skip
    stored = Symbol("app.jobs.methods", "StoredMethod")
    assert {member.name for member in found[stored]} == {
        "StoredReinforcementMethod", "StoredSupervisedMethod", "StoredDpoMethod",
    }  # fmt: skip


def test_a_union_is_an_alias_of_classes_of_the_product() -> None:
    unions_of_shapes = _tree("").unions
    assert {symbol.name: len(members) for symbol, members in unions_of_shapes.items()} == {
        "Side": 2,
        "Marked": 3,
        "Wider": 2,
    }


def test_a_union_without_a_name_is_read_from_its_annotation() -> None:
    source = """
from app.shapes import Left, Right, Third
async def sent(all: "list[Left | Third | None]") -> Right | Third: ...
class Own:
    side: Left | Right
    text: Left | str
"""
    found = _tree(source).unions
    assert {symbol.name: len(members) for symbol, members in found.items()} == {
        "Side": 2, "Marked": 3, "Wider": 2, "Left | Third | None": 2, "Right | Third": 2,
    }  # fmt: skip
    dispatch = _tree(source + "x = isinstance(sent, Third)\nx = isinstance(sent, str | int)")
    assert [each.line for each in unions.find(dispatch)] == [7]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("if isinstance(side, Left): ...", [2]),
        ("x = 1 if not isinstance(a.side, Left | Third) else 2", [2]),
        ("x = isinstance(side, (Left,))", [2]),
        ("x = isinstance(side, Left | Right)", []),
        ("x = isinstance(side, str)", []),
        ("def read(sent: Any):\n    return isinstance(sent, Left)", []),
        ("def read(side: Side):\n    return isinstance(side, Left)", [3]),
        ("match side:\n    case Left(): ...\n    case Right(): ...", []),
        ("match side:\n    case Left(): ...\n    case _: ...", [4]),
        ("match side:\n    case Left() | None: ...\n    case _: assert_never(side)", []),
        ("match side:\n    case str(): ...\n    case _: ...", []),
        ("def rest(a: Right): ...\nmatch side:\n    case Left(): ...\n    case _: rest(side)", []),
        ("def all(a: Side): ...\nmatch side:\n    case Left(): ...\n    case _: all(side)", [5]),
    ],
)  # fmt: skip
def test_a_dispatch_with_a_silent_branch_is_found(source: str, lines: list[int]) -> None:
    imports = "from app.shapes import Left, Right, Side, Third\n"
    assert [each.line for each in unions.find(_tree(imports + source))] == lines


def test_a_class_of_the_same_name_elsewhere_is_no_member() -> None:
    own = "class Left: ...\nx = isinstance(side, Left)"
    assert list(unions.find(_tree(own))) == []


def test_an_enum_is_closed_too() -> None:
    enum = "from enum import Enum\nclass Way(Enum):\n    UP = 1\n    DOWN = 2\n"
    dispatch = "match way:\n    case Way.UP: ...\n    case _: ...\n"
    assert [each.line for each in unions.find(_tree(enum + dispatch))] == [7]


def _tree(source: str) -> Tree:
    return Tree.of([(Path("app/shapes.py"), SHAPES), (Path("app/used.py"), source)])
