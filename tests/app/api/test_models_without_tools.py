"""A job is refused before it exists for a base model that cannot be trained, and one with tools for
a model that cannot use them.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.models.models import BaseModelSpec
from tests.support.api.application import ENDPOINT, Api, running
from tests.support.cases import cases
from tests.support.rendering.family_templates import FAMILIES, NO_TOOLS, save_family
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
GRADER = {
    "type": "string_check",
    "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}",
    "operation": "eq",
    "name": "same",
}
TOOLS = [{"name": "lookup", "server_url": f"{ENDPOINT}/lookup"}]


@pytest.fixture
async def api(database: Database, tmp_path: Path) -> AsyncIterator[Api]:
    models = []
    for name, family in (("plain", NO_TOOLS), ("llama", FAMILIES["llama3_json"])):
        path = save_family(tmp_path / name, family)
        models.append(BaseModelSpec(name=name, path=str(path), context_length=512))
    wrong = models[1].model_copy(update={"name": "wrong", "tool_parser": "hermes"})
    old = models[0].model_copy(update={"name": "old", "refusal": "old: it has no linear layer."})
    settings = database.settings.model_copy(update={"base_models": (*models, wrong, old)})
    async with running(replace(database, settings=settings), "127.0.0.1:9") as api:
        yield api


async def create(api: Api, model: str, **options: Any) -> Any:
    content = "\n".join(
        f'{{"messages": [{{"role": "user", "content": "q{n}"}}], "answer": "a"}}' for n in range(10)
    ).encode()
    file = (await api.upload(content)).json()["id"]
    method = {"type": "reinforcement", "reinforcement": {"grader": GRADER, **options}}
    body = {"model": model, "training_file": file, "validation_file": file, "method": method}
    return await api.call("POST", JOBS, json=body)


@cases("options", [{"tools": TOOLS}, {"environment": {"type": "http", "url": ENDPOINT}}])
@cases(
    ("model", "reason"),
    [
        ("plain", "Model plain cannot be used with tools: its chat template writes no tool calls"),
        ("wrong", "the parser 'hermes' does not read back; 'llama3_json' does"),
    ],
)
async def test_a_job_with_tools_is_refused_with_the_reason(
    api: Api, model: str, reason: str, options: dict[str, Any]
) -> None:
    refused = await create(api, model, **options)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["param"]) == (
        400,
        "base_model_unsupported",
        "model",
    )
    assert reason in error["message"]
    assert (await api.call("GET", JOBS)).json()["data"] == []


async def test_a_job_is_refused_for_a_model_that_the_check_refused(api: Api) -> None:
    refused = await create(api, "old")
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["param"]) == (
        400,
        "base_model_unsupported",
        "model",
    )
    assert error["message"] == "Model old cannot be trained here: old: it has no linear layer."
    assert (await api.call("GET", JOBS)).json()["data"] == []


async def test_jobs_without_tools_and_models_with_a_known_format_are_accepted(api: Api) -> None:
    for model, options in (("plain", {}), ("llama", {"tools": TOOLS})):
        made = await create(api, model, **options)
        assert (made.status_code, made.json().get("model")) == (200, model), made.text


async def test_a_message_that_the_template_leaves_out_is_told(api: Api) -> None:
    """The template of `plain` shows users and assistants alone."""
    messages = [{"role": "user", "content": "hi"}, {"role": "system", "content": "Be brief."}]
    said = await api.call(
        "POST", "/v1/chat/completions", json={"model": "plain", "messages": messages}
    )
    error = said.json()["error"]
    assert (said.status_code, error["param"]) == (400, "messages[1]")
    assert "does not show a message of this role" in error["message"]
    row = {"messages": [*messages, {"role": "assistant", "content": "Yes."}]}
    body = {
        "model": "plain",
        "training_file": (await api.upload((json.dumps(row) + "\n").encode() * 10)).json()["id"],
        "method": {"type": "supervised"},
    }
    report = (await api.call("POST", f"{JOBS}/validate", json=body)).json()
    [warned] = [each for each in report["warnings"] if each["code"] == "unseen_message"]
    assert (warned["line"], warned["pointer"]) == (1, "/messages/1")
