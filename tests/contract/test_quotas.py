"""Quotas of a project, as the official Python client meets them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI, OpenAI, RateLimitError

from tests.support.contract.evals import content
from tests.support.contract.evals import make as make_eval
from tests.support.contract.quotas import count, quota, refused
from tests.support.contract.service import BASE, CHATS_IN_FLIGHT, ROW, Service
from tests.support.contract.siblings import SiblingProject
from tests.support.patience import PATIENCE_S, until
from tests.support.registry.recipes import OWN

HELLO: Any = [{"role": "user", "content": "hi"}]


@pytest.fixture
def client(service: Service) -> OpenAI:
    return service.client(max_retries=2)


def _stored(service: Service) -> int:
    """Returns the bytes of the first project's files, evals and eval runs."""
    project = service.project_of(service.api.key)
    parts = (
        "SELECT sum(bytes) FROM files WHERE deleted_at IS NULL AND project_id = %s",
        """SELECT sum(octet_length(data_source_config::text) + octet_length(testing_criteria::text))
        FROM evals WHERE job_id IS NULL AND project_id = %s""",
        "SELECT sum(octet_length(data_source::text)) FROM eval_runs WHERE project_id = %s",
    )
    return sum(int(service.value(part, project) or 0) for part in parts)


def _upload(client: OpenAI, size: int = 1) -> Any:
    return client.files.create(file=("rows.jsonl", ROW * size), purpose="fine-tune")


def test_files_and_their_bytes(service: Service, client: OpenAI, sibling: SiblingProject) -> None:
    held = count(service, "files", "deleted_at IS NULL")
    with quota(service, max_files=held + 2):
        first = _upload(client)
        _upload(client)
        refused(lambda: _upload(client), "files")
        refused(
            lambda: client.uploads.create(
                filename="f", purpose="fine-tune", bytes=9, mime_type="text/jsonl"
            ),
            "files",
        )
        _upload(service.client(key=sibling.key))
        client.files.delete(first.id)
        _upload(client)
    with quota(service, max_stored_bytes=_stored(service) + 3 * len(ROW)):
        refused(lambda: _upload(client, 4), "stored_bytes")
        _upload(client, 2)
        upload = client.uploads.create(
            filename="f", purpose="fine-tune", bytes=len(ROW), mime_type="text/jsonl"
        )
        part = client.uploads.parts.create(upload.id, data=ROW)
        refused(lambda: client.uploads.parts.create(upload.id, data=ROW), "stored_bytes")
        # The file takes the place of the part: no byte is counted twice.
        assert client.uploads.complete(upload.id, part_ids=[part.id]).status == "completed"


def test_evals_and_their_rows_count_as_bytes(
    service: Service, client: OpenAI, sibling: SiblingProject
) -> None:
    of, rows = make_eval(client), content("a" * 10_000)
    source: Any = {"type": "jsonl", "source": rows}

    def run(client: OpenAI, eval_id: str) -> Any:
        return client.evals.runs.create(eval_id, name="r", data_source=source)

    before = _stored(service)
    with quota(service, max_stored_bytes=before + 15_000):
        first = run(client, of.id)
        assert 10_000 < _stored(service) - before < 11_000
        refused(lambda: run(client, of.id), "stored_bytes")
        other = service.client(key=sibling.key)
        run(other, make_eval(other).id)
        client.evals.runs.delete(first.id, eval_id=of.id)
        run(client, of.id)
    with quota(service, max_stored_bytes=_stored(service) + 10):
        refused(lambda: make_eval(client, name="of_a_full_project"), "stored_bytes")


def test_uploads_at_once_do_not_pass_the_quota_together(service: Service) -> None:
    held = count(service, "files", "deleted_at IS NULL")

    def upload(_: int) -> bool:
        try:
            _upload(service.client(max_retries=0))
        except RateLimitError:
            return False
        return True

    with quota(service, max_files=held + 3), ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(upload, range(8))) == 3


def test_jobs_that_wait(service: Service, client: OpenAI, method: Any) -> None:
    file = _upload(client, 12)
    waiting = count(service, "fine_tuning_jobs", "status IN ('validating_files', 'queued')")

    def create() -> Any:
        return client.fine_tuning.jobs.create(
            model="tiny-agent", training_file=file.id, validation_file=file.id, method=method
        )

    with quota(service, max_queued_jobs=waiting + 1):
        job = create()
        refused(create, "queued_jobs")
        client.fine_tuning.jobs.cancel(job.id)
        create()


def test_eval_runs_that_wait(service: Service, client: OpenAI) -> None:
    of = make_eval(client)
    source: Any = {"type": "jsonl", "source": content("a")}
    waiting = count(service, "eval_runs", "status = 'queued'")

    def create() -> Any:
        return client.evals.runs.create(of.id, name="r", data_source=source)

    with quota(service, max_queued_eval_runs=waiting + 1):
        run = create()
        refused(create, "queued_eval_runs")
        client.evals.runs.cancel(run.id, eval_id=of.id)
        create()


def test_output_items_of_eval_runs(service: Service, client: OpenAI) -> None:
    of = make_eval(client)
    held = "CASE WHEN status IN ('queued', 'in_progress') THEN planned_items ELSE passed END"
    query = f"SELECT coalesce(sum({held}), 0) FROM eval_runs WHERE project_id = %s"
    before = int(service.value(query, service.project_of(service.api.key)))

    def create(rows: Any) -> Any:
        source: Any = {"type": "jsonl", "source": rows}
        return client.evals.runs.create(of.id, name="r", data_source=source)

    three = content("a", "b", "c")
    with quota(service, max_eval_output_items=before + 5):
        first = create(three)
        refused(lambda: create(three), "eval_output_items")
        create(content("a", "b"))
        refused(lambda: create(content("a")), "eval_output_items")
        client.evals.runs.cancel(first.id, eval_id=of.id)  # it has made no item
        second = create(three)
        ended = "UPDATE eval_runs SET status = 'completed', passed = 3 WHERE id = %s"
        service.execute(ended, second.id)
        refused(lambda: create(content("a")), "eval_output_items")
        client.evals.runs.delete(second.id, eval_id=of.id)
        create(three)
    row = b'{"item": {"answer": "a"}}\n'
    file = client.files.create(file=("rows.jsonl", row), purpose="evals")
    with quota(service, max_eval_output_items=before + 5 + 9_999):
        refused(lambda: create({"type": "file_id", "id": file.id}), "eval_output_items")
    with quota(service, max_eval_output_items=before + 5 + 10_000):
        create({"type": "file_id", "id": file.id})


TOOL = {"server_url": "http://127.0.0.1:9/tool", "headers": {}}


@pytest.mark.parametrize(("path", "body"), [("/tools", TOOL), ("/recipes", OWN)])
def test_registered_objects(
    service: Service, client: OpenAI, path: str, body: dict[str, Any]
) -> None:
    def create(name: str) -> Any:
        return client.post(path, body={**body, "name": name}, cast_to=httpx.Response).json()

    held = service.value(
        "SELECT count(*) FROM registered_versions v JOIN registered_objects o"
        " ON (o.project_id, o.id) = (v.project_id, v.object_id)"
        " WHERE o.deleted_at IS NULL AND o.project_id = %s",
        service.project_of(service.api.key),
    )
    with quota(service, max_registered_objects=int(held) + 1):
        first = create("quota_a")
        refused(lambda: create("quota_b"), "registered_objects")
        client.delete(f"{path}/{first['id']}", cast_to=httpx.Response)
        second = create("quota_b")
    client.delete(f"{path}/{second['id']}", cast_to=httpx.Response)


async def test_chats_in_flight(service: Service, sibling: SiblingProject) -> None:
    service.engine.hang = True
    body: Any = {"model": BASE, "messages": HELLO}
    async with service.async_client() as client:
        client.max_retries = 0
        running = [
            asyncio.ensure_future(client.chat.completions.create(**body))
            for _ in range(CHATS_IN_FLIGHT)
        ]
        await until(lambda: len(service.engine.bodies) == CHATS_IN_FLIGHT)
        for stream in (False, True):
            with pytest.raises(RateLimitError, match=f"{CHATS_IN_FLIGHT} chat completions of this"):
                await client.chat.completions.create(**body, stream=stream)
        async with AsyncOpenAI(
            base_url=service.api.base_url, api_key=sibling.key, max_retries=0
        ) as other:
            neighbours = asyncio.ensure_future(other.chat.completions.create(**body))
            await until(lambda: len(service.engine.bodies) == CHATS_IN_FLIGHT + 1)
            neighbours.cancel()
            await asyncio.gather(neighbours, return_exceptions=True)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        service.engine.hang = False
        for _ in range(CHATS_IN_FLIGHT + 1):  # each stream gives its slot back
            stream_of_one = await _retried(
                lambda: client.chat.completions.create(**body, stream=True)
            )
            assert [chunk async for chunk in stream_of_one]


async def _retried(call: Callable[[], Any]) -> Any:
    """The service notices a moment later that a client hung up."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await call()
            except openai.RateLimitError:
                await asyncio.sleep(0.02)
