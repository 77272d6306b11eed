"""Calls of the unmodified Python client that fail on the way: its retries and its errors."""

import time
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from tests.support.contract.service import Service
from tests.support.web.faults import FaultProxy, fault_proxy


@pytest.fixture(scope="module")
def proxy(service: Service) -> Iterator[FaultProxy]:
    with fault_proxy(service.api.base_url.removesuffix("/v1")) as running:
        running.retry_after = "0.02"
        yield running


def behind(proxy: FaultProxy, service: Service, **options: Any) -> OpenAI:
    return OpenAI(base_url=f"{proxy.url}/v1", api_key=service.api.key, **options)


def new_job(client: OpenAI, job: Any, run: str, *, method: dict[str, Any], **options: Any) -> Any:
    """Creates a job with the files of `job`, marked with `run`. `method` is the one that was sent
    for it: the job's own shows headers redacted, which a new job refuses.
    """
    create: Any = client.fine_tuning.jobs.create
    return create(
        model="tiny-agent",
        training_file=job.training_file,
        validation_file=job.training_file,
        method=method,
        metadata={"run": run},
        **options,
    )


def jobs_of(service: Service, run: str) -> list[str]:
    return [
        listed_job.id
        for listed_job in service.client().fine_tuning.jobs.list(metadata={"run": run})
    ]


@pytest.mark.parametrize(
    "faults",
    [
        ("408",),
        ("409",),
        ("429",),
        ("500",),
        ("503",),
        ("unread",),
        ("reset",),
        ("lost",),
        ("cut",),
        ("429", "500"),
        ("cut", "503"),
    ],
    ids=" ".join,
)
def test_a_call_succeeds_after(service: Service, proxy: FaultProxy, faults: tuple[str]) -> None:
    proxy.inject(*faults)
    listed = behind(proxy, service).models.list()
    assert listed.data[0].object == "model"
    assert len(proxy.seen) == len(faults) + 1
    counts = [request["headers"]["x-stainless-retry-count"] for request in proxy.seen]
    assert counts == [str(number) for number in range(len(faults) + 1)]
    assert proxy.faults == []


def test_a_file_is_sent_whole_again(service: Service, proxy: FaultProxy) -> None:
    rows = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 5000
    proxy.inject("500", "unread")
    file = behind(proxy, service).files.create(file=rows, purpose="fine-tune")
    assert len(proxy.seen) == 3
    assert service.client().files.content(file.id).read() == rows


def test_it_waits_as_long_as_the_header_requests(service: Service, proxy: FaultProxy) -> None:
    client = behind(proxy, service)
    for reported, least, most in (("1.2", 1.2, 2.5), ("0.05", 0.05, 0.35), ("-", 0.35, 1.5)):
        proxy.inject(f"429 {reported}")
        client.models.list()
        first, second = proxy.seen
        assert least <= second["at"] - first["at"] < most, reported


@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        ("408", openai.APIStatusError, 408),
        ("409", openai.ConflictError, 409),
        ("422", openai.UnprocessableEntityError, 422),
        ("429", openai.RateLimitError, 429),
        ("500", openai.InternalServerError, 500),
        ("503", openai.InternalServerError, 503),
    ],
)
def test_without_retries_a_status_is_its_class(
    service: Service, proxy: FaultProxy, fault: str, kind: type[openai.APIStatusError], status: int
) -> None:
    proxy.inject(fault)
    with pytest.raises(kind) as raised:
        behind(proxy, service, max_retries=0).models.list()
    assert type(raised.value) is kind
    assert (raised.value.status_code, raised.value.request_id) == (status, "req_injected")
    assert len(proxy.seen) == 1


@pytest.mark.parametrize("fault", ["unread", "reset", "lost", "cut"])
async def test_without_retries_a_broken_connection_raises(
    service: Service, proxy: FaultProxy, fault: str
) -> None:
    proxy.inject(fault)
    with pytest.raises(openai.APIConnectionError):
        behind(proxy, service, max_retries=0).models.list()
    proxy.inject(fault)
    options: Any = {"base_url": f"{proxy.url}/v1", "api_key": service.api.key, "max_retries": 0}
    async with AsyncOpenAI(**options) as client:
        with pytest.raises(openai.APIConnectionError):
            await client.models.list()
    assert len(proxy.seen) == 1


def test_a_late_answer_is_a_timeout(service: Service, proxy: FaultProxy) -> None:
    proxy.inject("slow 3600")
    began = time.monotonic()
    with pytest.raises(openai.APITimeoutError):
        behind(proxy, service, max_retries=0, timeout=0.3).models.list()
    assert time.monotonic() - began >= 0.3
    proxy.inject("slow 3600")
    # On a busy machine the answer itself may be late: the client asks until it is there.
    assert behind(proxy, service, max_retries=50, timeout=0.5).models.list().data
    assert len(proxy.seen) >= 2


def test_retries_end_with_the_last_fault(service: Service, proxy: FaultProxy) -> None:
    client = behind(proxy, service)
    for faults, kind in (
        (("429", "500", "429"), openai.RateLimitError),
        (("reset", "429", "503"), openai.InternalServerError),
        (("429", "503", "reset"), openai.APIConnectionError),
    ):
        proxy.inject(*faults)
        with pytest.raises(kind):
            client.models.list()
        assert len(proxy.seen) == 3


def test_a_4xx_reply_is_not_retried(service: Service, proxy: FaultProxy, job: Any) -> None:
    client = behind(proxy, service)
    client.fine_tuning.jobs.cancel(job.id)
    calls: list[tuple[type[openai.APIStatusError], Any]] = [
        (openai.BadRequestError, lambda: client.fine_tuning.jobs.cancel(job.id)),
        (openai.BadRequestError, lambda: client.fine_tuning.jobs.resume(job.id)),
        (openai.NotFoundError, lambda: client.files.retrieve("file-none")),
        (openai.BadRequestError, lambda: client.files.list(limit=0)),
    ]
    for kind, call in calls:
        proxy.inject()
        with pytest.raises(kind):
            call()
        assert len(proxy.seen) == 1


@pytest.mark.parametrize("fault", ["lost", "cut"])
def test_a_lost_answer_makes_two_jobs_without_a_key(
    service: Service, proxy: FaultProxy, job: Any, method: dict[str, Any], fault: str
) -> None:
    """The client sends no `Idempotency-Key` by itself: the hosted service made two as well."""
    run = f"twice-{fault}-{job.id}"
    proxy.inject(fault)
    made = new_job(behind(proxy, service), job, run, method=method)
    assert [request["method"] for request in proxy.seen] == ["POST", "POST"]
    assert not any("idempotency-key" in request["headers"] for request in proxy.seen)
    found = jobs_of(service, run)
    assert len(found) == 2
    assert found[0] == made.id


@pytest.mark.parametrize("fault", ["unread", "reset"])
def test_a_lost_request_makes_one_job(
    service: Service, proxy: FaultProxy, job: Any, method: dict[str, Any], fault: str
) -> None:
    run = f"never-{fault}-{job.id}"
    proxy.inject(fault)
    made = new_job(behind(proxy, service), job, run, method=method)
    assert len(proxy.seen) == 2
    assert jobs_of(service, run) == [made.id]


@pytest.mark.parametrize("faults", [("lost",), ("cut",), ("lost", "cut"), ("500", "lost")])
def test_with_a_key_there_is_one_job_however_often_it_was_requested(
    service: Service, proxy: FaultProxy, job: Any, method: dict[str, Any], faults: tuple[str, ...]
) -> None:
    run = f"once-{'-'.join(faults)}-{job.id}"
    proxy.inject(*faults)
    key = {"Idempotency-Key": run}
    made = new_job(behind(proxy, service), job, run, method=method, extra_headers=key)
    assert len(proxy.seen) == len(faults) + 1
    assert {request["headers"]["idempotency-key"] for request in proxy.seen} == {run}
    assert jobs_of(service, run) == [made.id]
    assert new_job(service.client(), job, run, method=method, extra_headers=key) == made
    assert jobs_of(service, run) == [made.id]
