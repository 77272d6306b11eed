"""Every kind of break is seen in small specifications; additions pass."""

import json
import subprocess
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from openapi.breaking import SCHEMA, Check, main
from tests.support.cases import cases

Document = dict[str, Any]


def released() -> Document:
    thing = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "state": {"enum": ["on", "off"], "type": "string"},
            "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
        },
        "required": ["id", "state"],
    }
    part = {
        "anyOf": [
            {
                "type": "object",
                "properties": {"type": {"const": kind}, "n": {"type": "number"}},
                "required": ["type"],
            }
            for kind in ("a", "b")
        ]
    }
    body = {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}
    return {
        "paths": {
            "/v1/things/{id}": {
                "post": {
                    "operationId": "changeThing",
                    "parameters": [{"name": "how", "in": "query", "schema": {"type": "string"}}],
                    "requestBody": {"content": body},
                    "responses": {"200": {"content": body}},
                }
            }
        },
        "components": {"schemas": {"Thing": thing, "Part": part}},
    }


def operation(document: Document) -> Any:
    return document["paths"]["/v1/things/{id}"]["post"]


def thing(document: Document) -> Any:
    return document["components"]["schemas"]["Thing"]


def split(document: Document) -> Any:
    """A copy of the reply's schema, so that a change leaves the request as it is."""
    document["components"]["schemas"]["Reply"] = deepcopy(thing(document))
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Reply"}}}
    operation(document)["responses"]["200"]["content"] = content
    return document["components"]["schemas"]["Reply"]


def remove_operation(document: Document) -> None:
    document["paths"].clear()


def remove_parameter(document: Document) -> None:
    operation(document)["parameters"].clear()


def require_parameter(document: Document) -> None:
    operation(document)["parameters"].append({"name": "why", "in": "query", "required": True})


def require_body(document: Document) -> None:
    operation(document)["requestBody"]["required"] = True


def rename(document: Document) -> None:
    operation(document)["operationId"] = "alterThing"


def other_status(document: Document) -> None:
    operation(document)["responses"] = {"202": {}}


def require_field(document: Document) -> None:
    split(document)
    thing(document)["required"].append("size")


def require_new_field(document: Document) -> None:
    split(document)
    thing(document)["properties"]["why"] = {"type": "string"}
    thing(document)["required"].append("why")


def narrow_values(document: Document) -> None:
    split(document)
    thing(document)["properties"]["state"]["enum"] = ["on"]


def narrow_text(document: Document) -> None:
    split(document)
    thing(document)["properties"]["id"] = {"enum": ["x"]}


def narrow_type(document: Document) -> None:
    split(document)
    thing(document)["properties"]["size"] = {"type": "integer"}


def remove_variant(document: Document) -> None:
    document["components"]["schemas"]["Part"]["anyOf"].append(
        {"type": "object", "properties": {"type": {"const": "c"}}}
    )
    del document["components"]["schemas"]["Part"]["anyOf"][1]


def remove_request_field(document: Document) -> None:
    split(document)
    del thing(document)["properties"]["size"]


def remove_reply_field(document: Document) -> None:
    del split(document)["properties"]["size"]


def promise_less(document: Document) -> None:
    split(document)["required"].remove("state")


def reply_null(document: Document) -> None:
    split(document)["properties"]["id"] = {"type": ["string", "null"]}


def reply_other_media(document: Document) -> None:
    operation(document)["responses"]["200"]["content"] = {"text/plain": {"schema": {}}}


BREAKS = {
    remove_operation: "operation removed",
    remove_parameter: "parameter how removed",
    require_parameter: "parameter why newly required",
    require_body: "body newly required",
    rename: "operation id changed from changeThing to alterThing",
    other_status: "reply 200 removed",
    require_field: "request.size: newly required",
    require_new_field: "request.why: newly required",
    narrow_values: "request.state: values removed: off",
    narrow_text: "request.id: any text before, an enumeration now",
    narrow_type: "request.size: type narrowed, no longer null",
    remove_variant: "request.parts[](b): variant removed",
    remove_request_field: "request.size: request field removed",
    remove_reply_field: "reply.size: reply field removed",
    promise_less: "reply.state: reply field no longer promised",
    reply_null: "reply.id: type widened to null",
    reply_other_media: "reply as application/json removed",
}


@cases("change", BREAKS, ids=lambda change: change.__name__)
def test_a_break_is_seen_and_nothing_else(change: Any) -> None:
    working = released()
    change(working)
    found = Check(released(), working).breaks()
    assert len(found) == 1
    assert found[0].endswith(BREAKS[change])


def test_the_same_specification_breaks_nothing() -> None:
    assert Check(released(), released()).breaks() == []


def test_additions_break_nothing() -> None:
    working = released()
    thing(working)["properties"]["more"] = {"type": "string"}
    thing(working)["properties"]["state"]["enum"].append("idle")
    operation(working)["parameters"].append({"name": "why", "in": "query", "schema": {}})
    operation(working)["responses"]["201"] = {}
    working["paths"]["/v1/others"] = {"get": {"responses": {"200": {}}}}
    working["components"]["schemas"]["Part"]["anyOf"].append(
        {"type": "object", "properties": {"type": {"const": "c"}}}
    )
    assert Check(released(), working).breaks() == []


def test_a_schema_that_holds_itself_is_read_once() -> None:
    document = released()
    thing(document)["properties"]["inner"] = {"$ref": "#/components/schemas/Thing"}
    working = deepcopy(document)
    del working["components"]["schemas"]["Thing"]["properties"]["size"]
    assert Check(document, working).breaks() == [
        "POST /things/{} reply.size: reply field removed",
        "POST /things/{} request.size: request field removed",
    ]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository whose one commit has the schema, without a tag."""
    write(tmp_path, released())
    for words in ("init -q", "add .", "commit -qm first"):
        git(tmp_path, *words.split())
    return tmp_path


def write(root: Path, document: Document) -> None:
    (root / SCHEMA).parent.mkdir(exist_ok=True)
    (root / SCHEMA).write_text(json.dumps(document), encoding="utf-8")


def git(root: Path, *words: str) -> None:
    author = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    subprocess.run(["git", *author, *words], cwd=root, check=True)


def changed(change: Callable[[Document], None]) -> Document:
    document = released()
    change(document)
    return document


def test_without_a_tag_nothing_is_released(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, changed(remove_operation))
    assert main(repository) == 0
    assert "nothing is released yet" in capsys.readouterr().out


def test_a_source_archive_knows_no_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, released())
    assert main(tmp_path) == 0
    assert "nothing is released yet" in capsys.readouterr().out


def test_the_schema_of_the_last_tag_is_the_released_one(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(repository, "tag", "v1")
    assert main(repository) == 0
    write(repository, changed(remove_operation))
    assert main(repository) == 1
    assert capsys.readouterr().err == "breaks clients of v1: POST /things/{}: operation removed\n"
    git(repository, "commit", "-qam", "second")
    git(repository, "tag", "-a", "v2", "-m", "second")
    assert main(repository) == 0
