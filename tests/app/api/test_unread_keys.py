"""Mistakes in calls whose replies have no place for a warning: each is refused with its cure."""

from copy import deepcopy
from typing import Any

from app.kit.schemas import ClosedBody
from tests.support.api.application import Api
from tests.support.cases import cases

CHECK = {
    "type": "string_check",
    "name": "exact",
    "input": "{{sample.output_text}}",
    "reference": "{{item.a}}",
    "operation": "eq",
}
CONFIG = {
    "type": "custom",
    "item_schema": {"type": "object", "properties": {"a": {"type": "string"}}},
    "include_sample_schema": True,
}
EVAL: dict[str, Any] = {"data_source_config": CONFIG, "testing_criteria": [CHECK]}
SOURCE: dict[str, Any] = {
    "type": "completions",
    "model": "tiny-agent",
    "source": {"type": "file_content", "content": [{"item": {"a": "x"}}, {"item": {"b": "y"}}]},
    "input_messages": {"type": "template", "template": [{"role": "user", "content": "{{item.a}}"}]},
    "sampling_params": {"temperature": 0},
}
PROMPT = ("input_messages", "template", 0, "content")
PROMPT_PARAM = "data_source.input_messages.template[0].content"
UNKNOWN, INVALID = "unknown_parameter", "invalid_value"


def altered(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    copied = deepcopy(value)
    holder = copied
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = new
    return copied


@cases(
    ("body", "code", "param", "sentence"),
    [
        ({**EVAL, "foo": 1}, UNKNOWN, "foo", "Remove it."),
        ({**EVAL, "foo": {"a": 1}}, UNKNOWN, "foo", "Remove it."),
        ({**EVAL, "data_source_config": {**CONFIG, "include_sample": True}}, UNKNOWN,
         "data_source_config.include_sample", "Did you mean 'include_sample_schema'?"),
        ({**EVAL, "data_source_config": {**CONFIG, "item_schema": {"type": "objekt"}}}, INVALID,
         "data_source_config.item_schema.type", "it is not a JSON schema"),
    ],
)  # fmt: skip
async def test_a_mistake_in_an_eval(
    api: Api, *, body: dict[str, Any], code: str, param: str, sentence: str
) -> None:
    error = (await api.call("POST", "/v1/evals", json=body)).json()["error"]
    assert (error["code"], error["param"], sentence in error["message"]) == (code, param, True)


async def test_an_unknown_key_of_a_criterion_is_named_in_the_reply_to_the_create(api: Api) -> None:
    body = {**EVAL, "testing_criteria": [CHECK, {**CHECK, "name": "b", "colour": "red"}]}
    made = (await api.call("POST", "/v1/evals", json=body)).json()
    [warning] = made["warnings"]
    assert (warning["code"], warning["param"]) == (UNKNOWN, "testing_criteria[1].colour")
    assert "it changes nothing" in warning["message"]
    for reply in (
        await api.call("GET", f"/v1/evals/{made['id']}"),
        await api.call("POST", "/v1/evals", json=EVAL),
    ):
        assert "warnings" not in reply.json()


@cases(
    ("path", "value", "code", "param", "sentence"),
    [
        (("sampling_params", "temprature"), 1, UNKNOWN, "data_source.sampling_params.temprature",
         "Did you mean 'temperature'?"),
        (PROMPT, "{item.a}", INVALID, PROMPT_PARAM, "write '{{item.a}}'"),
        (PROMPT, "{{item.zz}}", INVALID, PROMPT_PARAM, "no item has it"),
    ],
)  # fmt: skip
async def test_a_mistake_in_a_run(
    api: Api, *, path: tuple[str | int, ...], value: Any, code: str, param: str, sentence: str
) -> None:
    made = (await api.call("POST", "/v1/evals", json=EVAL)).json()["id"]
    runs = f"/v1/evals/{made}/runs"
    assert (await api.call("POST", runs, json={"data_source": SOURCE})).status_code == 201
    wrong = {"data_source": altered(SOURCE, path, value)}
    error = (await api.call("POST", runs, json=wrong)).json()["error"]
    assert (error["code"], error["param"], sentence in error["message"]) == (code, param, True)


async def test_a_body_without_a_field_for_warnings_has_no_unknown_key(api: Api) -> None:
    document = (await api.http.get("/openapi.json")).json()
    closed = {model.__name__ for model in ClosedBody.__subclasses__()}
    assert len(closed) > 20
    seen = set[str]()
    for template, methods in document["paths"].items():
        content = methods.get("post", {}).get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        refs = [schema.get("$ref"), *(each.get("$ref") for each in schema.get("anyOf", ()))]
        name = next((ref.rpartition("/")[2] for ref in refs if ref is not None), None)
        if name not in closed:
            continue
        path = template.format_map(_AnyId())
        key = api.admin_key if path.startswith("/v1/organization") else api.key
        example = document["components"]["schemas"][name]
        body = {
            field: _value(example["properties"][field]) for field in example.get("required", ())
        }
        reply = await api.call("POST", path, key=key, json={**body, "zzz": 1})
        error = reply.json()["error"]
        if (error["code"], error["param"]) != (UNKNOWN, "zzz"):
            assert error["code"] in {INVALID, "missing_required_parameter"}, (path, error)
            continue
        seen.add(name)
        assert error["message"] == "Unknown parameter: 'zzz'. Remove it."
    assert len(seen) > 10


def _value(schema: dict[str, Any]) -> Any:
    simple = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return schema.get("enum", [simple.get(schema.get("type", ""), {})])[0]


async def test_a_list_of_files_is_filtered_by_a_purpose_that_there_is(api: Api) -> None:
    error = (await api.call("GET", "/v1/files?purpose=zzz")).json()["error"]
    assert (error["code"], error["param"]) == (INVALID, "purpose")
    for purpose in ("fine-tune", "fine-tune-results"):
        assert (await api.call("GET", f"/v1/files?purpose={purpose}")).status_code == 200
    error = (await api.call("GET", "/v1/fine_tuning/jobs?metadata[]=a")).json()["error"]
    assert (error["code"], error["param"]) == (UNKNOWN, "metadata[]")


class _AnyId(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "x"
