"""Compares the refusal of a create call with the reports on the same call, with a service and
without one.

Fixtures call it for every fourth refused body of their tests: two more reports on each body would
take a tenth of the suite's time. `AGREEMENT=all` compares every body, in `make test-long`.
"""

import os
import re
from typing import Any
from zlib import crc32

import httpx

from tests.support.api.job_calls import JOBS
from tests.support.api.offline import is_unchecked, offline

_ALL = os.environ.get("AGREEMENT") == "all"
_ID = re.compile(rb"file-\w+")
"""Differs from run to run, and the same bodies shall be drawn."""
_OWN_ORDER = frozenset({"training_file", "validation_file"})
"""Files are looked up by the insert, behind all else; the report may know more of their rows."""


def is_compared(reply: httpx.Response) -> bool:
    """Says if the reply is that of a create call whose body was refused, and if it is drawn."""
    request = reply.request
    return (
        reply.status_code == httpx.codes.BAD_REQUEST
        and (request.method, request.url.path) == ("POST", JOBS)
        and not request.url.query
        and (_ALL or crc32(_ID.sub(b"", request.content)) % 4 == 0)
    )


def copied_headers(request: httpx.Request) -> dict[str, str]:
    kept = ("authorization", "content-type", "content-encoding")
    return {name: request.headers[name] for name in kept if name in request.headers}


def check_agreement(refusal: httpx.Response, report: httpx.Response) -> None:
    """Asserts that the report's first error has the code and the parameter of the refusal."""
    error = refusal.json()["error"]
    if "Idempotency-Key" in error["message"]:  # not the body's fault
        return
    _check_offline(error, offline(refusal.request.content))
    if report.status_code == httpx.codes.BAD_REQUEST:  # no JSON object at all
        assert report.json()["error"] == error
        return
    assert report.status_code == httpx.codes.OK, report.text
    found: dict[str, Any] = report.json()
    assert found["errors"], f"create refuses what validate accepts: {error}"
    first = found["errors"][0]
    expected = (error["code"], error["param"], error["message"])
    if error["param"] in _OWN_ORDER and first["param"] in _OWN_ORDER:
        assert expected[:2] in [(each["code"], each["param"]) for each in found["errors"]], found
        return
    said = (first["code"], first["param"], first["message"])
    assert said == expected, f"validate says {said}, create {expected}"


def _check_offline(error: dict[str, Any], report: dict[str, Any]) -> None:
    """Asserts that the report without a service has the refusal among its errors, or says that its
    parameter is not checked there.
    """
    if not report["valid"] and not report["errors"]:
        return  # no call at all
    found = {(each["code"], each["param"]) for each in report["errors"]}
    # A service may have other base models than this machine.
    other_model = error["param"] == "model" and "model" in {param for _, param in found}
    named = (error["code"], error["param"]) in found or other_model
    assert named or is_unchecked(report, error["param"]), (
        f"create refuses what agent-rft validate does not name: {error}, {report}"
    )
