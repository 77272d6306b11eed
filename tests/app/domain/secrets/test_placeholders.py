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
    before = tool(parameters={f"k{number}_token": str(number) for number in range(KEYS)})
    shown, sealed = split(ToolSpec, before)
    assert len(sealed) == KEYS
    shown["parameters"] = {Counted(key): value for key, value in shown["parameters"].items()}
    Counted.compared = 0
    assert with_earlier_values(ToolSpec, shown, before, root="") == before
    assert Counted.compared < 50 * KEYS


@pytest.mark.parametrize(
    "values",
    [
        {"headers": {"A": "Bearer c"}},
        {"description": "See https://h.example/?q=c and u:c@h."},
        {"parameters": {"properties": {"key": {"enum": ["a", "b"]}}}},
        {"parameters": {"note": '{"token": "c"}', "pin": 1234}},
        {"server_url": f"{URL}?key=c&b=#c", "api_key": "c"},
    ],
)
def test_a_definition_that_is_sent_back_keeps_its_values(values: dict[str, Any]) -> None:
    before = tool(**values)
    shown, _ = split(ToolSpec, before)
    assert shown != before
    assert with_earlier_values(ToolSpec, shown, before, root="") == before


BEFORE = tool(server_url=f"{URL}?key=c&b=1", headers={"A": "Bearer c"}, api_key="c")


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"server_url": f"{URL}?key=[redacted]&b=1"}, "server_url"),
        ({"server_url": f"{URL}?key=%5Bredacted%5D&b=[redacted]"}, "server_url"),
        ({"server_url": "https://[redacted]@t.example/"}, "server_url"),
        ({"server_url": f"{URL}#[REDACTED]"}, "server_url"),
        ({"headers": {"A": "Bearer [redacted]"}}, "headers"),
        ({"headers": {"B": "[REDACTED]"}}, "headers"),
        ({"other_token": "[redacted]"}, "other_token"),
        ({"description": "https://h.example/?q=[redacted]"}, "description"),
    ],
)
def test_a_placeholder_without_an_earlier_value_is_refused(
    values: dict[str, Any], param: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        with_earlier_values(ToolSpec, {**BEFORE, **values}, BEFORE, root="")
    assert refused.value.param == param


def test_a_plain_text_may_read_so() -> None:
    sent = {**BEFORE, "description": "Writes [redacted] for every name."}
    assert with_earlier_values(ToolSpec, sent, BEFORE, root="") == sent
