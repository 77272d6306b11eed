"""Each kind of structural difference has its id; rows explain, and stale rows show."""

from copy import deepcopy
from typing import Any

from openapi.compare import Comparison, Difference, judge, listed
from tests.support.cases import cases

STRING, WHOLE = {"type": "string"}, {"type": "integer"}


def document(**changes: Any) -> dict[str, Any]:
    sent = {"type": "object", "properties": {"a": STRING, "b": WHOLE}, "required": ["a"]}
    reply = {
        "type": "object",
        "properties": {"id": STRING, "kind": {"enum": ["x", "y"]}, "rows": {"items": {**sent}}},
        "required": ["id", "kind"],
    }
    given: dict[str, Any] = {
        "sent": sent,
        "reply": reply,
        "query": {"limit": WHOLE},
        "id": "makeThing",
    } | changes
    return {
        "paths": {
            "/things": {
                "post": {
                    "operationId": given["id"],
                    "parameters": [
                        {"name": name, "in": "query", "schema": schema}
                        for name, schema in given["query"].items()
                    ],
                    "requestBody": {"content": {"application/json": {"schema": given["sent"]}}},
                    "responses": {
                        given.get("status", "200"): {
                            "content": {"application/json": {"schema": given["reply"]}}
                        }
                    },
                }
            }
        }
    }


def base(part: str) -> dict[str, Any]:
    operation: Any = document()["paths"]["/things"]["post"]
    if part == "sent":
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
    else:
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    return deepcopy(schema)


def changed(part: str, name: str, schema: Any = None, *, required: bool | None = None) -> Any:
    whole = base(part)
    if schema is None and required is None:
        del whole["properties"][name]
        whole["required"] = [required for required in whole["required"] if required != name]
    elif schema is not None:
        whole["properties"][name] = schema
    if required is True:
        whole["required"] = [*whole["required"], name]
    if required is False:
        whole["required"].remove(name)
    return document(**{part: whole})


TAGGED = {
    "anyOf": [
        {"type": "object", "properties": {"type": {"const": tag}, "v": STRING}} for tag in "pq"
    ]
}
OURS = [
    (document(id="other"), "makeThing:operation-id"),
    (document(query={}), "makeThing.query.limit:missing"),
    (document(query={"limit": STRING}), "makeThing.query.limit:type"),
    (document(status="201"), "makeThing.response:status"),
    (changed("sent", "b"), "makeThing.request.b:missing"),
    (changed("sent", "own", STRING), "makeThing.request.own:extra"),
    (changed("sent", "b", required=True), "makeThing.request.b:required"),
    (changed("sent", "b", STRING), "makeThing.request.b:type"),
    (changed("sent", "b", {}), "makeThing.request.b:untyped"),
    (changed("sent", "a", {"enum": ["only"]}), "makeThing.request.a:enum"),
    (changed("reply", "kind"), "makeThing.response.kind:missing"),
    (changed("reply", "kind", required=False), "makeThing.response.kind:optional"),
    (changed("reply", "kind", {"enum": ["x", "z"]}), "makeThing.response.kind:enum"),
    (changed("reply", "id", {"type": ["string", "null"]}), "makeThing.response.id:nullable"),
    (changed("reply", "rows", {"items": {"type": "object"}}), "makeThing.response.rows[]:untyped"),
]


@cases(("ours", "expected"), OURS, ids=[test_id for _, test_id in OURS])
def test_a_difference_has_its_id(ours: dict[str, Any], expected: str) -> None:
    assert [difference.id for difference in Comparison(document(), ours).differences()] == [
        expected
    ]


def test_the_same_twice_and_paths_with_a_version_do_not_differ() -> None:
    ours = document()
    ours["paths"] = {f"/v1{path}": methods for path, methods in ours["paths"].items()}
    assert Comparison(document(), ours).differences() == []


def test_an_operation_that_is_not_there() -> None:
    found = Comparison(document(), {"paths": {}}).differences()
    assert found == [Difference("makeThing:missing")]


def test_null_that_is_refused() -> None:
    theirs = changed("sent", "b", {"type": ["integer", "null"]})
    assert Comparison(theirs, document()).differences() == [
        Difference("makeThing.request.b:not-null")
    ]


def test_more_is_accepted_and_promised_without_a_difference() -> None:
    ours = changed("sent", "a", {"type": ["string", "null"]}, required=False)
    assert Comparison(document(), ours).differences() == []
    assert Comparison(document(), changed("reply", "rows", required=True)).differences() == []


def test_variants_are_distinguished_by_their_constant() -> None:
    untagged = {**TAGGED, "anyOf": TAGGED["anyOf"][:1]}
    assert Comparison(
        changed("sent", "b", TAGGED), changed("sent", "b", untagged)
    ).differences() == [Difference("makeThing.request.b(q):missing")]
    inner = deepcopy(TAGGED)
    del inner["anyOf"][0]["properties"]["v"]  # type: ignore[attr-defined]  # a value of unknown JSON is an object to mypy
    theirs, ours = changed("reply", "rows", TAGGED), changed("reply", "rows", inner)
    assert Comparison(theirs, ours).differences() == [
        Difference("makeThing.response.rows(p).v:missing")
    ]


TABLE = """
| `ignored.before:the heading` | x | y |
## Structure
| difference | reason | test |
|---|---|---|
| `makeThing.request.*:extra` | ours | `t` |
| `makeThing.response[].x:type` | because | `t` |
| `no.reason:given` |  | `t` |
"""


def test_rows_explain_by_pattern_and_stale_ones_show() -> None:
    patterns = listed(TABLE)
    assert patterns == ["makeThing.request.*:extra", "makeThing.response[].x:type"]
    found = [Difference("makeThing.request.own:extra"), Difference("makeThing:missing", "POST /x")]
    assert judge(found, patterns) == (
        ["makeThing:missing  POST /x"],
        ["makeThing.response[].x:type"],
    )
