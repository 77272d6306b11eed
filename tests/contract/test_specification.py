"""The published specification is valid, complete and current; its differences are explained."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import validate
from pydantic import BaseModel

from app.http.specification import examples
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.schemas import CreateFineTuningJob
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.errors import InvalidRequest
from openapi import breaking
from openapi.compare import DEVIATIONS, UPSTREAM, Comparison, judge, listed
from openapi.generate import TARGET, document
from openapi.operations import operations
from tests.support.web import application

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture(scope="module")
def specification() -> dict[str, Any]:
    return application.specification()


@pytest.fixture(scope="module")
def upstream() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(UPSTREAM.read_text(encoding="utf-8"))
    return found


def each(specification: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in specification["paths"].items():
        for method, operation in methods.items():
            if method in METHODS:
                yield f"{method.upper()} {path}", operation


def test_both_documents_are_valid(specification: dict[str, Any], upstream: dict[str, Any]) -> None:
    validate(specification)
    validate(upstream)


def test_the_committed_document_is_current() -> None:
    assert TARGET.read_text(encoding="utf-8") == document(), "run `make openapi` and commit it"


def test_every_operation_has_an_id_of_its_own_and_one_tag(specification: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, operation in each(specification)]
    assert len(ids) == len(set(ids))
    described = {tag["name"] for tag in specification["tags"]}
    for where, operation in each(specification):
        assert len(operation["tags"]) == 1, where
        assert set(operation["tags"]) <= described, where


def test_every_guarded_operation_documents_its_errors(specification: dict[str, Any]) -> None:
    guarded = [one for one in each(specification) if one[0].partition(" ")[2].startswith("/v1/")]
    assert len(guarded) > 150
    for where, operation in guarded:
        replies = operation["responses"]
        assert {"400", "401", "403", "413", "429", "503"} <= replies.keys(), where
        assert ("404" in replies) or "{" not in where, where
        assert "default" not in replies, where
        assert operation["security"], where
        for status in replies.keys() - {"200", "201", "204", "206"}:
            schema = replies[status]["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/ErrorEnvelope"}, (where, status)


def test_every_operation_and_its_parameters_are_described(specification: dict[str, Any]) -> None:
    undescribed = [where for where, operation in each(specification) if not described(operation)]
    assert undescribed == [], "write a docstring for the route"
    undescribed = [
        f"{where} ?{parameter['name']}"
        for where, operation in each(specification)
        for parameter in operation.get("parameters", ())
        if not described(parameter)
    ]
    assert undescribed == [], "describe it at the route or in app/http/specification.py"


def test_every_property_is_described(specification: dict[str, Any]) -> None:
    found = list(properties(specification))
    assert len(found) > 1000
    undescribed = [f"{pointer}.{name}" for pointer, name, field in found if not described(field)]
    assert undescribed == [], "write a text under the field"


def test_every_schema_has_a_description_of_its_own(specification: dict[str, Any]) -> None:
    schemas = specification["components"]["schemas"]
    assert len(schemas) > 180
    undescribed = [name for name, schema in schemas.items() if not described(schema)]
    assert undescribed == [], "write a docstring for the class"
    texts = Counter(schema["description"] for schema in schemas.values())
    shared = [name for name, schema in schemas.items() if texts[schema["description"]] > 1]
    assert shared == [], "tell these classes apart"
    for name, schema in schemas.items():
        for word in ("POST ", "pydantic", "FastAPI", "app/", "workers/"):
            assert word not in schema["description"].replace("POST `{", ""), (name, word)


def described(node: dict[str, Any]) -> bool:
    return len(node.get("description", "").strip()) > 3


def properties(node: Any, pointer: str = "") -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yields place, name and schema of each property of any schema, examples left out."""
    if isinstance(node, list):
        for inner in node:
            yield from properties(inner, pointer)
    elif isinstance(node, dict):
        fields = node.get("properties")
        if isinstance(fields, dict) and not pointer.endswith(".properties"):
            for name, field in fields.items():
                yield pointer, name, field
        for key, inner in node.items():
            if key not in {"example", "examples", "default", "const", "enum"}:
                yield from properties(inner, f"{pointer}.{key}")


def test_every_reply_documents_the_request_id(specification: dict[str, Any]) -> None:
    replies = [
        (where, status, reply)
        for where, operation in each(specification)
        for status, reply in operation["responses"].items()
    ]
    assert len(replies) > 1000
    for where, status, reply in replies:
        assert {"x-request-id", "openai-processing-ms"} <= reply["headers"].keys(), where
        assert ("retry-after" in reply["headers"]) == (status in {"409", "429", "503"}), where


def test_the_events_are_those_of_the_hosted_api(
    specification: dict[str, Any], upstream: dict[str, Any]
) -> None:
    assert specification["webhooks"].keys() == upstream["webhooks"].keys()


def test_every_structural_difference_is_explained_and_no_row_is_stale(
    specification: dict[str, Any], upstream: dict[str, Any]
) -> None:
    found = Comparison(upstream, json.loads(json.dumps(specification))).differences()
    unexplained, stale = judge(found, listed(DEVIATIONS.read_text(encoding="utf-8")))
    assert unexplained == []
    assert stale == []


def test_tests_named_beside_differences_exist() -> None:
    root = DEVIATIONS.parents[1]
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", DEVIATIONS.read_text(encoding="utf-8")))
    assert named
    assert [path for path in sorted(named) if not (root / path).is_file()] == []


def test_nothing_breaks_the_clients_of_the_last_release() -> None:
    assert breaking.main() == 0


def test_the_pinned_document_names_what_the_official_client_calls(upstream: dict[str, Any]) -> None:
    keys = operations(upstream).keys()
    assert "POST /fine_tuning/checkpoints/{}/permissions" in keys
    assert "POST /webhook_endpoints/{}/rotate_secret" in keys
    assert len(keys) == len(upstream["paths"]) + sum(
        len(methods) - 1 for methods in upstream["paths"].values()
    )


MAIN_CALLS = (
    "createFile", "validateFineTuningJob", "createFineTuningJob", "retrieveFineTuningJob",
    "listFineTuningEvents", "listFineTuningJobCheckpoints", "listFineTuningJobMetrics",
    "retrieveFineTuningJobReport", "createChatCompletion", "runGrader",
)  # fmt: skip


@pytest.mark.parametrize("name", MAIN_CALLS)
def test_the_examples_of_the_main_calls_fit_their_schemas(
    specification: dict[str, Any], name: str
) -> None:
    found = next(o for _, o in each(specification) if o["operationId"] == name)
    reply = found["responses"]["200"]["content"]["application/json"]
    contents = [reply]
    for kind, sent in found.get("requestBody", {"content": {}})["content"].items():
        if kind == "application/json":
            contents.append(sent)
    for content in contents:
        Draft202012Validator({**content["schema"], **specification}).validate(content["example"])


def test_the_example_of_a_new_job_is_read_and_nothing_in_it_is_unknown() -> None:
    body = CreateFineTuningJob.model_validate(examples()["createFineTuningJob"]["request"])
    assert body.to_spec().unread == ()


GRADER: dict[str, Any] = {"type": "endpoint", "name": "g", "url": "https://g.example/grade"}
METHODS_OF_JOBS: list[tuple[dict[str, Any], bool]] = [
    ({"type": "reinforcement", "reinforcement": {"grader": GRADER}}, True),
    (
        {"type": "reinforcement", "reinforcement": {"grader": {"id": "grader_1"}, "tools": None}},
        True,
    ),
    (
        {
            "type": "reinforcement",
            "reinforcement": {
                "grader": GRADER,
                "tools": [{"id": "tool_1", "version": 2}, {"name": "t", "server_url": "https://t"}],
                "mode": {"type": "async", "max_staleness": 2},
                "loss": {"type": "ppo", "epsilon_high": 0.3},
                "stop": {"target": {"value": 0.9}},
                "response_format": None,
                "hyperparameters": {"n_epochs": "auto", "batch_size": None, "future": {"a": 1}},
                "future": [None],
            },
        },
        True,
    ),
    ({"type": "supervised", "supervised": {"loss": {"type": "focal"}, "train_on": "last"}}, True),
    ({"type": "dpo", "dpo": {"hyperparameters": {"beta": 0.3}}}, True),
    ({"type": "reinforcement", "reinforcement": {"grader": 5}}, False),
    ({"type": "reinforcement", "reinforcement": {"grader": GRADER, "loss": {"type": "no"}}}, False),
    ({"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": 51}}}, False),
    ({"type": "dpo", "dpo": {"hyperparameters": {"beta": "much"}}}, False),
]


@pytest.mark.parametrize(("method", "takes"), METHODS_OF_JOBS)
def test_the_schema_describes_what_a_method_may_hold(
    specification: dict[str, Any], method: dict[str, Any], *, takes: bool
) -> None:
    """And the service takes what the document takes: its own check is asked the same."""
    resolver = {"$ref": "#/components/schemas/CreateFineTuningJob", **specification}
    body = {"model": "m", "training_file": "file-1", "validation_file": "file-2", "method": method}
    assert Draft202012Validator(resolver).is_valid(body) is takes
    if "id" not in json.dumps(method):  # references are replaced before the method is read
        try:
            CreateFineTuningJob.model_validate(body).to_spec()
        except InvalidRequest:
            assert not takes
        else:
            assert takes


def test_every_key_of_a_method_is_described(specification: dict[str, Any]) -> None:
    schemas = specification["components"]["schemas"]
    described: dict[type[BaseModel], str] = {
        ReinforcementMethod: "ReinforcementBody",
        SupervisedMethod: "SupervisedMethod",
        DpoMethod: "DpoMethod",
    }
    for model, name in described.items():
        assert schemas[name]["properties"].keys() == model.model_fields.keys()
        assert schemas[name]["additionalProperties"] is True
