"""Every method of the unmodified Python client, each in its four ways, and each answer whole.

The methods are found in the client: one that comes with a later release and has no call makes
this fail.
"""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import openai
import pytest
from openai import OpenAI
from typing_extensions import override

from tests.support.contract.calls import CALLS, World
from tests.support.contract.client_methods import assert_whole, found_methods, invoke, method_of
from tests.support.contract.evals import make, run_worker, sampled
from tests.support.contract.service import BASE, HOOK_PORT, Service
from tests.support.contract.shapes import faults

ROOTS = ("files", "uploads", "fine_tuning", "models", "evals", "webhooks")
# Made of several requests by the client itself: no raw answer exists.
COMPOSED = {"files.wait_for_processing", "uploads.upload_file_chunked"}
# No request at all.
LOCAL = {"webhooks.unwrap", "webhooks.verify_signature"}


METHODS = sorted(found_methods(OpenAI(api_key="none"), ROOTS))

REQUESTS = [path for path in METHODS if path not in COMPOSED | LOCAL]


@pytest.fixture(scope="module")
def received() -> Iterator[list[tuple[dict[str, str], bytes]]]:
    taken: list[tuple[dict[str, str], bytes]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            taken.append((dict(self.headers.items()), body))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        @override
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", HOOK_PORT), Receiver) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield taken
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def world(service: Service, received: list[tuple[dict[str, str], bytes]]) -> World:
    service.engine.models = {BASE}
    client = service.client()
    project = service.project_of(service.api.key)
    bare = World(service, client, project)
    job_id = bare.made_job()
    service.add_rows(job_id, events=2, checkpoints=2)
    model = f"ft:{BASE}:first::methods1"
    service.add_tuned_model(job_id, model, "methods1")
    of = make(client)
    run = client.evals.runs.create(of.id, data_source=sampled("hello"))
    run_worker(service, run.id)
    (item,) = client.evals.runs.output_items.list(run.id, eval_id=of.id).data
    return World(
        service=service,
        client=client,
        project=project,
        siblings=service.add_projects(project, 2),
        job_id=job_id,
        model=model,
        eval_id=of.id,
        run_id=run.id,
        item_id=item.id,
        received=received,
    )


def test_every_method_of_the_client_has_a_call() -> None:
    assert [path for path in METHODS if path not in CALLS] == []
    if openai.__version__.startswith("3."):
        assert [path for path in CALLS if path not in METHODS] == []


@pytest.mark.parametrize("path", METHODS)
def test_it_is_called(world: World, path: str) -> None:
    answer = invoke(method_of(world.client, path), CALLS[path](world))
    assert_whole(answer, path)


@pytest.mark.parametrize("path", METHODS)
async def test_it_is_called_by_the_async_client(world: World, path: str) -> None:
    async with world.service.async_client() as client:
        answer = invoke(method_of(client, path), CALLS[path](world))
        answer = answer if path in LOCAL else await answer
        assert_whole(answer, path)


@pytest.mark.parametrize("path", REQUESTS)
def test_its_raw_answer_is_read(world: World, path: str) -> None:
    raw = invoke(method_of(world.client, path, "with_raw_response"), CALLS[path](world))
    assert raw.status_code in {200, 201}
    assert raw.headers["x-request-id"].startswith("req_")
    assert int(raw.headers["openai-processing-ms"]) >= 0
    assert_whole(raw.parse(), path)


@pytest.mark.parametrize("path", REQUESTS)
def test_its_streamed_answer_is_read(world: World, path: str) -> None:
    streaming = method_of(world.client, path, "with_streaming_response")
    with invoke(streaming, CALLS[path](world)) as reply:
        assert reply.status_code in {200, 201}
        assert reply.headers["x-request-id"].startswith("req_")
        if path == "files.content":
            assert b"".join(reply.iter_bytes()).startswith(b'{"messages"')
        else:
            assert_whole(reply.parse(), path)


def test_what_is_missing_or_mistyped_is_found() -> None:
    """The judge itself."""
    file = {"id": "f", "bytes": 1, "created_at": 1, "filename": "a", "object": "file"}
    file |= {"purpose": "fine-tune", "status": "processed"}
    build: Any = openai.types.FileObject.construct
    assert faults(build(**file)) == []
    assert faults(build(**file | {"bytes": "x"})) == [
        "bytes: Input should be a valid integer, unable to parse string as an integer"
    ]
    del file["filename"]
    assert faults(build(**file)) == ["filename: Field required", "filename: absent"]
    page: Any = openai.pagination.SyncCursorPage[openai.types.FileObject].construct
    assert "filename: absent" in faults(page(data=[file], has_more=False))
