from typing import Any

import pytest

from tests.app.api.conftest import Api

ROW = b'{"messages": [{"role": "user", "content": "hi"}]}\n'


async def test_a_file_is_stored_listed_read_and_deleted(api: Api) -> None:
    file = (await api.upload(ROW * 3)).json()
    assert (file["object"], file["bytes"], file["status"]) == ("file", 3 * len(ROW), "processed")
    path = f"/v1/files/{file['id']}"
    assert (await api.call("GET", path)).json() == file
    assert (await api.call("GET", f"{path}/content")).content == ROW * 3
    listed = (await api.call("GET", "/v1/files")).json()
    assert ([f["id"] for f in listed["data"]], listed["has_more"]) == ([file["id"]], False)
    deleted = await api.call("DELETE", path)
    assert deleted.json() == {"id": file["id"], "object": "file", "deleted": True}
    assert (await api.call("GET", path)).status_code == 404


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (ROW + b"[1]\n", "Line 2 is not a dictionary"),
        (ROW * 2 + b"{broken\n" + ROW, "Line 3 is not valid JSON"),
        (ROW + b'{"a": "\xff"}\n', "Line 2 is not valid UTF-8"),
        (b"[" * 100_000, "Line 1 is not valid JSON"),
        (b"", "empty"),
    ],
)
async def test_what_is_not_jsonl_is_refused_with_its_line(
    api: Api, content: bytes, hint: str
) -> None:
    reply = await api.upload(content)
    assert reply.status_code == 400
    assert hint in reply.json()["error"]["message"]
    assert (await api.call("GET", "/v1/files")).json()["data"] == []


async def test_expiry_and_purpose_are_checked(api: Api) -> None:
    upload: dict[str, Any] = {"files": {"file": ("a.jsonl", ROW)}}
    good = {
        "purpose": "fine-tune",
        "expires_after[anchor]": "created_at",
        "expires_after[seconds]": "3600",
    }
    file = (await api.call("POST", "/v1/files", data=good, **upload)).json()
    assert file["expires_at"] == file["created_at"] + 3600
    for wrong in (
        {**good, "purpose": "nonsense"},
        {**good, "expires_after[seconds]": "3599"},
        {**good, "expires_after[seconds]": "9" * 5000},
        {**good, "expires_after[anchor]": "now"},
        {},
    ):
        assert (await api.call("POST", "/v1/files", data=wrong, **upload)).status_code == 400
    assert (await api.call("POST", "/v1/files", data=good)).status_code == 400


async def test_a_client_file_name_is_never_a_path(api: Api) -> None:
    reply = await api.call(
        "POST",
        "/v1/files",
        files={"file": ("../../etc/passwd", ROW)},
        data={"purpose": "fine-tune"},
    )
    assert reply.json()["filename"] == "../../etc/passwd"
    assert (await api.call("GET", f"/v1/files/{reply.json()['id']}/content")).content == ROW


@pytest.mark.parametrize("charset", ["undefined", "punycode", "a\x00b", "utf-16", "no-such"])
async def test_no_charset_of_a_form_is_a_fault_of_ours(api: Api, charset: str) -> None:
    content = (
        b'--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n\xff-99999\r\n--b--\r\n'
    )
    kind = f'multipart/form-data; boundary=b; charset="{charset}"'.encode()
    reply = await api.call("POST", "/v1/files", content=content, headers={"Content-Type": kind})
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "invalid_request_error"
