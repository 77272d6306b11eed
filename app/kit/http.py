"""Words of HTTP: classes of status codes, bearer keys, and responses under an `Idempotency-Key`."""

import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from app.kit.errors import AgentRftError, InvalidRequest

END_STREAM: Final = "end_stream"
"""Key of a request's state: the function that ends its stream when the server stops."""


def is_success(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def is_error(status: int) -> bool:
    return status >= HTTPStatus.BAD_REQUEST


def is_client_error(status: int) -> bool:
    return HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR


def is_server_error(status: int) -> bool:
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR


def has_key(authorization: str | None, key: str) -> bool:
    """Compares in a time that does not depend on the key, bytes that are no text as all others.
    No header has an empty key.
    """
    scheme, _, token = (authorization or "").partition(" ")
    sent = token.strip().encode(errors="surrogateescape")
    return bool(key) and scheme.lower() == "bearer" and hmac.compare_digest(sent, key.encode())


SEALED_RESPONSE: Final = "idempotency:"
"""Beginning of the id of the row to which a sealed response is bound; its key follows."""
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    content_type: str
    body: bytes

    @property
    def is_storable(self) -> bool:
        """True for a success; a refused request may be sent again under its key."""
        return is_success(self.status)


class RepeatedRequest(AgentRftError):
    def __init__(self, response: HttpResponse) -> None:
        super().__init__("answered before")
        self.response = response


def check_key(key: str) -> str:
    if _KEY.fullmatch(key) is None:
        raise InvalidRequest(
            "Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.",
            param="Idempotency-Key",
            code="invalid_idempotency_key",
        )
    return key


def fingerprint_of_json(method: str, target: str, body: bytes) -> bytes:
    """The order of keys and white space in the body do not count. `target`: path and query."""
    return _digest(method, target, json.loads(body) if body else None)


def fingerprint_of_form(method: str, target: str, fields: dict[str, str], sha256: str) -> bytes:
    """The boundary of a form with one file differs with every attempt, and does not count."""
    return _digest(method, target, {"fields": fields, "content": sha256})


def _digest(method: str, target: str, content: Any) -> bytes:
    text = json.dumps([method, target, content], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
