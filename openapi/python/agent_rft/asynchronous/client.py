"""The client: keys from the environment, pages as one sequence, files, jobs to wait for."""

import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
from anyio import sleep

from agent_rft.arguments import path_part
from agent_rft.asynchronous.transport import AsyncRetryingTransport
from agent_rft.errors import ConnectionFailed
from agent_rft.pauses import AsyncPause
from agent_rft.presentation import warn_of
from agent_rft_client.api.fine_tuning import (
    list_fine_tuning_events,
    retrieve_fine_tuning_job,
)
from agent_rft_client.client import AuthenticatedClient
from agent_rft_client.models.file_object import FileObject
from agent_rft_client.models.fine_tuning_job import FineTuningJob
from agent_rft_client.models.fine_tuning_job_event import FineTuningJobEvent

FINAL = frozenset({"succeeded", "failed", "cancelled"})
_PAGE = 100
_Answer = TypeVar("_Answer")


_Item = TypeVar("_Item")


class AsyncAgentRFT:
    """`api` goes to any call of `agent_rft_client.api`; `call` does so and types the answer.

    Without arguments the address and the key are those of AGENT_RFT_BASE_URL and AGENT_RFT_API_KEY,
    else of OPENAI_BASE_URL and OPENAI_API_KEY.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        retries: int = 2,
        timeout_s: float = 600.0,
        sleep: AsyncPause = sleep,
    ) -> None:
        address = self._address = base_url or _environment("BASE_URL")
        transport = AsyncRetryingTransport(httpx.AsyncHTTPTransport(), retries=retries, sleep=sleep)
        self._sleep = sleep
        self.api = AuthenticatedClient(
            # Calls name the whole path, so the address is that of the server.
            base_url=address.rstrip("/").removesuffix("/v1"),
            token=api_key or _environment("API_KEY"),
            timeout=httpx.Timeout(timeout_s, connect=5.0),
            httpx_args={"transport": transport},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def pause(self, seconds: float) -> None:
        """Sleeps between two looks at an object."""
        await self._sleep(seconds)

    async def aclose(self) -> None:
        await self.api.get_async_httpx_client().aclose()

    async def call(
        self, operation: Callable[..., Any], answer: type[_Answer], *path: str, **given: Any
    ) -> _Answer:
        """Makes a call of `agent_rft_client.api`, whose answer is of the type named.

        Raises `APIError` for an answer other than success, `ConnectionFailed` for none.
        """
        found = await operation(*map(path_part, path), client=self.api, **given)
        if found is None:
            raise ConnectionFailed(
                f"{self._address} gave no answer of this service, such as a redirect: is it the "
                "right base URL?"
            )
        if not isinstance(found, answer):
            raise TypeError(f"expected {answer.__name__}, not {type(found).__name__}")
        warn_of(found)
        return found

    async def pages(
        self, operation: Callable[..., Any], row: type[_Item], *path: str, **given: Any
    ) -> AsyncIterator[_Item]:
        """Yields every row of a list call, page by page on demand."""
        given.setdefault("limit", _PAGE)
        parts = [path_part(part) for part in path]
        while True:
            page = await operation(*parts, client=self.api, **given)
            for one in page.data:
                if not isinstance(one, row):
                    raise TypeError(f"expected {row.__name__}, not {type(one).__name__}")
                yield one
            if not page.has_more or not page.data:
                return
            given["after"] = page.last_id

    async def upload(self, path: str | Path, *, purpose: str = "fine-tune") -> FileObject:
        """Sends a file from disk without holding it in memory."""
        path = Path(path)
        with path.open("rb") as file:  # noqa: ASYNC230 - httpx reads a form by blocking calls
            reply = await self.api.get_async_httpx_client().post(
                "/v1/files", data={"purpose": purpose}, files={"file": (path.name, file)}
            )
        return FileObject.from_dict(reply.json())

    async def wait(
        self, job_id: str, *, timeout_s: float | None = None, poll_s: float = 2.0
    ) -> FineTuningJob:
        """Returns the job once it has ended or was paused; raises `TimeoutError` when that takes
        longer.
        """
        give_up_at = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            job = await self.call(retrieve_fine_tuning_job.asyncio, FineTuningJob, job_id)
            if job.status in FINAL or job.status == "paused":
                return job
            if give_up_at is not None and time.monotonic() > give_up_at:
                raise TimeoutError(f"{job_id} is still {job.status}")
            await self._sleep(poll_s)

    async def events(
        self, job_id: str, *, after: str | None = None, poll_s: float = 2.0
    ) -> AsyncIterator[FineTuningJobEvent]:
        """Events in order until the job ends; `after` is the id of the last one already seen."""
        while True:
            # The state is read first: what happens after that is in the list already.
            job = await self.call(retrieve_fine_tuning_job.asyncio, FineTuningJob, job_id)
            fresh = await self._events_since(job_id, after)
            for event in fresh:
                yield event
            after = fresh[-1].id if fresh else after
            if job.status in FINAL:
                return
            await self._sleep(poll_s)

    async def _events_since(self, job_id: str, last: str | None) -> list[FineTuningJobEvent]:
        """Lists run from the newest back; what is wanted runs the other way."""
        fresh: list[FineTuningJobEvent] = []
        async for one in self.pages(list_fine_tuning_events.asyncio, FineTuningJobEvent, job_id):
            if one.id == last:
                break
            fresh.append(one)
        return fresh[::-1]


def _environment(name: str) -> str:
    for prefix in ("AGENT_RFT", "OPENAI"):
        if value := os.environ.get(f"{prefix}_{name}"):
            return value
    raise ValueError(f"set AGENT_RFT_{name}, or pass it to AgentRFT()")
