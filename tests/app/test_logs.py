"""Log lines: what a full disk and a query string do to them."""

import errno
import io
import logging
import sys

import pytest
import structlog
from typing_extensions import override

from app.kit.logs import hide_queries, log_to_stderr


class _Full(io.StringIO):
    @override
    def write(self, _text: str) -> int:
        raise OSError(errno.ENOSPC, "no space left on device")


def test_a_line_without_room_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    log_to_stderr()
    monkeypatch.setattr(sys, "stderr", _Full())
    log = structlog.get_logger()
    for write in (log.debug, log.info, log.warning, log.error, log.critical):
        write("a line", number=1)
    log.error("a fault", exc_info=ZeroDivisionError())


def test_an_access_line_has_its_path_without_the_query() -> None:
    hide_queries()
    hide_queries()
    access, written = logging.getLogger("uvicorn.access"), io.StringIO()
    assert len(access.filters) == 1
    handler, level = logging.StreamHandler(written), access.level
    access.addHandler(handler)
    access.setLevel(logging.INFO)
    try:
        access.info(
            '%s - "%s %s HTTP/%s" %d', "127.0.0.1:1", "GET", "/v1/files?api_key=canary", "1.1", 200
        )
    finally:
        access.removeHandler(handler)
        access.setLevel(level)
    assert written.getvalue() == '127.0.0.1:1 - "GET /v1/files HTTP/1.1" 200\n'
