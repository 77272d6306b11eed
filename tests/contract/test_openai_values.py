"""Values that the unmodified client may send: omitted, null, unknown, old, refused."""

import json
from typing import Any

import openai
import pytest
from openai import NOT_GIVEN

from tests.support.contract.evals import CHECK, SCHEMA
from tests.support.contract.service import BASE, ENDPOINT, ROW, Service
from tests.support.web.api_server import running_api

# Reference of the alpha: a data set's row, as published.
PUBLISHED_ROW: dict[str, Any] = {
    "messages": [{"role": "developer", "content": "…"}, {"role": "user", "content": "…"}],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "search",
                "description": "…",
                "parameters": {
                    "type": "object",
                    "properties": {"query": {"type": "string"}},
                    "required": ["query"],
                },
            },
        }
    ],
    "reference_answer": "JKT-URB-009",
}
AUTO = {"batch_size": "auto", "learning_rate_multiplier": "auto", "n_epochs": "auto"}


@pytest.fixture
def create(service: Service, method: dict[str, Any]) -> Any:
    """Creates a job of files of its own, changed as told."""
    client = service.client()
    file = client.files.create(file=ROW * 12, purpose="fine-tune").id

    def call(**changes: Any) -> Any:
        create: Any = client.fine_tuning.jobs.create
        usual = {"training_file": file, "validation_file": file, "method": method}
        return create(**{"model": "tiny-agent", **usual, **changes})

    return call


def test_the_published_call_and_row_are_taken_word_for_word(service: Service) -> None:
    client = service.client(max_retries=0)
    rows = (json.dumps(PUBLISHED_ROW, ensure_ascii=False) + "\n").encode() * 12
    strict = json.loads(rows.splitlines()[0])
    strict["tools"][0]["function"] |= {"strict": True}
    strict["tools"][0]["function"]["parameters"]["additionalProperties"] = False
    strict |= {"reference_tool_calls": [["search"]], "reference_tool_args": {"query": "x"}}
    file_a = client.files.create(file=("train_tool.jsonl", rows), purpose="fine-tune")
    file_b = client.files.create(
        file=("test.jsonl", (json.dumps(strict) + "\n").encode() * 12), purpose="fine-tune"
    )
    tool = {"name": "search", "server_url": f"{ENDPOINT}/search"}
    grader = {"type": "endpoint", "name": "g", "url": f"{ENDPOINT}/grade", "headers": {}}
    create: Any = client.fine_tuning.jobs.create
    job = create(
        model="tiny-agent",
        training_file=file_a.id,
        validation_file=file_b.id,
        seed=42,
        suffix="finqa",
        method={
            "type": "reinforcement",
            "reinforcement": {
                "tools": [{**tool, "headers": {"Authorization": "Bearer k"}}],
                "grader": {**grader, "rate_limit": 50, "pass_threshold": 0.75},
                "response_format": None,
                "max_episode_steps": 10,
                "hyperparameters": {
                    "compute_multiplier": 1,
                    "eval_samples": 2,
                    "eval_interval": 5,
                    "n_epochs": 1,
                    "reasoning_effort": "medium",
                    "batch_size": 16,
                },
            },
        },
    )
    reported = job.to_dict()
    assert (reported["status"], reported["model"], reported["seed"]) == (
        "validating_files",
        BASE,
        42,
    )
    for name in ("fine_tuned_model", "finished_at", "trained_tokens", "estimated_finish"):
        assert reported[name] is None, name
    assert (reported["result_files"], reported["integrations"]) == ([], [])
    assert reported["shared_with_openai"] is False
    assert reported["user_provided_suffix"] == "finqa"


def test_what_is_omitted_and_what_is_null_are_alike(create: Any) -> None:
    nullable = ("suffix", "seed", "metadata", "integrations")
    omitted = create()
    not_given = create(**dict.fromkeys([*nullable, "hyperparameters"], NOT_GIVEN))
    null = create(**dict.fromkeys(nullable, None))
    for job in (omitted, not_given, null):
        reported = job.to_dict()
        assert (reported["user_provided_suffix"], reported["metadata"]) == (None, None)
        assert reported["integrations"] == []
        assert reported["hyperparameters"] is None
        assert isinstance(reported["seed"], int)
        assert reported["method"] == omitted.to_dict()["method"]
    for name in nullable:
        assert create(**{name: None}).status == "validating_files"
    old = create(method=NOT_GIVEN, validation_file=None)
    assert old.validation_file is None
    assert old.method.type == "supervised"


def test_null_is_refused_where_a_value_must_be(create: Any) -> None:
    for name in ("model", "training_file"):
        with pytest.raises(openai.BadRequestError) as refused:
            create(**{name: None})
        assert refused.value.param == name
    with pytest.raises(openai.BadRequestError) as refused:
        create(validation_file=None)
    assert refused.value.param == "validation_file"


def test_nulls_within_a_method_are_taken_and_shown(create: Any, method: dict[str, Any]) -> None:
    inner = method["reinforcement"]
    inner |= {"response_format": None, "max_episode_steps": None, "future": 3}
    inner["grader"] |= {"headers": None, "rate_limit": None, "pass_threshold": None, "later": 1}
    inner["tools"][0] |= {"headers": None, "timeout_hint": None}
    inner["hyperparameters"] |= {"later": None}
    shown = create().to_dict()["method"]["reinforcement"]
    assert shown["response_format"] is None
    assert "future" not in shown
    assert "later" not in shown["grader"]
    assert "timeout_hint" not in shown["tools"][0]


def test_old_and_other_methods_are_shown_resolved(create: Any) -> None:
    old = create(method=NOT_GIVEN, hyperparameters={"n_epochs": 2}).to_dict()
    assert old["method"] == {
        "type": "supervised",
        "supervised": {"hyperparameters": {**AUTO, "n_epochs": 2}},
    }
    assert old["hyperparameters"] == {**AUTO, "n_epochs": 2}
    auto = create(method=NOT_GIVEN, hyperparameters={"n_epochs": "auto"}).to_dict()
    assert auto["hyperparameters"] == AUTO
    new = create(method={"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": 3}}})
    assert new.method.supervised.hyperparameters.n_epochs == 3
    dpo = create(method={"type": "dpo", "dpo": {"hyperparameters": {"beta": 0.2}}})
    assert dpo.method.dpo.hyperparameters.to_dict() == {**AUTO, "beta": 0.2}
    assert dpo.to_dict()["hyperparameters"] is None


def test_lists_go_by_metadata(service: Service, create: Any) -> None:
    client = service.client()
    tagged = create(metadata={"run": "one", "schlüssel mit [x]": "wért &="})
    plain = create()
    found = client.fine_tuning.jobs.list
    assert [job.id for job in found(metadata={"run": "one"})] == [tagged.id]
    both = {"run": "one", "schlüssel mit [x]": "wért &="}
    assert [job.metadata for job in found(metadata=both)] == [both]
    assert list(found(metadata={"run": "one", "other": "two"})) == []
    untagged = [job.id for job in found(extra_query={"metadata": "null"}, limit=1)]
    assert plain.id in untagged
    assert tagged.id not in untagged
    assert tagged.id in [job.id for job in found(metadata=None)]


def test_nulls_of_other_calls(service: Service) -> None:
    client = service.client()
    config: Any = {"type": "custom", "item_schema": SCHEMA}
    create: Any = client.evals.create
    of = create(data_source_config=config, testing_criteria=[CHECK], metadata=None)
    assert of.metadata is None
    assert client.evals.update(of.id, metadata={"a": "b"}).metadata == {"a": "b"}
    assert client.evals.update(of.id, metadata=None).metadata is None
    rows = [{"item": {}, "sample": {"output_text": "x"}}]
    jsonl: Any = {"type": "jsonl", "source": {"type": "file_content", "content": rows}}
    run = client.evals.runs.create(of.id, data_source=jsonl, metadata=None)
    assert run.metadata is None
    upload: Any = client.files.create
    file = upload(file=ROW, purpose="fine-tune", expires_after=NOT_GIVEN)
    assert file.to_dict()["expires_at"] is None


def test_every_refusal_is_its_class_with_a_request_id(
    service: Service, create: Any, job: Any
) -> None:
    client = service.client(max_retries=0)
    key = {"Idempotency-Key": f"values-{job.id}"}
    create(extra_headers=key, suffix="one")
    service.add_tuned_model(job.id, f"ft:{BASE}:first::values", "values")
    wrong_project = service.client(max_retries=0, project="proj_other")
    cases: list[tuple[type[openai.APIStatusError], Any]] = [
        (openai.BadRequestError, lambda: create(seed=-1)),
        (openai.BadRequestError, lambda: create(suffix="x" * 65)),
        (openai.BadRequestError, lambda: client.fine_tuning.jobs.resume(job.id)),
        (openai.AuthenticationError, service.client(key="sk-wrong", max_retries=0).models.list),
        (openai.AuthenticationError, wrong_project.models.list),
        (openai.NotFoundError, lambda: client.fine_tuning.jobs.retrieve("ftjob-none")),
        (openai.NotFoundError, lambda: client.get("/nowhere", cast_to=object)),
        (openai.UnprocessableEntityError, lambda: create(extra_headers=key, suffix="two")),
    ]
    for kind, call in cases:
        with pytest.raises(kind) as raised:
            call()
        error = raised.value
        assert type(error) is kind
        assert (error.request_id or "").startswith("req_")
        assert isinstance(error.body, dict)
        assert set(error.body) == {"message", "type", "param", "code"}
        assert error.message


def test_too_many_requests_are_a_rate_limit_error(service: Service) -> None:
    settings = service.database.settings
    with running_api(settings.model_copy(update={"requests_per_minute": 3})) as api:
        client = openai.OpenAI(base_url=api.base_url, api_key=api.other_key, max_retries=0)
        raw = client.models.with_raw_response.list()
        assert raw.headers["x-ratelimit-limit-requests"] == "3"
        with pytest.raises(openai.RateLimitError) as raised:
            for _ in range(8):  # A new minute may begin meanwhile.
                client.models.list()
    assert raised.value.code == "rate_limit_exceeded"
    assert raised.value.response.headers["x-ratelimit-remaining-requests"] == "0"
    assert float(raised.value.response.headers["retry-after"]) > 0
    assert (raised.value.request_id or "").startswith("req_")
