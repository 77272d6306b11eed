"""Embeddings of texts, in batches, from the operator's server."""

import asyncio
import base64
import hashlib
import json
import math
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import mul
from typing import TYPE_CHECKING, Any, Final, Protocol

from app.kit.egress import EgressReply
from app.kit.endpoints import CallSigner, EndpointFault, EndpointRequest, FaultKind
from app.kit.http import is_success
from app.models.chat import reported_tokens

if TYPE_CHECKING:  # definitions of graders read this module, and the settings load much
    from app.kit.endpoint_pool import EndpointPool
    from app.settings import EmbeddingSettings

REFUSED_TEXTS: Final = frozenset({400, 413, 422})
_FLOAT_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class Embedding:
    """The direction of a text, of length 1."""

    numbers: "array[float]"
    tokens: int = 0
    """Tokens that the server counted for it; 0 for a cached one."""

    def cosine(self, other: "Embedding") -> float | None:
        if len(self.numbers) != len(other.numbers):
            return None
        return min(1.0, max(-1.0, math.fsum(map(mul, self.numbers, other.numbers))))


def reader_of(count: int) -> Callable[[EgressReply], list[Embedding] | int]:
    def read(reply: EgressReply) -> list[Embedding] | int:
        if reply.status in REFUSED_TEXTS:
            return reply.status
        if not is_success(reply.status):
            kind = FaultKind.ERROR
            raise EndpointFault(kind, f"answered {reply.status}", status=reply.status)
        return _embeddings(reply, count)

    return read


def _embeddings(reply: EgressReply, count: int) -> list[Embedding]:
    content: Any = None
    entries = dict[int, Any]()
    try:
        content = json.loads(reply.body)
        entries = {entry["index"]: entry["embedding"] for entry in content["data"]}
        sent = [entries[index] for index in range(count)]
        numbers = [unit_vector(_decoded(one) if isinstance(one, str) else one) for one in sent]
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        numbers = []
    if len(numbers) != count or len(numbers) != len(entries):
        raise EndpointFault(FaultKind.BAD_REPLY, f"gave no list of {count} embeddings")
    tokens = reported_tokens(content.get("usage"), "prompt_tokens")
    return [
        Embedding(direction, tokens // count + (index < tokens % count))
        for index, direction in enumerate(numbers)
    ]


def unit_vector(numbers: Iterable[float]) -> "array[float]":
    """Returns the numbers scaled to length 1. Raises `ValueError` if they have no direction."""
    numbers = array("d", numbers)
    length = math.hypot(*numbers)
    if not math.isfinite(length) or length == 0:
        raise ValueError("an embedding has no direction")
    return array("d", (number / length for number in numbers))


def _decoded(text: str) -> "array[float]":
    raw = base64.b64decode(text, validate=True)
    if len(raw) % _FLOAT_BYTES:
        raise ValueError("an embedding is cut")
    return array("d", memoryview(raw).cast("f"))


NOT_CONFIGURED: Final = (
    "'cosine' needs embeddings, and this installation has none: its operator sets "
    "AGENT_RFT_EMBEDDINGS__BASE_URL and AGENT_RFT_EMBEDDINGS__MODEL to an OpenAI-compatible server"
)
_BATCH: Final = 16
_BATCH_CHARACTERS: Final = 131_072
_GATHER_S: Final = 0.005
_KEPT: Final = 2_048


class EmbeddingFault(Exception):
    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Embeddings(Protocol):
    @property
    def model(self) -> str:
        """Returns the name of the model, for the count of its tokens."""

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Returns the embedding of each text, none of which is blank. Raises `EmbeddingFault`."""


@dataclass(frozen=True, slots=True)
class NoEmbeddings:
    model: str = ""

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:  # noqa: ARG002 - the protocol's signature
        raise EmbeddingFault(FaultKind.REFUSED, NOT_CONFIGURED)


@dataclass(frozen=True, slots=True)
class _EmbeddingRequest:
    key: bytes
    text: str
    answer: "asyncio.Future[Embedding]"


class BatchedEmbeddings:
    def __init__(
        self, settings: "EmbeddingSettings", endpoints: "EndpointPool", signer: CallSigner
    ) -> None:
        self._settings = settings
        self._endpoint = endpoints.endpoint(f"{settings.base_url.rstrip('/')}/embeddings")
        self._signer = signer
        self._kept: OrderedDict[bytes, Embedding] = OrderedDict()
        self._pending: dict[bytes, _EmbeddingRequest] = {}
        self._queue: deque[_EmbeddingRequest] = deque()
        self._tasks = set[asyncio.Task[None]]()

    @property
    def model(self) -> str:
        return self._settings.model

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        return await asyncio.gather(*(self._embedding(text) for text in texts))

    async def _embedding(self, text: str) -> Embedding:
        key = hashlib.sha256(_bytes(text)).digest()
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept
        # The shield is for other callers, who wait for the same text when this one is cancelled.
        asked = self._pending.get(key)
        if asked is not None:
            return replace(await asyncio.shield(asked.answer), tokens=0)
        return await asyncio.shield(self._enqueue(key, text).answer)

    def _enqueue(self, key: bytes, text: str) -> _EmbeddingRequest:
        asked = _EmbeddingRequest(key, text, asyncio.get_running_loop().create_future())
        self._pending[key] = asked
        self._queue.append(asked)
        if len(self._queue) == 1:
            self._start(self._send_queue())
        return asked

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send_queue(self) -> None:
        await asyncio.sleep(_GATHER_S)
        while self._queue:
            batch = [self._queue.popleft()]
            characters = len(batch[0].text)
            while self._queue and len(batch) < _BATCH:
                characters += len(self._queue[0].text)
                if characters > _BATCH_CHARACTERS:
                    break
                batch.append(self._queue.popleft())
            self._start(self._answer(batch))

    async def _answer(self, batch: Sequence[_EmbeddingRequest]) -> None:
        try:
            answers = await self._request([asked.text for asked in batch])
            if answers is None:  # one of them is refused: each is asked for alone
                await asyncio.gather(*(self._answer([asked]) for asked in batch))
                return
        except EndpointFault as fault:
            self._fail(batch, EmbeddingFault(fault.kind, fault.message))
            return
        except Exception as error:
            self._fail(batch, error)
            raise
        for asked, embedding in zip(batch, answers, strict=True):
            self._kept[asked.key] = replace(embedding, tokens=0)
            del self._pending[asked.key]
            asked.answer.set_result(embedding)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def _fail(self, batch: Sequence[_EmbeddingRequest], fault: BaseException) -> None:
        for asked in batch:
            if self._pending.pop(asked.key, None) is not None:
                asked.answer.set_exception(fault)
                asked.answer.exception()  # marks it as seen: all that waited may be cancelled

    async def _request(self, texts: list[str]) -> list[Embedding] | None:
        body = _bytes(json.dumps({"model": self.model, "input": texts}, ensure_ascii=False))
        digest = hashlib.sha256(body).hexdigest()
        key = self._settings.api_key.get_secret_value()
        request = EndpointRequest(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            body=body,
            call_id=f"embed_{digest[:24]}",
            trace_id=f"trace_{digest[:32]}",
        )
        try:
            answer = await self._endpoint.call(request, reader_of(len(texts)), signer=self._signer)
        except EndpointFault as fault:
            if fault.kind is FaultKind.TOO_LARGE and len(texts) > 1:
                return None
            raise
        if isinstance(answer.value, list):
            return answer.value
        if len(texts) > 1:
            return None
        raise EndpointFault(FaultKind.ERROR, f"refused the text with {answer.value}")


def build_embeddings(
    settings: "EmbeddingSettings | None", endpoints: "EndpointPool", signer: CallSigner
) -> Embeddings:
    return NoEmbeddings() if settings is None else BatchedEmbeddings(settings, endpoints, signer)


def _bytes(text: str) -> bytes:
    return text.encode(errors="replace")
