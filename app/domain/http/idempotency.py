"""Describes a request that may be sent twice: its key, its fingerprint and its response.

Source of the header: draft-ietf-httpapi-idempotency-key-header-07. Pure. Must not know HTTP routes
or rows.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Final

from app.domain.errors import AgentRftError, InvalidRequest
from app.domain.http.status import is_success

SEALED_RESPONSE: Final = "idempotency:"
"""Beginning of the id of the row to which a sealed response is bound; its key follows."""
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response as it was sent; a replay sends the same bytes."""

    status: int
    content_type: str
    body: bytes

    @property
    def is_storable(self) -> bool:
        """True for a success; a refused request may be sent again under its key."""
        return is_success(self.status)


class RepeatedRequest(AgentRftError):
    """Raised when the same request was answered before; carries the stored response."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__("answered before")
        self.response = response


def check_key(key: str) -> str:
    """Raises `InvalidRequest`."""
    if _KEY.fullmatch(key) is None:
        raise InvalidRequest(
            "Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.",
            param="Idempotency-Key",
            code="invalid_idempotency_key",
        )
    return key


def fingerprint_of_json(method: str, target: str, body: bytes) -> bytes:
    """Returns the SHA-256 of a request; the order of keys and white space in the body do not count.
    `target` is path and query.
    """
    content = json.loads(body) if body else None
    return _digest(method, target, content)


def fingerprint_of_form(method: str, target: str, fields: dict[str, str], sha256: str) -> bytes:
    """Returns the SHA-256 of a form with one file: its boundary differs with every attempt, and
    does not count.
    """
    return _digest(method, target, {"fields": fields, "content": sha256})


def _digest(method: str, target: str, content: Any) -> bytes:
    text = json.dumps([method, target, content], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
