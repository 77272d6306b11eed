"""Says what an endpoint answered in place of a usable reply: its owner has to find the cause."""

import json
import re
import sys
from http import HTTPStatus
from itertools import islice
from typing import Any, Final, assert_never

from app.kit.egress import EgressReply
from app.kit.endpoints import EndpointFault, FaultKind
from app.kit.http import is_error, is_success
from app.kit.redaction import shown_url

CREDENTIALS_REFUSED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
"""No words of a model cause them: the job's key is wrong."""
WRONG_ADDRESS: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})
_MEDIA_TYPE: Final = re.compile(r"[\w.+-]{1,40}/[\w.+-]{1,60}")
_NAME: Final = re.compile(r"\w{1,40}")
_MOST_NAMES: Final = 5
_QUOTED_BYTES: Final = 32_768
"""A credential of 4,096 characters that begins among the shown ones is whole in it, escaped too."""
_LONGEST_ADDRESS: Final = 500


def error_reply(reply: EgressReply, cure: str = "") -> EndpointFault:
    """Returns the fault of an error status; `cure` is a clause."""
    words = f"answered {reply.status}{cure and f': {cure}'} ({_media_type(reply)})"
    return EndpointFault(FaultKind.ERROR, words, status=reply.status, quoted=_quoted(reply))


def wrong_reply(reply: EgressReply, wanted: str, key: str) -> EndpointFault:
    """Returns the fault of a reply without `key`; `wanted` says what it has to be, as `a text`."""
    if is_error(reply.status):
        return error_reply(reply)
    words = f"answered {reply.status} without {wanted} `{key}`"
    if not is_success(reply.status):
        return EndpointFault(FaultKind.BAD_REPLY, f"{words}: {_redirect(reply)}")
    words = f"{words}: {_found(reply.body, key)} ({_media_type(reply)})"
    return EndpointFault(FaultKind.BAD_REPLY, words, quoted=_quoted(reply))


def _redirect(reply: EgressReply) -> str:
    location = shown_url(reply.headers.get("location", ""))
    # A text that is cut could end in a part of a credential.
    where = location if len(location) <= _LONGEST_ADDRESS else "a long address"
    return f"redirects are not followed (Location: {where or 'none'})"


def _found(body: bytes, key: str) -> str:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        return f"the body is {_unread(body, error)}"
    if not isinstance(value, dict):
        return f"the body is {json_kind(value)}, not an object"
    if key not in value:
        named = (repr(name) for name in value if _NAME.fullmatch(name))
        names = ", ".join(islice(named, _MOST_NAMES))
        return f"the object has no such key{names and f', but {names}'}"
    return f"there it is {json_kind(value[key])}"


def _unread(body: bytes, error: Exception) -> str:
    match error:
        case UnicodeDecodeError():
            return "not UTF-8"
        case RecursionError():
            return "nested too deeply"
        case _:
            return "not JSON" if body.strip() else "empty"


def json_kind(value: Any) -> str:
    """Names the type of a JSON value, which itself may repeat a credential."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a text in quotation marks"
        case list():
            return "a list"
        case dict():
            return "an object"
        case int() | float():
            finite = abs(value) <= sys.float_info.max  # false for NaN
            return "a number" if finite else "a number that is not finite"
        case _:
            assert_never(value)


def _media_type(reply: EgressReply) -> str:
    sent = reply.headers.get("content-type", "").partition(";")[0].strip()
    return sent if _MEDIA_TYPE.fullmatch(sent) else "no Content-Type"


def _quoted(reply: EgressReply) -> str:
    return reply.body[:_QUOTED_BYTES].decode(errors="replace")
