"""Replies of an embedding server, in the form of the OpenAI API: numbers, or their base64.

Owns the checks of a reply: one finite, directed embedding for each text. Must not know the server.
"""

import base64
import json
import math
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import mul
from typing import Any, Final

from app.domain.http.reported_tokens import reported_tokens
from app.domain.http.status import is_success
from app.gateways.egress.egress import EgressReply
from app.gateways.endpoints.calls import EndpointFault, FaultKind

REFUSED_TEXTS: Final = frozenset({400, 413, 422})
"""Statuses which mean that a text of the request cannot be embedded."""
_FLOAT_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class Embedding:
    """The direction of a text, of length 1."""

    numbers: "array[float]"
    tokens: int = 0
    """Tokens that the server counted for it; 0 for a cached one."""

    def cosine(self, other: "Embedding") -> float | None:
        """Returns the cosine of the angle between both; `None` for embeddings of different
        models.
        """
        if len(self.numbers) != len(other.numbers):
            return None
        return min(1.0, max(-1.0, math.fsum(map(mul, self.numbers, other.numbers))))


def reader_of(count: int) -> Callable[[EgressReply], list[Embedding] | int]:
    """Returns a reader of replies to `count` texts; it returns the status of a refused text."""

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
        numbers = [_direction(entries[index]) for index in range(count)]
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        numbers = []
    if len(numbers) != count or len(numbers) != len(entries):
        raise EndpointFault(FaultKind.BAD_REPLY, f"gave no list of {count} embeddings")
    tokens = reported_tokens(content.get("usage"), "prompt_tokens")
    return [
        Embedding(direction, tokens // count + (index < tokens % count))
        for index, direction in enumerate(numbers)
    ]


def _direction(sent: Any) -> "array[float]":
    return unit_vector(_decoded(sent) if isinstance(sent, str) else array("d", sent))


def unit_vector(numbers: Iterable[float]) -> "array[float]":
    """Returns the numbers scaled to length 1. Raises `ValueError` for numbers without a
    direction.
    """
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
