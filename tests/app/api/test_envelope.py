import json
import re
import subprocess
import sys
from typing import Any

import httpx
import pytest

from app.kit.strict_json import json_problem
from app.main import create_app
from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.costs.growth import growth
from tests.support.stack import Database
from tests.support.web.application import application

JOBS = "/v1/fine_tuning/jobs"


@cases(
    ("headers", "code"),
    [
        ({}, "missing_api_key"),
        ({"Authorization": "Bearer nonsense"}, "invalid_api_key"),
        ({"Authorization": "Basic eDp5"}, "missing_api_key"),
        (
            {"Authorization": f"Bearer art_project_{'a' * 16}_{'b' * 40}{'0' * 8}"},
            "invalid_api_key",
        ),
    ],
)
async def test_without_a_good_key_nothing_answers(
    api: Api, headers: dict[str, str], code: str
) -> None:
    for path in (JOBS, "/v1/files", "/v1/models"):
        reply = await api.http.get(path, headers=headers)
        assert reply.status_code == 401
        assert reply.json()["error"]["code"] == code
        assert reply.headers["x-request-id"].startswith("req_")


async def test_a_wrong_secret_with_a_good_checksum_is_refused(api: Api) -> None:
    from zlib import crc32  # noqa: PLC0415 - used by this test alone

    body = api.key[:-8][:-1] + ("a" if api.key[-9] != "a" else "b")
    reply = await api.call("GET", JOBS, key=f"{body}{crc32(body.encode()):08x}")
    assert reply.status_code == 401


async def test_an_admin_key_reads_no_project(api: Api) -> None:
    reply = await api.call("GET", JOBS, key=api.admin_key)
    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "permission_denied")


@cases(
    "content",
    [
        b'{"model": NaN}',
        b'{"model": "a\\u0000b"}',
        b'{"model": "\\ud800"}',
        b'{"seed": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"model": "a", "model": "b"}',
        b'\xff{"model": "x"}',
        b"[]",
    ],
)
async def test_hostile_json_is_a_400(api: Api, content: bytes) -> None:
    reply = await api.call(
        "POST", JOBS, content=content, headers={"Content-Type": "application/json"}
    )
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "invalid_request_error"


@cases("kind", ["text/plain", ""])
async def test_no_content_type_leads_past_the_guard(
    api: Api, body: dict[str, Any], kind: str
) -> None:
    content = json.dumps({**body, "metadata": {"k": "a\x00b"}}).encode()
    reply = await api.call("POST", JOBS, content=content, headers={"Content-Type": kind})
    assert reply.status_code == 400
    assert "NUL" in reply.json()["error"]["message"]


@cases(("length", "status"), [("9" * 5000, 413), ("-5", 400), ("1e3", 400)])
async def test_a_nonsense_content_length_is_a_client_error(
    api: Api, length: str, status: int
) -> None:
    reply = await api.call("POST", "/v1/evals", content=b"{}", headers={"Content-Length": length})
    assert reply.status_code == status


def test_a_body_may_be_long_but_not_of_countless_values() -> None:
    assert json_problem(b'{"a": ' + b"9" * 6000 + b"}") == (
        "99999999999999999999… has 6000 digits, and a number at most 4300"
    )
    assert json_problem(b'{"a": ' + b"9" * 4300 + b"}") is None  # the parameter refuses it
    assert json_problem(b'{"a": "' + b"[],{}" * 800_000 + b'"}') is None
    assert json_problem(b'{"a": [' + b"[]," * 20_000 + b"[]]}") is None
    for many in (b"[]," * 25_000, b"1.5," * 25_000, b'{"b":1},' * 15_000):
        assert json_problem(b'{"a": [' + many + b"[]]}") == "it contains more than 25000 values"


def test_a_string_that_nothing_closes_is_read_once() -> None:
    """The count of values took the square of its length, on the event loop and without a key."""

    def body(length: int) -> bytes:
        return b'"' + b'\\"' * length + b"," * 25_001

    assert (json_problem(body(2_000)) or "").startswith("Unterminated string")
    # Eight times as long is 64 times the work where each quote starts anew.
    assert growth(json_problem, small=body(2_000), large=body(16_000)) < 8


async def test_an_internal_fault_has_a_request_id_and_no_details(
    database: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    app = create_app(database.settings)

    @app.get("/broken")
    async def broken() -> None:
        secret = "".join(reversed("lacol-yranac"))
        raise RuntimeError(f"broken by {len(secret)}")

    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as http,
    ):
        reply = await http.get("/broken", headers={"Authorization": "Bearer canary-header"})
    assert reply.status_code == 500
    assert reply.json()["error"]["code"] == "internal_error"
    request_id = reply.headers["x-request-id"]
    logged = capfd.readouterr().err
    assert "broken by 12" in logged
    assert request_id in logged
    assert "canary" not in logged


async def test_without_its_database_the_service_sends_retry_after(
    api: Api, database: Database
) -> None:
    unavailable = re.sub(r":\d+/", ":9/", database.app_url)
    app = application(database.settings.model_copy(update={"database_url": unavailable}))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as http,
    ):
        for path in (JOBS, "/readyz"):
            reply = await http.get(path, headers={"Authorization": f"Bearer {api.key}"})
            assert (reply.status_code, reply.headers["retry-after"]) == (503, "2")
            assert reply.headers["x-request-id"].startswith("req_")
        assert (await http.get("/healthz")).status_code == 200


async def test_a_path_names_all_its_methods_and_redirects_nowhere(api: Api) -> None:
    assert (await api.call("PUT", JOBS)).headers["allow"] == "GET, HEAD, POST"
    assert (await api.call("PATCH", "/v1/files/x")).headers["allow"] == "DELETE, GET, HEAD"
    reply = await api.call("GET", f"{JOBS}/")
    assert (reply.status_code, reply.json()["error"]["type"]) == (404, "invalid_request_error")


async def test_too_many_names_of_curves_are_refused(api: Api) -> None:
    names = ",".join(str(number) for number in range(1001))
    reply = await api.call("GET", f"{JOBS}/x/metrics", params={"names": names})
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "names")


async def test_an_oversize_body_is_a_413(api: Api) -> None:
    content = b'{"model": "' + b"x" * (5 * 1024 * 1024) + b'"}'
    kind = {"Content-Type": "application/json"}
    assert (await api.call("POST", JOBS, content=content, headers=kind)).status_code == 413

    async def chunked() -> Any:
        for start in range(0, len(content), 65536):
            yield content[start : start + 65536]

    assert (await api.call("POST", JOBS, content=chunked(), headers=kind)).status_code == 413


@cases(
    "path",
    [
        f"{JOBS}/%00",
        f"{JOBS}?limit=999999999999999999999",
        f"{JOBS}?after=ftjob-unknown",
        "/v1/files?order=sideways",
    ],
)
async def test_bad_urls_are_client_errors(api: Api, path: str) -> None:
    reply = await api.call("GET", path)
    assert 400 <= reply.status_code < 500
    assert set(reply.json()["error"]) == {"message", "type", "param", "code"}


async def test_unknown_paths_and_methods_have_the_envelope(api: Api) -> None:
    assert (
        (await api.call("GET", "/v1/nothing")).json()["error"]["message"].startswith("Invalid URL")
    )
    assert (await api.call("PUT", JOBS)).status_code == 405


HEAVY = {"torch", "transformers", "peft", "vllm", "workers", "numpy", "nltk", "pytest"}
MODULES = 1_290
"""A little above what `app.main` loads of others today. A heavy library has hundreds of modules.
This project's own are not counted, and neither are OpenTelemetry's: the client of Redis loads all
of its SDK where the extra `telemetry` is installed.
"""


def test_importing_the_application_loads_nothing_heavy_and_nothing_of_the_workers() -> None:
    """Names what must not be loaded and counts the rest, because seconds say more of a machine."""
    code = (
        "import sys; import app.main; "
        f"heavy = {HEAVY!r} & set(sys.modules); assert not heavy, heavy; "
        "own = ('app.', 'opentelemetry'); "
        "counted = [name for name in sys.modules if not name.startswith(own)]; "
        f"assert len(counted) < {MODULES}, len(counted)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
