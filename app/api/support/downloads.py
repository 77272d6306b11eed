"""Replies with generated content of known length, whole or from an offset (`Range`).

Implements one range of bytes, which continues an interrupted download; any other `Range` is
answered with the whole content, as RFC 9110 permits. Must not know the content.
"""

import re
from collections.abc import AsyncGenerator
from typing import Annotated, Any, Final, Protocol
from urllib.parse import quote

from fastapi import Header
from fastapi.responses import StreamingResponse

from app.domain.errors import RangeNotSatisfiable
from app.web.closing_response import ClosingResponse

MANIFEST_HEADER: Final = "x-manifest-sha256"
RangeHeader = Annotated[
    str | None,
    Header(
        alias="Range",
        description="One range of bytes, such as `bytes=1048576-`; others are ignored.",
    ),
]
IfRangeHeader = Annotated[
    str | None,
    Header(
        alias="If-Range",
        description="The `ETag` of an earlier answer; with another one `Range` is ignored.",
    ),
]
_RANGE: Final = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))", re.ASCII)


class Download(Protocol):
    """Content that is generated while it is sent."""

    @property
    def filename(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def manifest_sha256(self) -> str: ...
    def read(self, start: int, stop: int) -> AsyncGenerator[bytes, None]: ...


def download_replies(media_type: str, description: str) -> dict[int | str, dict[str, Any]]:
    """Returns the documented replies of a route that answers with `download_reply`."""
    text = {"schema": {"type": "string"}}
    number = {"schema": {"type": "integer"}}
    headers = {
        "content-length": {"description": "Bytes of this reply.", **number},
        "content-disposition": {"description": "The file's name.", **text},
        "etag": {"description": "Identifies the content; for `If-Range`.", **text},
        MANIFEST_HEADER: {
            "description": "SHA-256 of the file `manifest.json` in the archive, which has the "
            "SHA-256 of every other file.",
            **text,
        },
    }
    content = {media_type: {"schema": {"type": "string", "format": "binary"}}}
    return {
        200: {"description": description, "headers": headers, "content": content},
        206: {
            "description": "The part that `Range` asked for.",
            "headers": {
                **headers,
                "content-range": {"description": "The part, and the whole length.", **text},
            },
            "content": content,
        },
    }


def download_reply(
    download: Download, media_type: str, *, range_: str | None, if_range: str | None
) -> StreamingResponse:
    """Returns the whole content or the requested range. Raises `RangeNotSatisfiable`."""
    size, etag = download.size, f'"{download.manifest_sha256}"'
    part = _part(range_, size) if if_range in (None, etag) else None
    start, stop = part or (0, size)
    headers = {
        "content-length": str(stop - start),
        "content-disposition": f"attachment; filename*=UTF-8''{quote(download.filename, safe='')}",
        "etag": etag,
        "accept-ranges": "bytes",
        "x-content-type-options": "nosniff",
        MANIFEST_HEADER: download.manifest_sha256,
    }
    if part is not None:
        headers["content-range"] = f"bytes {start}-{stop - 1}/{size}"
    return ClosingResponse(
        download.read(start, stop),
        status_code=200 if part is None else 206,
        media_type=media_type,
        headers=headers,
    )


def _part(value: str | None, size: int) -> tuple[int, int] | None:
    """Returns start and stop of a range, `None` for the whole content."""
    found = None if value is None else _RANGE.fullmatch(value.strip())
    if found is None:
        return None
    first, last, suffix = found.groups()
    if suffix is not None:
        start, stop = max(size - int(suffix), 0), size
    else:
        start, stop = int(first), size
        if last:
            if int(last) < start:
                return None
            stop = min(int(last) + 1, size)
    if start >= stop:
        raise RangeNotSatisfiable(size)
    return start, stop
