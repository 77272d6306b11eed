"""In-memory twins of outside services."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from app.http.rate_limits import Quota
from app.kit.addresses import read_url
from app.kit.egress import EgressFailure, EgressReply, EgressRequest, FailureKind
from app.kit.errors import EndpointRefused
from app.kit.job_queue import CONTROL_QUEUE, RUNS_QUEUE


@dataclass(slots=True)
class InMemoryEgress:
    """A script returns replies or raises, and every request is recorded."""

    script: Callable[[EgressRequest], EgressReply]
    refused: Iterable[str] = ()
    sent: list[EgressRequest] = field(default_factory=list)

    async def check_url(self, url: str) -> None:
        read_url(url)
        if url in self.refused:
            raise EndpointRefused("the URL's host is not a public address")

    async def send(self, request: EgressRequest) -> EgressReply:
        self.sent.append(request)
        if request.url in self.refused:
            raise EgressFailure(FailureKind.REFUSED, "not dialled: not a public address")
        return self.script(request)

    async def aclose(self) -> None:
        return None


class InMemoryJobQueue:
    """Records the messages."""

    def __init__(self) -> None:
        self.runs: list[str] = []
        self.evals: list[str] = []
        self.exports: list[str] = []
        self.deliveries = 0
        self.unavailable = False
        self.queues = frozenset({RUNS_QUEUE, CONTROL_QUEUE})

    async def enqueue_run(self, job_id: str) -> None:
        self.runs.append(job_id)

    async def enqueue_eval(self, run_id: str) -> None:
        self.evals.append(run_id)

    async def enqueue_export(self, export_id: str) -> None:
        self.exports.append(export_id)

    async def enqueue_deliveries(self) -> None:
        self.deliveries += 1

    async def unread(self, queue: str) -> int | None:
        if self.unavailable:
            return None
        return len(self.runs if queue == RUNS_QUEUE else self.evals)

    async def answers(self) -> bool:
        return not self.unavailable

    async def attended(self) -> frozenset[str]:
        return frozenset() if self.unavailable else self.queues

    async def aclose(self) -> None:
        return None


class InMemoryRateLimits:
    """For one process, with a clock that does not move."""

    def __init__(self, requests_per_minute: int, *, reset_s: float = 30.0) -> None:
        self._limit = requests_per_minute
        self._reset_s = reset_s
        self.used: dict[str, int] = {}

    async def take(self, owner: str, *, limit: int | None = None) -> Quota | None:
        self.used[owner] = self.used.get(owner, 0) + 1
        if not self._limit:
            return None
        return Quota(limit or self._limit, self.used[owner], self._reset_s)

    async def aclose(self) -> None:
        return None
