from typing import Any

from typing_extensions import override

from app.tools.tools import sample_arguments
from tests.support.cases import cases


@cases(
    ("schema", "value"),
    [
        ({"type": "string"}, "test"),
        ({"type": ["null", "number"]}, 1.0),
        ({"enum": ["b", "a"]}, "b"),
        ({"const": False}, False),
        ({"type": "array"}, []),
        ({"properties": {"x": {"type": "null"}}, "required": ["x"]}, {"x": None}),
        ({}, "test"),
        (True, "test"),
    ],
)
def test_a_required_property_gets_a_value_of_its_type(schema: Any, value: Any) -> None:
    whole = {
        "type": "object",
        "properties": {"a": schema, "left_out": {"type": "string"}},
        "required": ["a"],
    }
    assert sample_arguments(whole) == {"a": value}


@cases("schema", [None, {}, [], {"type": "string"}, {"required": 5}])
def test_a_schema_without_properties_gets_no_arguments(schema: Any) -> None:
    assert sample_arguments(schema) == {}


def test_a_schema_without_end_is_cut() -> None:
    schema: dict[str, Any] = {"type": "object", "required": ["a"], "properties": {}}
    schema["properties"]["a"] = schema
    made: Any = sample_arguments(schema)
    depth = 0
    while isinstance(made, dict):
        made, depth = made["a"], depth + 1
    assert (made, depth) == ("test", 9)


class Counted(dict[str, Any]):
    """A schema that fails a test which reads it more often than a few times."""

    reads = 0

    @override
    def get(self, key: str, default: Any = None) -> Any:
        self.reads += 1
        assert self.reads < 100
        return super().get(key, default)


def test_a_name_that_is_required_often_is_made_once() -> None:
    schema: dict[str, Any] = Counted({"type": "integer"})
    for _ in range(7):
        schema = {"type": "object", "required": ["a"] * 100, "properties": {"a": schema}}
    made: Any = sample_arguments(schema)
    while isinstance(made, dict):
        [made] = made.values()
    assert made == 1
