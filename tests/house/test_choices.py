from pathlib import Path

import pytest

from tests.house import choices, unions
from tests.house.closed_unions import Symbol, Tree
from tests.house.closed_values import Values

VALUES = """
from enum import StrEnum
from typing import Annotated, ClassVar, Literal
class Way(StrEnum):
    UP = "up"
    DOWN = "down"
    OFF = "off"
Order = Literal["asc", "desc"]
Wide = Order | Literal["any"] | None
class Query:
    order: Annotated[Order, "note"]
    kind: ClassVar[Literal["query"]] = "query"
    @property
    def wide(self) -> Wide: ...
"""

KEPT = """class C:
    def __init__(self, way: Order):
        self._kept = way
    def f(self):
        return 1 if self._kept == 'asc' else 2"""


def test_the_closed_values_of_the_product_are_read_from_its_code() -> None:
    values = Values(unions.product())
    status = values.enums[Symbol("app.jobs.jobs", "JobStatus")]
    assert {"QUEUED", "SUCCEEDED"} < status.members
    assert {"stop", "warn"} < frozenset().union(*(each.members for each in values.fields["action"]))


def test_a_literal_of_one_value_is_no_choice() -> None:
    fields = Values(_tree("")).fields
    assert {name: min(one.members for one in types) for name, types in fields.items()} == {
        "order": {"asc", "desc"},
        "wide": {"asc", "desc", "any"},
    }


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        # Chains.
        ("if way is Way.UP: a()\nelif way is Way.DOWN: b()", [2]),
        ("def f(way):\n    if way is Way.UP: return 1\n    if way == Way.DOWN: return 2", [3]),
        ("x = 1 if way is Way.UP else 2 if way is Way.DOWN else 3", [2]),
        ("if q.wide == 'asc': a()\nelif q.wide in ('desc', 'any'): b()", [2]),
        ("if way is Way.UP: a()\nelif other is Way.DOWN: b()", []),
        ("if way is Way.UP: a()\nb()\nif way is Way.DOWN: c()", []),
        # A choice between two results.
        ("x = 'ASC' if q.order == 'asc' else 'DESC'", [2]),
        ("def f(order: Order):\n    return 1 if order != 'asc' else 2", [3]),
        ("if q.order == 'asc': a()\nelse: b()", [2]),
        ("def f(q):\n    if q.order == 'asc':\n        return 1\n    return 2", [3]),
        # Tables.
        ("x = {Way.UP: 1, Way.DOWN: 2}", [2]),
        ("x = {Way.UP: 1, Way.DOWN: 2, Way.OFF: 3}", []),
        ("x: dict[Order, int] = {'asc': 1}", [2]),
        ("x: Final[Mapping[Order, int]] = {'asc': 1, 'desc': 2}", []),
        ("x: dict[Way, int] = {'asc': 1}", []),
        ("x: dict[str, int] = {'asc': 1}", []),
        ("def f(order: Order):\n    return {'asc': 1}[order]", [3]),
        ("TABLE = {'asc': 1}\ndef f(q):\n    return TABLE[q.order]", [4]),
        ("TABLE = {'asc': 1, 'desc': 2}\ndef f(q):\n    return TABLE[q.order]", []),
        ("def f(q: argparse.Namespace):\n    return {'asc': 1}[q.order]", []),
        # A `match` over strings.
        ("match q.order:\n    case 'asc': a()\n    case _: b()", [4]),
        ("match q.order:\n    case 'asc': a()\n    case _: assert_never(q.order)", []),
        ("match q.order:\n    case 'asc': a()\n    case 'desc': b()", []),
        ("match q.order:\n    case 'asc' | 'up': a()\n    case _: b()", []),
        ("def f(text: str):\n    match text:\n        case 'asc': a()\n        case _: b()", []),
        # Copies of a value.
        ("def f(q):\n    own = q.order\n    return 1 if own == 'asc' else 2", [4]),
        ("def f(q):\n    if (own := q.order) and own == 'asc': a()\n    else: b()", []),
        ("def f(order: Order):\n    own = order\n    return 1 if own == 'asc' else 2", [4]),
        ("def f(text: str):\n    own = text\n    return 1 if own == 'asc' else 2", []),
        (KEPT, [6]),
        # Questions about one member.
        ("x = way is Way.UP and q.order == 'asc'", []),
        ("if way is Way.UP: raise ValueError\na()", []),
        ("def f(q):\n    if q.order == 'asc':\n        return\n    a()", []),
        ("x = 'ASC' if q.order == 'asc' else None", []),
        ("x = Way.OFF if way is Way.UP else way", []),
        ("x = [each for each in all if each.way is Way.UP]", []),
        # Values of no closed set.
        ("x = 1 if q.order == 'other' else 2", []),
        ("x = 1 if q.unknown == 'asc' else 2", []),
        ("def f(order: str):\n    return 1 if order == 'asc' else 2", []),
        ("x = 1 if q.kind == 'query' else 2", []),
    ],
)  # fmt: skip
def test_a_choice_between_members_is_found(source: str, lines: list[int]) -> None:
    imports = "from app.values import Order, Query, Way\n"
    assert [each.line for each in choices.find(_tree(imports + source))] == lines


def _tree(source: str) -> Tree:
    return Tree.of([(Path("app/values.py"), VALUES), (Path("app/used.py"), source)])
