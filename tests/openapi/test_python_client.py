"""The Python client's own layer, over real sockets, through a proxy that injects faults."""

import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from agent_rft import (
    AgentRFT,
    AuthenticationError,
    BadRequestError,
    ConnectionFailed,
    NotFoundError,
    RateLimitError,
    ServerError,
)
from agent_rft_client.api.evals import create_eval, list_evals
from agent_rft_client.api.files import delete_file, list_files, retrieve_file
from agent_rft_client.api.fine_tuning import (
    cancel_fine_tuning_job,
    create_fine_tuning_job,
    list_fine_tuning_events,
    retrieve_fine_tuning_job,
    stream_fine_tuning_job,
)
from agent_rft_client.models.create_eval import CreateEval
from agent_rft_client.models.create_fine_tuning_job import CreateFineTuningJob
from agent_rft_client.models.deleted import Deleted
from agent_rft_client.models.eval_object import EvalObject
from agent_rft_client.models.file_object import FileObject
from agent_rft_client.models.fine_tuning_job import FineTuningJob
from agent_rft_client.models.fine_tuning_job_event import FineTuningJobEvent
from tests.support.contract.service import ROW, Service, running_service
from tests.support.stack import Services
from tests.support.web.faults import FaultProxy, fault_proxy


class Naps:
    """Instead of sleeping: what was asked for, and what happens meanwhile."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.then: Any = None

    def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        if self.then is not None:
            self.then()


@pytest.fixture(scope="module")
def service(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(services, tmp_path_factory.mktemp("contract")) as running:
        yield running


@pytest.fixture
def proxy(service: Service) -> Iterator[FaultProxy]:
    with fault_proxy(service.api.base_url.removesuffix("/v1")) as running:
        yield running


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
def client(service: Service, proxy: FaultProxy, naps: Naps) -> Iterator[AgentRFT]:
    with AgentRFT(f"{proxy.url}/v1", service.api.key, sleep=naps) as made:
        yield made


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROW * 12)
    return path


def make_job(client: AgentRFT, rows: Path) -> FineTuningJob:
    file = client.upload(rows)
    body = {
        "model": "tiny-agent",
        "training_file": file.id,
        "validation_file": file.id,
        "method": {
            "type": "reinforcement",
            "reinforcement": {"grader": {"type": "endpoint", "url": "http://127.0.0.1:9/grade"}},
        },
    }
    return client.call(
        create_fine_tuning_job.sync, FineTuningJob, body=CreateFineTuningJob.from_dict(body)
    )


@pytest.mark.parametrize("faults", [["409"], ["503", "429"], ["reset", "500"]], ids="-".join)
def test_a_call_succeeds_after_faults(
    client: AgentRFT, proxy: FaultProxy, rows: Path, faults: list[str]
) -> None:
    file = client.upload(rows)
    proxy.seen.clear()
    proxy.faults[:] = faults
    assert client.call(retrieve_file.sync, FileObject, file.id).id == file.id
    assert len(proxy.seen) == len(faults) + 1


def test_a_file_is_sent_whole_again(client: AgentRFT, proxy: FaultProxy, rows: Path) -> None:
    proxy.faults[:] = ["lost", "500"]
    file = client.upload(rows)
    assert file.bytes_ == len(ROW) * 12
    keys = {request["headers"]["idempotency-key"] for request in proxy.seen}
    assert len(proxy.seen) == 3
    assert len(keys) == 1


def test_posts_have_keys_of_their_own_and_reads_have_none(
    client: AgentRFT, proxy: FaultProxy, rows: Path
) -> None:
    first, second = client.upload(rows), client.upload(rows)
    client.call(delete_file.sync, Deleted, first.id)
    client.call(retrieve_file.sync, FileObject, second.id)
    keys = [request["headers"].get("idempotency-key") for request in proxy.seen]
    assert len({keys[0], keys[1]} - {None}) == 2
    assert keys[2:] == [None, None]


def test_a_lost_answer_makes_one_object(client: AgentRFT, proxy: FaultProxy) -> None:
    proxy.faults[:] = ["lost"]
    name = f"once {time.time_ns()}"
    check = {"type": "string_check", "name": "x", "operation": "eq", "input": "a", "reference": "a"}
    body = {
        "name": name,
        "data_source_config": {"type": "custom", "item_schema": {"type": "object"}},
        "testing_criteria": [check],
    }
    made = client.call(create_eval.sync, EvalObject, body=CreateEval.from_dict(body))
    found = [
        listed_eval.id
        for listed_eval in client.pages(list_evals.sync, EvalObject)
        if listed_eval.name == name
    ]
    assert found == [made.id]


def test_pauses_grow_and_are_requested(client: AgentRFT, proxy: FaultProxy, naps: Naps) -> None:
    proxy.retry_after = "7"
    proxy.faults[:] = ["429", "reset"]
    list(client.pages(list_files.sync, FileObject))
    assert naps.asked[0] == 7.0
    assert 0.75 <= naps.asked[1] <= 1.0
    naps.asked.clear()
    proxy.retry_after = formatdate(time.time() + 30, usegmt=True)
    proxy.faults[:] = ["503"]
    list(client.pages(list_files.sync, FileObject))
    assert 25 < naps.asked[0] <= 30


def test_a_pause_of_minutes_is_not_waited_for(
    client: AgentRFT, proxy: FaultProxy, naps: Naps
) -> None:
    proxy.retry_after = "3600"
    proxy.faults[:] = ["429"]
    with pytest.raises(RateLimitError):
        list(client.pages(list_files.sync, FileObject))
    assert naps.asked == []


def test_attempts_end_in_the_error_of_their_kind(client: AgentRFT, proxy: FaultProxy) -> None:
    for fault, kind in (("429", RateLimitError), ("500", ServerError), ("reset", ConnectionFailed)):
        proxy.seen.clear()
        proxy.faults[:] = [fault] * 3
        with pytest.raises(kind):
            list(client.pages(list_files.sync, FileObject))
        assert len(proxy.seen) == 3


def test_errors_name_their_request_and_parameter(
    service: Service, client: AgentRFT, proxy: FaultProxy
) -> None:
    with pytest.raises(NotFoundError) as missing:
        client.call(retrieve_file.sync, FileObject, "file-none")
    assert missing.value.status == 404
    assert str(missing.value.request_id).startswith("req_")
    with pytest.raises(BadRequestError) as wrong:
        list(client.pages(list_files.sync, FileObject, limit=0))
    assert wrong.value.param == "limit"
    with (
        AgentRFT(service.api.base_url, "art_wrong") as stranger,
        pytest.raises(AuthenticationError),
    ):
        list(stranger.pages(list_files.sync, FileObject))
    assert len(proxy.seen) == 2


def test_pages_are_read_as_one(
    service: Service, client: AgentRFT, proxy: FaultProxy, rows: Path
) -> None:
    job = make_job(client, rows)
    service.add_rows(job.id, events=260, checkpoints=1)
    proxy.seen.clear()
    found = list(client.pages(list_fine_tuning_events.sync, FineTuningJobEvent, job.id))
    assert len({row.id for row in found}) == len(found) >= 260
    assert len(proxy.seen) == 3


def test_events_come_in_order_and_continue_after_the_last_one_seen(
    client: AgentRFT, naps: Naps, rows: Path
) -> None:
    job = make_job(client, rows)
    stream = client.events(job.id)
    first = next(stream)
    assert first.message == f"Created fine-tuning job: {job.id}"
    naps.then = lambda: client.call(cancel_fine_tuning_job.sync, FineTuningJob, job.id)
    rest = list(stream)
    assert rest
    again = list(client.events(job.id, after=first.id))
    assert [row.id for row in again] == [row.id for row in rest]
    assert list(client.events(job.id, after=rest[-1].id)) == []


def test_the_stream_of_an_ended_job_is_read_as_text(client: AgentRFT, rows: Path) -> None:
    job = make_job(client, rows)
    client.call(cancel_fine_tuning_job.sync, FineTuningJob, job.id)
    events = list(client.events(job.id))
    text = client.call(stream_fine_tuning_job.sync, str, job.id)
    sent = [line.removeprefix("id: ") for line in text.splitlines() if line.startswith("id: ")]
    assert sent == [event.id for event in events]
    assert '"status":"cancelled"' in text


def test_a_job_is_waited_for(client: AgentRFT, naps: Naps, rows: Path) -> None:
    job = make_job(client, rows)
    naps.then = lambda: client.call(cancel_fine_tuning_job.sync, FineTuningJob, job.id)
    assert client.wait(job.id).status == "cancelled"
    assert len(naps.asked) == 1
    other = make_job(client, rows)
    naps.then = None
    with pytest.raises(TimeoutError, match=other.id):
        client.wait(other.id, timeout_s=0)
    seen = client.call(retrieve_fine_tuning_job.sync, FineTuningJob, other.id)
    assert seen.status == "validating_files"


def test_address_and_key_come_from_the_environment(
    service: Service, client: AgentRFT, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AGENT_RFT_BASE_URL", "AGENT_RFT_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", service.api.base_url)
    with pytest.raises(ValueError, match="AGENT_RFT_API_KEY"):
        AgentRFT()
    monkeypatch.setenv("AGENT_RFT_API_KEY", service.api.key)
    sent = client.upload(rows)
    with AgentRFT() as other:
        assert sent.id in [file.id for file in other.pages(list_files.sync, FileObject)]
