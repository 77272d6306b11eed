"""The limit of values in a text that is parsed as JSON."""

import json
from typing import Any

import pytest

from app.kit.strict_json import (
    MAX_VALUES,
    TooManyValues,
    count_values,
    has_too_many_values,
    strict_loads,
)
from tests.support.cases import cases
from tests.support.costs.growth import growth


def _numbers(count: int) -> str:
    return f"[{','.join(['1'] * count)}]"


def test_as_many_values_as_a_body_may_have_are_read() -> None:
    assert len(strict_loads(_numbers(MAX_VALUES))) == MAX_VALUES
    with pytest.raises(TooManyValues, match=f"more than {MAX_VALUES} values"):
        strict_loads(_numbers(MAX_VALUES + 1))
    assert len(strict_loads(_numbers(MAX_VALUES + 1), most=None)) == MAX_VALUES + 1


def test_commas_and_brackets_of_a_text_are_no_values() -> None:
    text = json.dumps([",[{" * MAX_VALUES, '\\",' * MAX_VALUES])
    assert len(strict_loads(text)) == 2


@pytest.mark.parametrize("piece", ["[],", '{"a":{}},'])
def test_too_many_are_refused_before_objects_are_made(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parsed(*_: Any, **__: Any) -> None:
        raise AssertionError("the text was parsed")

    monkeypatch.setattr(json, "loads", parsed)
    with pytest.raises(TooManyValues):
        strict_loads(f"[{piece * (3 * MAX_VALUES)}1]")


def test_values_are_counted_at_any_depth() -> None:
    assert count_values({"a": [1, {"b": []}], "c": "x"}) == 5
    assert count_values("x") == 0


@cases("of", [str, str.encode])
@cases("unit", ['\\"', '"\\', "\\"])
def test_the_count_takes_time_in_proportion_to_the_text(unit: str, of: Any) -> None:
    """Nobody has signed in yet when a body is counted."""

    def hostile(times: int) -> Any:
        return of('"' + unit * times + "," * (MAX_VALUES + 1))

    assert growth(has_too_many_values, small=hostile(2_000), large=hostile(16_000)) < 16
