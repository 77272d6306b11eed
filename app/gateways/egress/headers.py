"""Headers of outbound calls: rules for customers' headers, and the headers of the service."""

import re
from collections.abc import Mapping
from typing import Final

from multidict import CIMultiDict

from app.domain.errors import EndpointRefused

_MAX_HEADER_VALUE: Final = 4096
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_RESERVED_HEADERS: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "host",
        "idempotency-key",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-attempt",
        "x-rollout-id",
    }
)
_USER_AGENT: Final = "agent-rft/1"


def check_headers(headers: Mapping[str, str]) -> None:
    """Raises `EndpointRefused` for a header that is reserved or cannot be sent safely."""
    check_syntax(headers)
    for name in headers:
        lower = name.lower()
        if lower in _RESERVED_HEADERS or lower.startswith("webhook-"):
            raise EndpointRefused(f"the header '{lower}' is set by the service")


def check_syntax(headers: Mapping[str, str]) -> None:
    """Raises `EndpointRefused` for a header that cannot be sent safely."""
    for name, value in headers.items():
        if _HEADER_NAME.fullmatch(name) is None:
            raise EndpointRefused("a header's name is not a token of letters, digits and dashes")
        if _HEADER_VALUE.fullmatch(value) is None or len(value) > _MAX_HEADER_VALUE:
            raise EndpointRefused(
                f"the value of the header '{name.lower()}' contains a control character or is "
                f"longer than {_MAX_HEADER_VALUE} characters"
            )


def all_headers(headers: Mapping[str, str]) -> CIMultiDict[str]:
    complete = CIMultiDict(headers)
    complete["Accept-Encoding"] = "identity"
    complete["Content-Type"] = "application/json"
    complete.setdefault("User-Agent", _USER_AGENT)
    return complete
