"""`[redacted]` that is sent back: restored, refused, and in linear time."""

from typing import Any

import pytest
from typing_extensions import override

from app.kit.errors import InvalidRequest
from app.kit.redaction import split, with_earlier_values
from app.tools.tools import ToolSpec

URL = "https://t.example/"
KEYS = 10_000


class Counted(str):
    """A key that counts how often it is compared with another one."""

    __slots__ = ()
    compared = 0

    @override
    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    @override
    def __hash__(self) -> int:
        return str.__hash__(self)


def tool(**values: Any) -> dict[str, Any]:
    return {"name": "t", "server_url": URL, **values}


def test_ten_thousand_placeholders_take_linear_time() -> None:
    before = tool(headers={f"k{number}": str(number) for number in range(KEYS)})
    shown, sealed = split(ToolSpec, before)
    assert len(sealed) == KEYS
    shown["headers"] = {Counted(key): value for key, value in shown["headers"].items()}
    Counted.compared = 0
    assert with_earlier_values(ToolSpec, shown, before, root="") == before
    assert Counted.compared < 50 * KEYS


@pytest.mark.parametrize(
    "values",
    [
        {"headers": {"A": "Bearer c"}},
        {"server_url": f"{URL}?key=c&b=#c"},
        {"server_url": "https://u:c@t.example/", "headers": {"A": "c", "B": "d"}},
    ],
)
def test_a_definition_that_is_sent_back_keeps_its_values(values: dict[str, Any]) -> None:
    before = tool(**values)
    shown, _ = split(ToolSpec, before)
    assert shown != before
    assert with_earlier_values(ToolSpec, shown, before, root="") == before


BEFORE = tool(server_url=f"{URL}?key=c&b=1", headers={"A": "Bearer c"})


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"server_url": f"{URL}?key=[redacted]&b=1"}, "server_url"),
        ({"server_url": f"{URL}?key=%5Bredacted%5D&b=[redacted]"}, "server_url"),
        ({"server_url": "https://[redacted]@t.example/"}, "server_url"),
        ({"server_url": f"{URL}#[REDACTED]"}, "server_url"),
        ({"headers": {"A": "Bearer [redacted]"}}, "headers"),
        ({"headers": {"B": "[REDACTED]"}}, "headers"),
    ],
)
def test_a_placeholder_without_an_earlier_value_is_refused(
    values: dict[str, Any], param: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        with_earlier_values(ToolSpec, {**BEFORE, **values}, BEFORE, root="")
    assert refused.value.param == param


def test_a_plain_text_may_read_so() -> None:
    schema = {"properties": {"key": {"enum": ["[redacted]"]}}}
    sent = {**BEFORE, "description": "Writes [redacted] for every name.", "parameters": schema}
    assert with_earlier_values(ToolSpec, sent, BEFORE, root="") == sent
