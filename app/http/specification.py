"""The specification of the API: FastAPI's document, completed with texts, links and examples.

The examples follow one job that succeeds.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from pydantic.json_schema import models_json_schema
from typing_extensions import override

from app.http.scopes import needed_scope
from app.jobs.reply_schemas import REPORT_PARTS, STREAM_PARTS
from app.kit.fields import LEFT_OUT, DescribedModel
from app.models.reply_schemas import CHAT_REPLIES, ChatCompletionChunk
from app.webhooks.schemas import SENT, WebhookEvent

_FILE: Final = Path(__file__).with_name("examples.json")


def examples() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


PARAMETERS: Final[Mapping[str, str]] = {
    "admin_key_id": "Id of the admin key.",
    "after_step": "Only points of later steps.",
    "api_key_id": "Id of the key.",
    "author": "Only feedback of this author.",
    "build_id": "Id of the build.",
    "completion_id": "Id of the stored chat completion.",
    "curriculum_id": "Id of the curriculum.",
    "delivery_id": "Id of the delivery.",
    "end_user": "Only feedback about this end user.",
    "end_user_id": "Your id of the end user.",
    "eval_id": "Id of the eval.",
    "export_id": "Id of the export.",
    "feedback_id": "Id of the feedback.",
    "file_id": "Id of the file.",
    "fine_tuned_model_checkpoint": "Name of the checkpoint's model.",
    "grader_id": "Id of the grader.",
    "include_archived": "True lists archived projects too.",
    "job_id": "Id of the job.",
    "key_id": "Id of the key.",
    "limit": "Objects of a page.",
    "max_points": "Most points of a curve. Of a longer one: its ends, and between them the "
    "lowest and highest of even stretches.",
    "model": "Name of the model.",
    "name": "Name of the student.",
    "order": "Order by time of creation.",
    "output_item_id": "Id of the output item.",
    "owner_project_access": "Only keys whose project is active, or archived (`inactive`).",
    "permission_id": "Id of the permission.",
    "project_id": "Id of the project.",
    "purpose": "Only files of this purpose.",
    "recipe_id": "Id of the recipe, such as `reasoning`.",
    "rollout_id": "Id of the rollout.",
    "run_id": "Id of the eval run.",
    "service_account_id": "Id of the service account.",
    "session_id": "Id of the session of the Coach.",
    "split": "Only values of training (`train`), or of validations.",
    "step": "Only values of this step; 0 is before training.",
    "tool_id": "Id of the tool.",
    "environment_id": "Id of the environment.",
    "upload_id": "Id of the upload.",
    "webhook_endpoint_id": "Id of the webhook endpoint.",
}

_TAGS = {
    "Fine-tuning": "Jobs, their events, checkpoints, curves and rollouts; trial runs of graders.",
    "Files": "Data sets and results.",
    "Uploads": "Large files in parts.",
    "Tools": "Registered, versioned tools that jobs refer to.",
    "Graders": "Registered, versioned graders that jobs refer to.",
    "Environments": "Registered, versioned HTTP environments that jobs refer to.",
    "Curricula": "Registered, versioned data sets that jobs refer to.",
    "Improvement plans": "Knobs in plain words, compiled to jobs and read from them.",
    "Recipes": "Starting points of plans, each with a sample curriculum.",
    "Models": "Base models and tuned ones.",
    "Chat": "Chat completions of a model, and those that were stored.",
    "Coach": "Sessions that measure a student, train it and propose the results to its gate.",
    "Feedback": "Judgements of answers, and the files that are built from them.",
    "Evals": "Measurements: a user's own, and the validations of a job.",
    "Students": "Models with a name that improve, and the gate before each new skill.",
    "Webhooks": "Endpoints that events are sent to, and the secrets that sign the events.",
    "Signing": "The secret that signs calls to customers' endpoints.",
    "Projects": "Projects of an organization, their keys and service accounts.",
    "Administration": "An organization's own keys and its audit log.",
    "Usage": "Usage and costs of an organization.",
    "Service": "Liveness and readiness of the service.",
}
_HEADERS: dict[str, Any] = {
    "RequestId": {
        "description": "Names this request in the service's logs; quote it in a report.",
        "schema": {"type": "string"},
        "required": True,
    },
    "ProcessingMs": {
        "description": "Milliseconds until the reply's headers were ready.",
        "schema": {"type": "integer"},
        "required": True,
    },
    "RetryAfter": {
        "description": "Seconds to wait before another attempt.",
        "schema": {"type": "integer"},
    },
}
_ALWAYS = {"x-request-id": "RequestId", "openai-processing-ms": "ProcessingMs"}
_ACCEPTED = "Accepted; after any other answer the event is sent again later."
_SLOW = "The body did not arrive in time."
_AT_WORK = "A request with this Idempotency-Key is still running."
_REUSED = "The Idempotency-Key was used for another request."
_KEYS = (
    "Every POST takes an `Idempotency-Key` header of 1 to 255 printable characters: the same "
    "request sent again with it within a day is not executed again and gets the same answer "
    "(`idempotent-replayed: true`). Streams are executed each time."
)
_UNKNOWN = (
    "An unknown key of a create call, a method, a tool or a grader may hold a text, a number or a "
    "boolean, which changes nothing and is named in a warning event of the job. An object or a "
    "list there, empty or not, answers 400 `unknown_parameter`, and so does an unknown "
    "hyperparameter; the name of a feature that does not exist answers 400 `not_available` "
    "with any value. Secrets are shown as `[redacted]`; an update of the same object keeps the "
    "value, and a new job answers 400."
)
_RETRIED = {"409", "429", "503"}
BEARER: Final = "HTTPBearer"
"""Name of the scheme of keys; the roles of an operation are the scopes that it needs."""
_METHODS = {"get", "post", "put", "patch", "delete"}


COMMITTED: Final = Path(__file__).parents[2] / "openapi" / "openapi.json"
"""What `openapi.generate` wrote and every process serves: building it takes two seconds."""


class SpecifiedApp(FastAPI):
    """FastAPI that completes its document."""

    @override
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            _complete(super().openapi())
        document: dict[str, Any] = self.openapi_schema or {}
        return document


def _complete(document: dict[str, Any]) -> None:
    document["info"]["description"] = f"{_KEYS}\n\n{_UNKNOWN}"
    document["servers"] = [{"url": "/", "description": "This service"}]
    used = {tag for operation in _operations(document) for tag in operation["tags"]}
    document["tags"] = [
        {"name": name, "description": text} for name, text in _TAGS.items() if name in used
    ]
    document["components"]["headers"] = _HEADERS
    for methods in document["paths"].values():
        replies = methods.get("post", {}).get("responses", {})
        if (refused := replies.get("400")) is not None:  # every POST takes an Idempotency-Key
            replies.setdefault("409", {**refused, "description": _AT_WORK})
            replies.setdefault("422", {**refused, "description": _REUSED})
    _name_scopes(document)
    for operation in _operations(document):
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in PARAMETERS:
                parameter.setdefault("description", PARAMETERS[parameter["name"]])
        # The default only prevents that FastAPI documents 422 automatically.
        operation["responses"].pop("default", None)
        if "requestBody" in operation:
            slow = {**operation["responses"]["413"], "description": _SLOW}
            operation["responses"].setdefault("408", slow)
        for status, reply in operation["responses"].items():
            names = _ALWAYS | ({"retry-after": "RetryAfter"} if status in _RETRIED else {})
            headers = reply.setdefault("headers", {})
            for name, component in names.items():
                headers.setdefault(name, {"$ref": f"#/components/headers/{component}"})

    _add_chunks(document)
    _add_examples(document)
    _link(document)
    for methods in document["webhooks"].values():
        methods["post"]["responses"] = {"2XX": {"description": _ACCEPTED}}
    _promise_fields(document)


def _name_scopes(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method in _METHODS & methods.keys():
            scope = needed_scope(method.upper(), path)
            if scope is not None:
                methods[method]["security"] = [{BEARER: [scope]}]


def _add_chunks(document: dict[str, Any]) -> None:
    parts: tuple[type[DescribedModel], ...] = (ChatCompletionChunk, *STREAM_PARTS)
    _, found = models_json_schema(
        [(one, "serialization") for one in parts], ref_template="#/components/schemas/{model}"
    )
    document["components"]["schemas"] |= found["$defs"]


def _add_examples(document: dict[str, Any]) -> None:
    found = examples()
    for operation in _operations(document):
        example = found.get(operation["operationId"])
        if example is None:
            continue
        if "request" in example:
            for content in operation["requestBody"]["content"].values():
                content["example"] = example["request"]
        status = next(status for status in ("200", "201") if status in operation["responses"])
        operation["responses"][status]["content"]["application/json"]["example"] = example["reply"]


def _link(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        replies = methods.get("post", {}).get("responses", {})
        reply = replies.get("201", replies.get("200"))
        for other, others in document["paths"].items() if reply else ():
            match = re.match(re.escape(path) + r"/{(\w+)}(/\w+)?$", other)
            for method in sorted(_METHODS & others.keys()) if match else ():
                name = others[method]["operationId"]
                # A relative id of an enclosing object comes from the request's own path.
                outer = {key: f"$request.path.{key}" for key in re.findall(r"{(\w+)}", path)}
                key = "name" if match and match[1] == "name" else "id"
                parameters = {**outer, match[1]: f"$response.body#/{key}"} if match else outer
                reply.setdefault("links", {})[name] = {
                    "operationId": name,
                    "parameters": parameters,
                }


def _promise_fields(document: dict[str, Any]) -> None:
    """Marks fields of replies as required, unless one may be left out, or the reply passed on."""
    schemas = document["components"]["schemas"]
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    sent, received = set[str](), set[str]()
    for operation in _operations(document):
        _reach(operation["responses"], schemas, sent)
        _reach([operation.get("requestBody"), operation.get("parameters")], schemas, received)
    _reach(document["webhooks"], schemas, sent)
    passed_on = {model.__name__ for model in (*CHAT_REPLIES, *REPORT_PARTS)}
    promised = sent - received - passed_on
    for name, schema in schemas.items():
        properties = schema.get("properties", {})
        always = []
        for key, field in properties.items():
            # The mark is at the field, or at the members of its union.
            marks = [part.pop(LEFT_OUT, False) for part in (field, *field.get("anyOf", ()))]
            always += [] if any(marks) else [key]
        if always and name in promised:
            schema["required"] = always


def _reach(node: Any, schemas: dict[str, Any], reached: set[str]) -> None:
    if isinstance(node, list):
        for inner in node:
            _reach(inner, schemas, reached)
    elif isinstance(node, dict):
        name = str(node.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in schemas and name not in reached:
            reached.add(name)
            _reach(schemas[name], schemas, reached)
        for inner in node.values():
            _reach(inner, schemas, reached)


def _operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        operation
        for methods in document["paths"].values()
        for method, operation in methods.items()
        if method in _METHODS
    ]


def sent_events() -> APIRouter:
    router = APIRouter()
    for event, payload in SENT.items():
        router.add_api_route(
            event,
            _receiver(payload),
            methods=["POST"],
            operation_id="on" + "".join(map(str.title, event.replace("_", ".").split("."))),
            summary=f"Sent on `{event}`",
            tags=["Webhooks"],
        )
    return router


def _receiver(payload: type[WebhookEvent]) -> Callable[..., Awaitable[None]]:
    async def taken(body: Any) -> None:
        """Describes the requests to a customer's endpoint and its replies."""
        del body

    taken.__annotations__["body"] = payload
    return taken
