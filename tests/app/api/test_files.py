import asyncio
import resource
from typing import Any

import pytest

from app.files.files import MAX_FILE_BYTES
from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.objects.stored_objects import stored_files
from tests.support.stack import Database

ROW = b'{"messages": [{"role": "user", "content": "hi"}]}\n'


def form(*parts: tuple[str, bytes]) -> dict[str, Any]:
    """Returns a form whose parts have exactly these headers and bytes, in this order."""
    body = b"".join(
        b"--limit\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (head.encode(), data)
        for head, data in parts
    )
    return {
        "content": body + b"--limit--\r\n",
        "headers": {"Content-Type": "multipart/form-data; boundary=limit"},
    }


async def test_a_file_is_stored_listed_read_and_deleted(api: Api, database: Database) -> None:
    file = (await api.upload(ROW * 3)).json()
    assert (file["object"], file["bytes"], file["status"]) == ("file", 3 * len(ROW), "processed")
    path = f"/v1/files/{file['id']}"
    assert (await api.call("GET", path)).json() == file
    content = await api.call("GET", f"{path}/content")
    assert content.content == ROW * 3
    assert content.headers["content-type"] == "application/octet-stream"
    assert content.headers["content-disposition"] == "attachment; filename*=UTF-8''rows.jsonl"
    listed = (await api.call("GET", "/v1/files")).json()
    assert ([f["id"] for f in listed["data"]], listed["has_more"]) == ([file["id"]], False)
    assert [kept.read_bytes() for kept in stored_files(database)] == [ROW * 3]
    for call, suffix in (("GET", ""), ("GET", "/content"), ("DELETE", "")):
        foreign = await api.call(call, path + suffix, key=api.other_key)
        assert foreign.status_code == 404
    deleted = await api.call("DELETE", path)
    assert deleted.json() == {"id": file["id"], "object": "file", "deleted": True}
    assert (await api.call("GET", path)).status_code == 404
    assert stored_files(database) == []


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (ROW + b"[1]\n", "Line 2 is not a dictionary"),
        (ROW * 2 + b"{broken\n" + ROW, "Line 3 is not valid JSON"),
        (ROW + b'{"a": "\xff"}\n', "Line 2 is not valid UTF-8"),
        (b'{"a":' * 100_000, "Line 1 is not valid JSON"),
        (b'{"a": NaN}\n', "Line 1 is not valid JSON"),
        (ROW + b'{"a": "' + b"x" * 9_000_000, "Line 2 is longer than 8388608 bytes"),
        (b"", "empty"),
    ],
)
async def test_what_is_not_jsonl_is_refused_with_its_line(
    api: Api, database: Database, content: bytes, hint: str
) -> None:
    parts = [('name="purpose"', b"fine-tune"), ('name="file"; filename="a"', content)]
    for ordered in (parts, parts[::-1]):
        reply = await api.call("POST", "/v1/files", **form(*ordered))
        assert reply.status_code == 400
        assert hint in reply.json()["error"]["message"]
        assert reply.json()["error"]["param"] == "file"
    assert (await api.call("GET", "/v1/files")).json()["data"] == []
    assert stored_files(database) == []


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("expires_afer[seconds]", "Did you mean 'expires_after[seconds]'?"),
        ("metadata", "Remove it."),
    ],
)
async def test_a_field_that_nothing_reads_is_refused(
    api: Api, database: Database, name: str, cure: str
) -> None:
    fields = [('name="purpose"', b"fine-tune"), (f'name="{name}"', b"5000")]
    sent = form(*fields, ('name="file"; filename="a"', ROW))
    error = (await api.call("POST", "/v1/files", **sent)).json()["error"]
    assert (error["param"], error["code"]) == (name, "unknown_parameter")
    assert error["message"] == f"Unknown parameter: '{name}'. {cure}"
    assert stored_files(database) == []


async def test_the_row_past_the_limit_is_refused_with_its_line(api: Api) -> None:
    rows = b'{"a":1}\n' * 100_000
    assert (await api.upload(rows)).status_code == 200
    too_many = await api.upload(rows + b"\n\n" + b'{"a":1}')
    assert too_many.status_code == 400
    assert too_many.json()["error"]["code"] == "too_many_examples"
    assert "Line 100003" in too_many.json()["error"]["message"]
    exactly = await api.upload(rows + b'{"a":1}\n{"a":1}')
    assert "Line 100001" in exactly.json()["error"]["message"]
    assert (await api.upload(rows + b'{"a":1}', purpose="evals")).status_code == 200


async def test_text_with_a_byte_order_mark_or_windows_line_ends_is_jsonl(api: Api) -> None:
    content = b"\xef\xbb\xbf" + ROW.replace(b"\n", b"\r\n") + '{"é": "\u2028"}'.encode()
    file = (await api.upload(content)).json()
    assert (await api.call("GET", f"/v1/files/{file['id']}/content")).content == content


async def test_other_purposes_take_any_bytes(api: Api) -> None:
    for purpose in ("assistants", "vision", "user_data"):
        assert (await api.upload(b"\x00\xff[1]", purpose=purpose)).status_code == 200
    last = form(('name="file"; filename="a"', b"\x00\xff"), ('name="purpose"', b"vision"))
    assert (await api.call("POST", "/v1/files", **last)).status_code == 200


async def test_expiry_and_purpose_are_checked(api: Api) -> None:
    upload: dict[str, Any] = {"files": {"file": ("a.jsonl", ROW)}}
    good = {
        "purpose": "fine-tune",
        "expires_after[anchor]": "created_at",
        "expires_after[seconds]": "3600",
    }
    file = (await api.call("POST", "/v1/files", data=good, **upload)).json()
    assert file["expires_at"] == file["created_at"] + 3600
    as_json = {"purpose": "evals", "expires_after": '{"anchor": "created_at", "seconds": 7200}'}
    file = (await api.call("POST", "/v1/files", data=as_json, **upload)).json()
    assert file["expires_at"] == file["created_at"] + 7200
    batch = (await api.upload(ROW, purpose="batch")).json()
    assert batch["expires_at"] == batch["created_at"] + 30 * 86400
    for wrong in (
        {**good, "purpose": "nonsense"},
        {**good, "expires_after[seconds]": "3599"},
        {**good, "expires_after[seconds]": "2592001"},
        {**good, "expires_after[seconds]": "9" * 5000},
        {**good, "expires_after[seconds]": "\u0663" * 4},
        {**good, "expires_after[anchor]": "now"},
        {**as_json, "expires_after": "[" * 60_000},
        {**as_json, "expires_after": '{"anchor": "created_at", "seconds": true}'},
        {**as_json, "expires_after": "created_at"},
        {},
    ):
        assert (await api.call("POST", "/v1/files", data=wrong, **upload)).status_code == 400
    assert (await api.call("POST", "/v1/files", data=good)).status_code == 400
    # An invalid field is refused after the file as well as before it.
    late = form(('name="file"; filename="a"', ROW), ('name="purpose"', b"nonsense"))
    assert (await api.call("POST", "/v1/files", **late)).json()["error"]["param"] == "purpose"
    none = form(('name="file"; filename="a"', ROW))
    assert (await api.call("POST", "/v1/files", **none)).json()["error"]["param"] == "purpose"
    assert len((await api.call("GET", "/v1/files")).json()["data"]) == 3


@pytest.mark.parametrize(
    ("head", "stored"),
    [
        ('filename="../../etc/passwd"', "passwd"),
        ('filename="C:\\\\Users\\\\x\\\\rows.jsonl"', "rows.jsonl"),
        ('filename=".."', "upload"),
        ('filename="\u202egpj.exe"', "gpj.exe"),
        ("filename*=UTF-8''..%2F..%2Fn%C3%A4me", "näme"),
        ("filename*=UTF-8''smuggled; filename=\"plain\"", "plain"),
    ],
)
async def test_a_client_file_name_is_a_plain_name_and_never_a_path(
    api: Api, database: Database, head: str, stored: str
) -> None:
    sent = form((f'name="file"; {head}', ROW), ('name="purpose"', b"fine-tune"))
    file = (await api.call("POST", "/v1/files", **sent)).json()
    assert file["filename"] == stored
    assert [path.name for path in stored_files(database)] == [file["id"]]


@cases("charset", ["undefined", "a\x00b"])
async def test_no_charset_of_a_form_is_a_500(api: Api, charset: str) -> None:
    content = (
        b'--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n\xff-99999\r\n--b--\r\n'
    )
    kind = f'multipart/form-data; boundary=b; charset="{charset}"'.encode()
    reply = await api.call("POST", "/v1/files", content=content, headers={"Content-Type": kind})
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "invalid_request_error"


async def test_the_cap_is_exact_and_one_byte_more_is_413(
    api: Api, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    cap = 8 << 20
    monkeypatch.setattr("app.files.service.MAX_FILE_BYTES", cap)

    async def sized(size: int) -> Any:
        head = b'--q\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n'
        yield head % (b"purpose", b"") + b"vision\r\n" + head % (b"file", b'; filename="f"')
        block = bytes(1 << 20)
        for _ in range(size >> 20):
            yield block
        yield bytes(size & ((1 << 20) - 1)) + b"\r\n--q--\r\n"

    async def send(size: int) -> Any:
        headers = {"Content-Type": "multipart/form-data; boundary=q"}
        return await api.call("POST", "/v1/files", content=sized(size), headers=headers)

    full = await send(cap)
    assert (full.status_code, full.json()["bytes"]) == (200, cap)
    over = await send(cap + 1)
    assert (over.status_code, over.json()["error"]["code"]) == (413, "request_too_large")
    assert "in parts: POST /v1/uploads" in over.json()["error"]["message"]
    announced = {"Content-Length": str(MAX_FILE_BYTES + (2 << 20))}
    told = await api.call("POST", "/v1/files", content=b"", headers=announced)
    assert told.status_code == 413
    assert "in parts: POST /v1/uploads" in told.json()["error"]["message"]
    assert [path.name for path in stored_files(database)] == [full.json()["id"]]


async def test_a_full_disk_stores_nothing_and_sends_retry_after(
    api: Api, database: Database
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, hard))
    try:
        reply = await api.upload(ROW * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "2")
    assert stored_files(database) == []
    assert (await api.call("GET", "/v1/files")).json()["data"] == []
    assert (await api.upload(ROW)).status_code == 200


async def test_identical_uploads_at_once_are_files_of_their_own(api: Api) -> None:
    replies = await asyncio.gather(*(api.upload(ROW) for _ in range(8)))
    assert len({reply.json()["id"] for reply in replies}) == 8


async def test_a_range_is_answered_with_the_whole(api: Api) -> None:
    file = (await api.upload(ROW * 3)).json()
    many = ",".join(f"{n}-{n}" for n in range(4000))
    for value in ("bytes=0-1", "bytes=5-1", "bytes=-0", "bytes=999999-", f"bytes={many}", "x"):
        reply = await api.call("GET", f"/v1/files/{file['id']}/content", headers={"Range": value})
        assert (reply.status_code, reply.content) == (200, ROW * 3)
        assert reply.headers["accept-ranges"] == "none"
