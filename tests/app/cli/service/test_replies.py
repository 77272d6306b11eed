"""A reply is read key by key; a value of another kind is named with its path."""

import json
from collections.abc import Callable

import pytest

from app.cli.replies import Reply
from app.cli.terminal import ServiceError


@pytest.mark.parametrize(
    ("sent", "read", "path"),
    [
        ("{}", lambda one: one.text("a"), "a"),
        ('{"a": null}', lambda one: one.get("a", int), "a"),
        ('{"a": "1"}', lambda one: one.find("a", float), "a"),
        ('{"a": NaN}', lambda one: one.find("a", float), "a"),
        ('{"a": "é"}', lambda one: one.id("a"), "a"),
        (
            '{"a": [{"b": {"c": 1}}]}',
            lambda one: one.children("a")[0].child("b").text("c"),
            "a.0.b.c",
        ),
    ],
)
def test_a_value_of_another_kind_is_named(
    sent: str, read: Callable[[Reply], object], path: str
) -> None:
    with pytest.raises(ServiceError, match="reply cannot be read") as failure:
        read(Reply(json.loads(sent)))
    assert f"cannot be read ({path})" in str(failure.value)
    assert failure.value.exit_code == 15


def test_an_absent_key_is_none_and_a_whole_number_is_a_number() -> None:
    one = Reply({"a": None, "n": 1})
    assert (one.find("a", str), one.child("a"), one.children("b")) == (None, None, [])
    assert (one.get("n", float), one.get("n", int)) == (1.0, 1)
