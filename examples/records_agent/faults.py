"""Failures on purpose, to see how a training platform copes with a bad endpoint.

Owns which requests fail. Promises that the choice is a function of the request's ids alone: the
same calls fail in every run. With key `call`, a call that fails does so on every retry, so its
rollout is lost; with key `attempt`, each retry is drawn anew and most calls get through in the end.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

Key = Literal["call", "attempt"]
Where = Literal["tools", "grade", "both"]


@dataclass(frozen=True, slots=True)
class Faults:
    """`share` of requests (0 to 1) to `where` answered with `status` instead of a result."""

    share: float = 0.0
    status: int = 500
    key: Key = "call"
    where: Where = "tools"

    def strikes(self, path: str, request_id: str, attempt: str) -> bool:
        """`request_id` is the same for all retries of a request, `attempt` is not."""
        if self.share <= 0 or self.where not in {path.strip("/"), "both"}:
            return False
        drawn_from = request_id if self.key == "call" else f"{request_id}:{attempt}"
        digest = hashlib.sha256(drawn_from.encode()).digest()
        return int.from_bytes(digest[:8]) / 2**64 < self.share
