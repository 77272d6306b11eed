"""Every JSONB column that a request body fills holds no credential sent under an unknown key."""

import copy
from typing import Any, Final

import pytest
from sqlalchemy.dialects.postgresql import JSONB

from app.kit.sql import Base
from tests.support.api.application import ENDPOINT, Api
from tests.support.api.canary import CANARY, HEADERS, stored
from tests.support.api.job_calls import JOBS
from tests.support.registry.recipes import OWN
from tests.support.stack import Database

SENT: Final = {
    "evals.data_source_config",
    "evals.testing_criteria",
    "eval_runs.data_source",
    "fine_tuning_jobs.evals",
    "fine_tuning_jobs.integrations",
    "fine_tuning_jobs.method",
    "registered_versions.definition",
}
METADATA: Final = {
    "coach_sessions.metadata",
    "evals.metadata",
    "eval_runs.metadata",
    "fine_tuning_jobs.metadata",
    "registered_versions.metadata",
    "stored_completions.metadata",
}
"""Maps of texts, which are shown and searched by design."""
MADE: Final = {
    "audit_logs.details",
    "checkpoints.metrics",
    "coach_entries.data",
    "coach_sessions.method",
    "coach_sessions.options",
    "coach_sessions.progress",
    "eval_output_items.datasource_item",
    "eval_output_items.results",
    "eval_output_items.sample",
    "eval_output_items.usage",
    "eval_runs.criteria",
    "eval_runs.error",
    "students.edited_instructions",
    "eval_runs.usage",
    "event_log.data",
    "feedback.content",
    "feedback_builds.learned",
    "feedback_builds.report",
    "fine_tuning_jobs.ended_early",
    "fine_tuning_jobs.error",
    "fine_tuning_jobs.kept_checkpoints",
    "fine_tuning_jobs.mcp_listings",
    "fine_tuning_jobs.reproducibility",
    "fine_tuning_jobs.result_files",
    "fine_tuning_jobs.usage",
    "job_events.data",
    "model_exports.error",
    "reports.report",
    "rollouts.components",
    "rollouts.tokens",
    "rollouts.trace",
    "stored_completions.reply",
    "stored_completions.request",
    "skills.comparisons",
    "skills.runs",
    "students.regression_sets",
    "webhook_endpoints.subscribed_at",
}
"""Columns that the service writes: results of work, a customer's rows and answers, or what the
closed fields of a plan compile to.
"""
SCHEMA: Final = {"type": "custom", "item_schema": {"type": "object"}}
CRITERION: Final = {"type": "endpoint", "url": ENDPOINT}
RUN: Final[dict[str, Any]] = {
    "type": "completions",
    "model": "tiny-agent",
    "source": {"type": "file_content", "content": [{"item": {"a": 1}}]},
    "input_messages": {"type": "template", "template": [{"role": "user", "content": "hi"}]},
    "sampling_params": {"seed": 7},
}
WANDB: Final = {"type": "wandb", "wandb": {"project": "p"}}
UNKNOWN: Final[dict[str, Any]] = {
    "api_key": CANARY,
    "endpoint_url": f"https://h.example/?k={CANARY}",
    "Headers": HEADERS,
    "extra": [{"authorization": CANARY}],
}
Path = tuple[str | int, ...]


def planted(document: Any, path: Path, changes: dict[str, Any]) -> Any:
    copied = copy.deepcopy(document)
    holder = copied
    for part in path:
        holder = holder[part]
    holder |= changes
    return copied


async def eval_path(api: Api) -> str:
    sent = {"data_source_config": SCHEMA, "testing_criteria": [CRITERION]}
    reply = await api.call("POST", "/v1/evals", json=sent)
    assert reply.status_code == 201, reply.text
    return f"/v1/evals/{reply.json()['id']}/runs"


async def attached_eval(api: Api) -> dict[str, Any]:
    """Returns an eval as a create call of a job sends it."""
    items = (await api.upload(b'{"item": {"a": 1}}', purpose="evals")).json()["id"]
    source = {**RUN, "source": {"type": "file_id", "id": items}}
    del source["model"]
    return {"eval_id": (await eval_path(api)).split("/")[3], "data_source": source}


def test_every_json_column_is_listed() -> None:
    columns = {
        f"{table.name}.{column.name}"
        for table in Base.metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, JSONB)
    }
    assert columns == SENT | METADATA | MADE


@pytest.mark.parametrize("column", sorted(SENT))
async def test_a_canary_under_an_unknown_key_is_not_stored(
    api: Api, body: dict[str, Any], database: Database, column: str
) -> None:
    made = {"data_source_config": SCHEMA, "testing_criteria": [CRITERION]}
    reinforcement = ("method", "reinforcement")
    columns: dict[str, tuple[str, Any, list[Path]]] = {
        "evals.data_source_config": ("/v1/evals", made, [("data_source_config",)]),
        "evals.testing_criteria": ("/v1/evals", made, [("testing_criteria", 0)]),
        "eval_runs.data_source": (
            await eval_path(api),
            {"data_source": RUN},
            [("data_source", *path) for path in PARTS],
        ),
        "fine_tuning_jobs.evals": (
            JOBS,
            {**body, "evals": [await attached_eval(api)]},
            [("evals", 0), *(("evals", 0, "data_source", *path) for path in PARTS)],
        ),
        "fine_tuning_jobs.integrations": (
            JOBS,
            {**body, "integrations": [WANDB]},
            [("integrations", 0), ("integrations", 0, "wandb")],
        ),
        "fine_tuning_jobs.method": (
            JOBS,
            body,
            [("method",), reinforcement, (*reinforcement, "tools", 0), (*reinforcement, "grader")],
        ),
        "registered_versions.definition": (
            "/v1/tools",
            {"name": "t", "server_url": ENDPOINT},
            [()],
        ),
    }
    url, document, paths = columns[column]
    for number, (path, (key, value)) in enumerate(
        (path, one) for path in paths for one in UNKNOWN.items()
    ):
        sent = planted(document, path, {key: value})
        if url == "/v1/tools":
            sent["name"] = f"t{number}"
        reply = await api.call("POST", url, json=sent)
        assert reply.status_code in (200, 201, 400), reply.text
        assert CANARY not in reply.text, (path, key, reply.text)
        assert CANARY not in stored(database), (path, key)


@pytest.mark.parametrize(
    "path",
    [(), ("options", "grader"), ("sources", 0)],
)
async def test_a_recipe_refuses_a_canary_under_an_unknown_key(
    api: Api, database: Database, path: Path
) -> None:
    source = {"setting": "effort", "reason": "r", "source": "s"}
    for key, value in UNKNOWN.items():
        sent = planted({**OWN, "sources": [source]}, path, {key: value})
        reply = await api.call("POST", "/v1/recipes", json=sent)
        assert reply.status_code == 400, (path, key, reply.text)
        assert CANARY not in reply.text + stored(database), (path, key)


PARTS: Final[list[Path]] = [
    (),
    ("source",),
    ("input_messages",),
    ("input_messages", "template", 0),
    ("sampling_params",),
]
MCP: Final = {"type": "mcp", "server_label": "m", "server_url": ENDPOINT}
TOOL: Final = "sampling_params.tools[0]"
REFUSED: Final[list[tuple[Path, dict[str, Any], str, str]]] = [
    ((), {"api_key": CANARY}, "api_key", "unknown_parameter"),
    ((), {"mcp_servers": CANARY}, "mcp_servers", "not_available"),
    (("source",), {"headers": HEADERS}, "source.headers", "unknown_parameter"),
    (("sampling_params",), {"base": f"https://h/?k={CANARY}"}, "sampling_params.base",
     "unknown_parameter"),
    (("sampling_params",), {"tools": [{**MCP, "authorization": CANARY}]}, TOOL, "not_available"),
    (("input_messages", "template", 0), {"authorization": CANARY},
     "input_messages.template[0].authorization", "unknown_parameter"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "changes", "param", "code"), REFUSED)
async def test_a_data_source_with_a_credential_is_refused_by_its_path(
    api: Api, database: Database, *, path: Path, changes: dict[str, Any], param: str, code: str
) -> None:
    url = await eval_path(api)
    reply = await api.call("POST", url, json={"data_source": planted(RUN, path, changes)})
    error = reply.json()["error"]
    reported = (reply.status_code, error["param"], error["code"])
    assert reported == (400, f"data_source.{param}", code), error
    assert CANARY not in reply.text + stored(database)


async def test_the_documented_keys_and_the_rows_of_a_data_source_are_kept(api: Api) -> None:
    parameters = {"type": "object", "properties": {"token": {"type": "string"}}, "required": []}
    function = {"name": "f", "description": "Reads.", "strict": True, "parameters": parameters}
    schema = {"type": "object", "properties": {"token": {"type": "string"}}}
    form = {"type": "json_schema", "name": "n", "schema": schema, "strict": True}
    plain = {
        "seed": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "max_completion_tokens": 9,
        "reasoning_effort": "low",
    }
    chat = {
        **plain,
        "tools": [{"type": "function", "function": function}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}},
    }
    responses = {
        **plain,
        "tools": [{"type": "function", **function}],
        "text": {"format": form, "verbosity": "low"},
    }
    rows = [
        {
            "item": {"a": 1, "api_key": "k", "url": "https://h.example/?q=1"},
            "sample": {"token": "t"},
        }
    ]
    part = {"type": "input_text", "text": "See https://h.example/?q={{ item.a }}"}
    message = {"type": "message", "role": "user", "content": part}
    url = await eval_path(api)
    for kind, params in (("completions", chat), ("responses", responses)):
        sent = {
            **RUN,
            "type": kind,
            "source": {"type": "file_content", "content": rows},
            "input_messages": {"type": "template", "template": [message]},
            "sampling_params": params,
        }
        reply = await api.call("POST", url, json={"data_source": sent})
        assert reply.status_code == 201, reply.text
        assert reply.json()["data_source"] == sent
