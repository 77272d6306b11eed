"""A scripted embedding server, whose vectors count the words of a text."""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

from tests.support.endpoints import ReceivedRequest, Reply

DIMENSIONS = 16
TOKENS = 3
"""Tokens that it counts for each text."""


def vector_of(text: str) -> list[float]:
    """Returns a vector of length 1: texts without common words are (nearly always) orthogonal."""
    counts = [0.0] * DIMENSIONS
    for word in text.split():
        counts[hashlib.sha256(word.encode(errors="replace")).digest()[0] % DIMENSIONS] += 1
    length = math.hypot(*counts)
    return [count / length for count in counts]


def embedded(texts: Sequence[str]) -> dict[str, Any]:
    data = [
        {"object": "embedding", "index": index, "embedding": [3 * x for x in vector_of(text)]}
        for index, text in enumerate(texts)
    ]
    used = TOKENS * len(texts)
    return {"data": data, "usage": {"prompt_tokens": used, "total_tokens": used}}


def embeds(received: ReceivedRequest) -> Reply:
    return Reply(json=embedded(received.json["input"]))
