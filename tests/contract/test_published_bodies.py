"""Job bodies as guides, the API reference and cookbooks print them, with the official client: each
is accepted and grades as it says, or refused with a sentence that names the way out.

`tests/e2e/test_published_bodies.py` runs one of them.
"""

import json
from typing import Any

import httpx
import pytest
from openai import BadRequestError, NotFoundError, OpenAI

from tests.support.contract.published_bodies import ITEM, SAME, judge, multi, rows, similar
from tests.support.contract.published_graders import GRADED, JUDGED, PYTHON, SCHEMA
from tests.support.contract.service import BASE, ENDPOINT, Service
from tests.support.patience import PATIENCE_S

TOOL = {"name": "search", "server_url": f"{ENDPOINT}/search", "headers": {"Authorization": "k"}}
CUSTOMER: dict[str, Any] = {"type": "endpoint", "name": "g", "url": f"{ENDPOINT}/grade"}
ACCEPTED: dict[str, dict[str, Any]] = {
    "endpoint": {"grader": {**CUSTOMER, "rate_limit": 50, "pass_threshold": 0.75, "headers": {}}},
    "endpoint in a formula": {"grader": multi("own + 0 * exact", own=CUSTOMER, exact=SAME)},
    "agent": {
        "tools": [TOOL],
        "grader": CUSTOMER,
        "response_format": None,
        "max_episode_steps": 10,
    },
    "call of a job's tool, graded": {
        "tools": [TOOL],
        "grader": {**SAME, "input": "{{sample.output_tools[0].function.arguments}}"},
    },
    "python": {"grader": PYTHON},
    "python without a name": {"grader": {key: PYTHON[key] for key in ("type", "source")}},
    "python in a formula": {"grader": multi("code", code=PYTHON)},
    "everything auto": {
        "grader": SAME,
        "hyperparameters": dict.fromkeys(
            (
                *("n_epochs", "batch_size", "learning_rate_multiplier", "compute_multiplier"),
                *("eval_interval", "eval_samples"),
            ),
            "auto",
        )
        | {"reasoning_effort": "default"},
    },
}
Refusal = tuple[dict[str, Any], str, str, str]
REFUSED: dict[str, Refusal] = {
    "a hosted judge": (
        {"grader": {**judge(), "model": "gpt-4o-2024-08-06"}},
        "grader.model", "model_not_found", "gpt-4o-2024-08-06",
    ),
    "cosine": (
        {"grader": similar("cosine")},
        "grader.evaluation_metric", "embeddings_not_configured",
        "AGENT_RFT_EMBEDDINGS__BASE_URL",
    ),
    "label_model": (
        {"grader": {"type": "label_model", "name": "l", "model": BASE, "labels": ["a"],
                    "passing_labels": ["a"], "input": []}},
        "grader.input", "invalid_value", "at least 1 entry",
    ),
    "children in a list": (
        {"grader": {"type": "multi", "name": "m", "graders": [SAME], "calculate_output": "exact"}},
        "grader.graders", "invalid_value", "a map of name to grader",
    ),
    "an effort of other models": (
        {"grader": SAME, "hyperparameters": {"reasoning_effort": "minimal"}},
        "hyperparameters.reasoning_effort", "invalid_value", "'low', 'medium'",
    ),
    "a response_format of the Responses API": (
        {"grader": SAME, "response_format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
        "response_format", "invalid_value", "the form of the Responses API",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(service: Service) -> tuple[str, str]:
    client = service.client()
    train, valid = (
        client.files.create(file=("rows.jsonl", rows(first, 10)), purpose="fine-tune").id
        for first in (0, 10)
    )
    return train, valid


@pytest.fixture
def client(service: Service) -> OpenAI:
    service.engine.answer = f'{{"KEY": {JUDGED}}}'
    return service.client()


def create(client: OpenAI, files: tuple[str, str], **body: Any) -> Any:
    make: Any = client.fine_tuning.jobs.create
    return make(
        **{"model": "tiny-agent", "training_file": files[0], "validation_file": files[1], **body}
    )


def reinforcement(body: dict[str, Any]) -> dict[str, Any]:
    return {"method": {"type": "reinforcement", "reinforcement": body}}


def validated(service: Service, files: tuple[str, str], body: dict[str, Any]) -> dict[str, Any]:
    reply = httpx.post(
        f"{service.api.base_url}/fine_tuning/jobs/validate",
        headers={"Authorization": f"Bearer {service.api.key}"},
        json={
            "model": "tiny-agent",
            "training_file": files[0],
            "validation_file": files[1],
            **body,
        },
        timeout=PATIENCE_S,
    )
    report: dict[str, Any] = reply.json()
    return report


def contains(echoed: Any, sent: Any) -> bool:
    """Returns whether everything that was sent is in the echo, headers aside."""
    if isinstance(sent, dict) and isinstance(echoed, dict):
        return all(key == "headers" or contains(echoed.get(key), sent[key]) for key in sent)
    if isinstance(sent, list) and isinstance(echoed, list):
        pairs = zip(echoed, sent, strict=False)
        return len(echoed) == len(sent) and all(contains(*pair) for pair in pairs)
    return bool(echoed == sent)


@pytest.mark.parametrize("name", GRADED)
def test_a_published_body_is_created_and_grades_as_documented(
    service: Service, client: OpenAI, files: tuple[str, str], name: str
) -> None:
    body, samples = GRADED[name]
    report = validated(service, files, reinforcement(body))
    assert report["errors"] == []
    job = create(client, files, **reinforcement(body)).to_dict(warnings=False)
    assert job["status"] == "validating_files"
    echoed = job["method"]["reinforcement"]
    assert contains(echoed, body), echoed
    for sample, reward in samples.items():
        run = client.fine_tuning.alpha.graders.run(
            grader=echoed["grader"], model_sample=sample, item=ITEM
        )
        assert run.reward == pytest.approx(reward), (sample, run)
        flags = run.metadata.errors.to_dict()
        assert not any(value for value in flags.values()), flags


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_published_body_that_needs_endpoints_turns_or_the_sandbox_is_made(
    client: OpenAI, files: tuple[str, str], name: str
) -> None:
    body = ACCEPTED[name]
    job = create(client, files, **reinforcement(body)).to_dict(warnings=False)
    assert job["status"] == "validating_files"
    assert contains(job["method"]["reinforcement"], body), job


@pytest.mark.parametrize("name", REFUSED)
def test_a_published_body_is_refused_with_what_to_do_instead(
    client: OpenAI, files: tuple[str, str], name: str
) -> None:
    body, param, code, sentence = REFUSED[name]
    with pytest.raises((BadRequestError, NotFoundError)) as refused:
        create(client, files, **reinforcement(body))
    error = refused.value
    assert (error.param, error.code) == (f"method.reinforcement.{param}", code)
    assert sentence in error.message


def test_the_published_bodies_of_other_methods_are_made(
    client: OpenAI, files: tuple[str, str]
) -> None:
    plain = create(client, files, hyperparameters={"n_epochs": 2, "batch_size": "auto"})
    assert plain.method.type == "supervised"
    assert plain.hyperparameters.n_epochs == 2
    method = {"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": "auto"}}}
    watched = create(
        client,
        files,
        method=method,
        integrations=[{"type": "wandb", "wandb": {"project": "p", "tags": ["a"]}}],
    )
    assert watched.integrations[0].wandb.project == "p"
    dpo = {"type": "dpo", "dpo": {"hyperparameters": {"beta": 0.1}}}
    assert create(client, files, method=dpo).method.dpo.hyperparameters.beta == 0.1


CHAT = {"role": "user", "content": "q"}
CALL = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
ROWS: dict[str, tuple[dict[str, Any], str | None]] = {
    "of the Responses API": (
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": "q"}]}]},
        "the row has 'input', the form of the Responses API: send 'messages' of Chat Completions",
    ),
    "of an eval": (
        {"item": {"messages": [CHAT]}},
        "the row has 'item', the form of an eval's items: put its content into the row itself",
    ),
    "of another trainer": (
        {"prompt": "q", "completion": "a"},
        "the row has 'prompt', the form of legacy completions: send 'messages'",
    ),
    "of preference pairs": (
        {"input": {"messages": [CHAT]}, "preferred_output": [CHAT], "non_preferred_output": [CHAT]},
        "the row has 'preferred_output', the form of preference pairs: send 'method.type' as 'dpo'",
    ),
    "with earlier turns of a tool": (
        {
            "messages": [
                CHAT,
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c", "content": "found"},
                {"role": "user", "content": "and then?"},
            ]
        },
        None,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_published_rows_are_taken_or_refused_with_their_line(
    service: Service, client: OpenAI, name: str
) -> None:
    row, sentence = ROWS[name]
    file = client.files.create(
        file=("rows.jsonl", "\n".join([json.dumps(row)] * 10).encode()), purpose="fine-tune"
    )
    body = reinforcement({"grader": {**SAME, "reference": "x"}})
    errors = validated(service, (file.id, file.id), body)["errors"]
    if sentence is None:
        assert errors == []
        return
    reported = [fault["message"] for fault in errors if fault["param"] == "training_file"]
    assert reported
    assert all(message.startswith("Line ") for message in reported[:10])
    assert all(sentence in message for message in reported[:10]), reported
