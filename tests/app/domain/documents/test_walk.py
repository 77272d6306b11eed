"""The walk over documents: which fields it finds by their types, whatever the shape."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter

from app.graders.definitions import GRADER_MODELS, Grader
from app.jobs.reinforcement import ReinforcementMethod
from app.kit.fields import FieldKind, SecretMark, headers_of, walk_fields
from app.kit.redaction import redacted_json, split
from tests.support.cases import cases

PROMPT = [{"role": "user", "content": "{{ sample.output_text }}"}]
JUDGE = {
    "type": "score_model", "model": "m", "input": PROMPT,
    "base_url": "https://j.example/v1", "headers": {"A": "canary-judge"},
}  # fmt: skip
CALM = {"type": "endpoint", "url": "https://g.example/", "headers": {"K": "canary-hook"}}


def test_addresses_come_with_their_headers_and_judges_without_an_address() -> None:
    own = {k: v for k, v in JUDGE.items() if k not in ("base_url", "headers")}
    sent = {
        "type": "multi",
        "graders": {"a": JUDGE, "b": CALM, "c": own},
        "calculate_output": "a + b + c",
    }
    grader = TypeAdapter(Grader).validate_python(sent)
    for value in (grader, sent):
        walked = list(walk_fields(GRADER_MODELS, value))
        found = [(one.value, headers_of(one)) for one in walked if one.kind is FieldKind.ADDRESS]
        assert found == [
            ("https://j.example/v1", {"A": "canary-judge"}),
            ("https://g.example/", {"K": "canary-hook"}),
        ]
        judges = [one.path for one in walked if one.kind is FieldKind.JUDGE]
        assert judges == [("graders", "c", "model")]
    assert "canary" not in json.dumps(redacted_json(grader))


@cases(
    ("grader", "tools"),
    [
        ({"headers": "canary"}, 3),
        ({"headers": ["canary"]}, "text"),
        ({"headers": {"A": ["canary", 3]}}, [1]),
        ({"graders": [{"headers": "canary"}]}, None),
        ({"graders": {"a": 1, "b": {"token": "canary"}}}, {}),
        (3, [1, {"headers": "canary"}]),
        ({"type": "endpoint", "headers": ["canary"]}, {}),
    ],
)
def test_a_secret_in_a_wrong_shape_is_hidden(grader: Any, tools: Any) -> None:
    typed = {"type": "string_check", **grader} if isinstance(grader, dict) else grader
    shown, _ = split(ReinforcementMethod, {"grader": typed, "tools": tools})
    assert "canary" not in json.dumps(shown)


def test_a_secret_field_of_any_model_is_found_by_its_type() -> None:
    class Server(BaseModel):
        name: str
        key: Annotated[str | None, SecretMark()] = None

    class Servers(BaseModel):
        servers: dict[str, list[Server] | None]

    sent = {"servers": {"a": [{"name": "n", "key": "canary"}, {"name": "m"}], "b": None}}
    shown, sealed = split(Servers, sent)
    assert sealed == {"/servers/a/0/key": "canary"}
    assert shown["servers"]["a"] == [{"name": "n", "key": "[redacted]"}, {"name": "m"}]
