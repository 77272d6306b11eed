"""The official Python client, unmodified, against the service on a real socket."""

from pathlib import Path
from typing import Any

import openai
import pytest

from tests.support.contract.service import BASE, ROW, Service

TUNED = f"ft:{BASE}:first:finqa:abcd1234"


def test_the_published_agent_call_is_accepted_and_echoed(
    service: Service, job: Any, method: dict[str, Any]
) -> None:
    assert (job.object, job.status, job.seed) == ("fine_tuning.job", "validating_files", 42)
    assert (job.model, job.user_provided_suffix) == (BASE, "finqa")
    assert job.metadata is None
    assert job.hyperparameters is None
    echoed = job.to_dict()["method"]
    sent = method["reinforcement"]
    assert echoed["type"] == "reinforcement"
    assert echoed["reinforcement"] == {
        **sent,
        "tools": [{**sent["tools"][0], "headers": {"Authorization": "[redacted]"}}],
        "hyperparameters": {
            **sent["hyperparameters"],
            "learning_rate_multiplier": "auto",
            "eval_temperature": "auto",
            "eval_greedy": True,
            "minibatches": 1,
        },
    }
    again = service.client().fine_tuning.jobs.retrieve(job.id)
    assert again.to_dict() == job.to_dict()


def test_unknown_nested_scalars_are_taken_and_not_kept(
    service: Service, job: Any, method: dict[str, Any]
) -> None:
    inner = method["reinforcement"]
    inner["novel"] = "é\u2028"
    inner["nothing"] = None
    inner["hyperparameters"]["beta"] = "auto"
    inner["tools"][0]["timeout_hint"] = 3.5
    made: Any = service.client().fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=job.training_file,
        validation_file=job.training_file,
        method=method,  # type: ignore[arg-type]  # tools and endpoint graders travel as extra keys
        metadata=None,
        integrations=None,
        suffix=None,
    )
    echoed = made.to_dict()["method"]["reinforcement"]
    assert not {"novel", "nothing"} & echoed.keys()
    assert echoed["response_format"] is None
    assert "beta" not in echoed["hyperparameters"]
    assert "timeout_hint" not in echoed["tools"][0]
    assert made.metadata is None


def test_an_unknown_nested_object_is_refused_with_its_path(
    service: Service, job: Any, method: dict[str, Any]
) -> None:
    method["reinforcement"]["novel"] = {"deep": [1, None, {"x": "y"}]}
    with pytest.raises(openai.BadRequestError) as refused:
        service.client().fine_tuning.jobs.create(
            model="tiny-agent",
            training_file=job.training_file,
            validation_file=job.training_file,
            method=method,  # type: ignore[arg-type]  # tools and endpoint graders travel as extra keys
        )
    assert refused.value.param == "method.reinforcement.novel"


def test_jobs_events_and_checkpoints_page_to_the_end(
    service: Service, job: Any, method: dict[str, Any]
) -> None:
    client = service.client()
    service.add_rows(job.id, events=250, checkpoints=25)
    events = list(client.fine_tuning.jobs.list_events(job.id, limit=100))
    assert [e.message for e in events[:250]] == [f"event {n}" for n in range(250, 0, -1)]
    assert [e.message for e in events[250:]] == [f"Created fine-tuning job: {job.id}"]
    checkpoints = list(client.fine_tuning.jobs.checkpoints.list(job.id))
    assert [c.step_number for c in checkpoints] == list(range(25, 0, -1))
    assert checkpoints[0].metrics.to_dict() == {"step": 25.0, "train_mean_reward": 0.5}
    more: Any = client.fine_tuning.jobs.create
    for index in range(3):
        more(
            model="tiny-agent",
            training_file=job.training_file,
            validation_file=job.training_file,
            method=method,
            metadata={"run": f"{job.id}-{index}"},
        )
    jobs = [j.id for j in client.fine_tuning.jobs.list(limit=2)]
    assert job.id in jobs
    assert len(jobs) == len(set(jobs)) >= 4
    tagged = client.fine_tuning.jobs.list(metadata={"run": f"{job.id}-1"})
    assert [j.metadata for j in tagged] == [{"run": f"{job.id}-1"}]
    untagged = client.fine_tuning.jobs.list(extra_query={"metadata": "null"})
    assert job.id in [j.id for j in untagged]
    assert all(
        not j.metadata for j in client.fine_tuning.jobs.list(extra_query={"metadata": "null"})
    )


def test_files_go_in_by_every_form_and_come_out_unchanged(service: Service, tmp_path: Path) -> None:
    client = service.client()
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROW * 3)
    with path.open("rb") as opened:
        forms: list[tuple[Any, str]] = [
            (ROW * 3, "upload"),
            (path, "rows.jsonl"),
            (opened, "rows.jsonl"),
            (("näme.jsonl", ROW * 3, "application/jsonl"), "näme.jsonl"),
        ]
        made = [(client.files.create(file=f, purpose="fine-tune"), name) for f, name in forms]
    for file, name in made:
        assert (file.bytes, file.filename, file.status) == (3 * len(ROW), name, "processed")
        assert client.files.wait_for_processing(file.id).id == file.id
        assert client.files.content(file.id).read() == ROW * 3
        assert client.files.retrieve(file.id) == file
    ids = [file.id for file, _ in made]
    newest_first = [f.id for f in client.files.list(limit=2, purpose="fine-tune")]
    assert [i for i in newest_first if i in ids] == ids[::-1]
    oldest_first = [f.id for f in client.files.list(limit=3, order="asc")]
    assert [i for i in oldest_first if i in ids] == ids
    assert client.files.delete(ids[0]).to_dict() == {
        "id": ids[0],
        "object": "file",
        "deleted": True,
    }
    with pytest.raises(openai.NotFoundError):
        client.files.content(ids[0])
    kept = client.files.create(
        file=ROW, purpose="fine-tune", expires_after={"anchor": "created_at", "seconds": 3600}
    )
    assert kept.expires_at == kept.created_at + 3600


def test_an_expired_file_is_gone(service: Service) -> None:
    client = service.client()
    file = client.files.create(file=ROW, purpose="fine-tune")
    service.execute("UPDATE files SET expires_at = now() - interval '1s' WHERE id = %s", file.id)
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(file.id)
    assert file.id not in [f.id for f in client.files.list()]


def test_a_file_that_an_open_job_reads_is_kept(service: Service, job: Any) -> None:
    client = service.client()
    with pytest.raises(openai.BadRequestError) as refused:
        client.files.delete(job.training_file)
    assert refused.value.code == "file_in_use"
    client.fine_tuning.jobs.cancel(job.id)
    assert client.files.delete(job.training_file).deleted


def test_models_with_colons_are_found_and_deleted(service: Service, job: Any) -> None:
    client = service.client()
    service.add_tuned_model(job.id, TUNED, "adapter-secret-1")
    assert client.models.retrieve(TUNED).id == TUNED
    listed = [m.id for m in client.models.list()]
    assert listed[0] == BASE
    assert TUNED in listed
    assert client.models.retrieve("tiny-agent").id == BASE
    with pytest.raises(openai.NotFoundError) as unknown:
        service.client(key=service.api.other_key).models.retrieve(TUNED)
    assert unknown.value.code == "model_not_found"
    assert client.models.delete(TUNED).to_dict() == {
        "id": TUNED,
        "object": "model",
        "deleted": True,
    }
    for call in (client.models.retrieve, client.models.delete):
        with pytest.raises(openai.NotFoundError):
            call(TUNED)
    with pytest.raises(openai.BadRequestError):
        client.models.delete(BASE)


def test_errors_have_their_class_code_and_request_id(service: Service, job: Any) -> None:
    client, stranger = service.client(max_retries=0), service.client(key="art_project_wrong")
    client.fine_tuning.jobs.cancel(job.id)
    cases: list[tuple[type[openai.APIStatusError], str | None, Any]] = [
        (openai.AuthenticationError, "invalid_api_key", stranger.models.list),
        (
            openai.NotFoundError,
            "fine_tune_not_found",
            lambda: client.fine_tuning.jobs.retrieve("x"),
        ),
        (openai.BadRequestError, "invalid_state", lambda: client.fine_tuning.jobs.cancel(job.id)),
        (openai.BadRequestError, "invalid_state", lambda: client.fine_tuning.jobs.pause(job.id)),
        (
            openai.BadRequestError,
            "invalid_jsonl",
            lambda: client.files.create(file=b"[]\n", purpose="fine-tune"),
        ),
        (
            openai.BadRequestError,
            "model_not_available",
            lambda: client.fine_tuning.jobs.create(
                model="gpt-unknown",
                training_file=job.training_file,
                validation_file=job.training_file,
                method=job.to_dict()["method"],
            ),
        ),
    ]
    for kind, code, call in cases:
        with pytest.raises(kind) as raised:
            call()
        assert type(raised.value) is kind
        assert raised.value.code == code
        assert (raised.value.request_id or "").startswith("req_")


def test_raw_responses_carry_the_headers(service: Service) -> None:
    raw = service.client().models.with_raw_response.list()
    assert raw.headers["x-request-id"] == raw.request_id
    assert int(raw.headers["openai-processing-ms"]) >= 0
    assert raw.parse().data[0].id == BASE


async def test_the_async_client_works_alike(service: Service, job: Any) -> None:
    async with service.async_client() as client:
        file = await client.files.create(file=ROW, purpose="fine-tune")
        assert (await client.files.content(file.id)).read() == ROW
        assert job.id in [j.id async for j in client.fine_tuning.jobs.list(limit=1)]
        events = [e async for e in await client.fine_tuning.jobs.list_events(job.id, limit=1)]
        assert [e.message for e in events] == [f"Created fine-tuning job: {job.id}"]
        stream = await client.chat.completions.create(
            model=BASE, messages=[{"role": "user", "content": "hi"}], stream=True
        )
        texts = [chunk.choices[0].delta.content async for chunk in stream]
        assert texts == ["hel", "lo"]
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("ft:nothing")
