import subprocess
import sys
from typing import Any

import pytest

from tests.app.api.conftest import Api

JOBS = "/v1/fine_tuning/jobs"


@pytest.mark.parametrize(
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
    from zlib import crc32  # noqa: PLC0415

    body = api.key[:-8][:-1] + ("a" if api.key[-9] != "a" else "b")
    reply = await api.call("GET", JOBS, key=f"{body}{crc32(body.encode()):08x}")
    assert reply.status_code == 401


async def test_an_admin_key_reads_no_project(api: Api) -> None:
    reply = await api.call("GET", JOBS, key=api.admin_key)
    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "permission_denied")


@pytest.mark.parametrize(
    "content",
    [
        b'{"model": NaN}',
        b'{"model": "a\\u0000b"}',
        b'{"model": "\\ud800"}',
        b'{"seed": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 200 + b"1" + b"}" * 200,
        b'\xff{"model": "x"}',
        b'{"model": ',
        b"[]",
        b"null",
    ],
)
async def test_hostile_json_is_a_400(api: Api, content: bytes) -> None:
    reply = await api.call(
        "POST", JOBS, content=content, headers={"Content-Type": "application/json"}
    )
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "invalid_request_error"


async def test_an_oversize_body_is_a_413(api: Api) -> None:
    content = b'{"model": "' + b"x" * (5 * 1024 * 1024) + b'"}'
    json = {"Content-Type": "application/json"}
    assert (await api.call("POST", JOBS, content=content, headers=json)).status_code == 413

    async def chunked() -> Any:
        for start in range(0, len(content), 65536):
            yield content[start : start + 65536]

    assert (await api.call("POST", JOBS, content=chunked(), headers=json)).status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        f"{JOBS}/%00",
        f"{JOBS}?after=%00",
        f"{JOBS}?limit=0",
        f"{JOBS}?limit=999999999999999999999",
        f"{JOBS}?after=ftjob-unknown",
        "/v1/files?order=sideways",
        f"{JOBS}/x/metrics?max_points=0",
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
    reply = await api.call("PUT", JOBS)
    assert reply.status_code == 405
    assert reply.headers["allow"]


def test_importing_the_application_loads_no_torch_and_is_quick() -> None:
    code = (
        "import sys, time; t = time.perf_counter(); import app.main; "
        "print(time.perf_counter() - t); "
        "heavy = {'torch', 'transformers', 'peft', 'vllm'} & set(sys.modules); "
        "assert not heavy, heavy; assert not any(m.startswith('workers') for m in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
