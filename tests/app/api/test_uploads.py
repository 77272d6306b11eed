import asyncio
import hashlib
from typing import Any

import psycopg

from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.objects.stored_objects import stored_files
from tests.support.stack import Database

ROW = b'{"messages": [{"role": "user", "content": "hi"}]}\n'
UPLOADS = "/v1/uploads"


async def created(api: Api, size: int, **changes: Any) -> str:
    body = {"filename": "rows.jsonl", "purpose": "fine-tune", "bytes": size}
    body |= {"mime_type": "text/jsonl", **changes}
    return str((await api.call("POST", UPLOADS, json=body)).json()["id"])


async def part(api: Api, upload: str, data: bytes) -> str:
    reply = await api.call("POST", f"{UPLOADS}/{upload}/parts", files={"data": ("p", data)})
    assert reply.status_code == 200, reply.text
    return str(reply.json()["id"])


async def complete(api: Api, upload: str, parts: list[str], **more: Any) -> Any:
    body = {"part_ids": parts, **more}
    return await api.call("POST", f"{UPLOADS}/{upload}/complete", json=body)


async def test_parts_sent_at_once_are_joined_in_the_order_named(
    api: Api, database: Database
) -> None:
    body = {"filename": "../a/rows.jsonl", "purpose": "fine-tune", "bytes": 4 * len(ROW)}
    body |= {"mime_type": "text/jsonl"}
    body |= {"expires_after": {"anchor": "created_at", "seconds": 3600}}
    upload = (await api.call("POST", UPLOADS, json=body)).json()
    assert upload == {
        "id": upload["id"],
        "object": "upload",
        "bytes": 4 * len(ROW),
        "created_at": upload["created_at"],
        "expires_at": upload["created_at"] + 3600,
        "filename": "rows.jsonl",
        "purpose": "fine-tune",
        "status": "pending",
        "file": None,
    }
    whole = ROW * 4
    pieces = [whole[:7], whole[7:90], whole[90:], b"never used"]
    ids = list(await asyncio.gather(*(part(api, upload["id"], piece) for piece in pieces)))
    md5 = hashlib.md5(whole, usedforsecurity=False).hexdigest()
    done = await complete(api, upload["id"], ids[:3], md5=md5.upper())
    assert done.status_code == 200
    file = done.json()["file"]
    assert done.json() == {**upload, "status": "completed", "file": file}
    assert (file["bytes"], file["filename"], file["purpose"]) == (
        len(whole),
        "rows.jsonl",
        "fine-tune",
    )
    assert file["expires_at"] == file["created_at"] + 3600
    assert (await api.call("GET", f"/v1/files/{file['id']}/content")).content == whole
    assert [path.name for path in stored_files(database)] == [file["id"]]
    # A repeated call gets the same answer; a call with other parts is refused.
    assert (await complete(api, upload["id"], ids[:3])).json() == done.json()
    assert (await complete(api, upload["id"], ids[1::-1])).status_code == 400
    cancel = await api.call("POST", f"{UPLOADS}/{upload['id']}/cancel")
    assert (cancel.status_code, cancel.json()["error"]["code"]) == (400, "invalid_state")


async def test_a_wrong_completion_changes_nothing(api: Api, database: Database) -> None:
    upload, other = await created(api, 2 * len(ROW)), await created(api, len(ROW))
    first, second = await part(api, upload, ROW), await part(api, upload, ROW)
    foreign = await part(api, other, ROW)
    for wrong, code in (
        ([first], "bytes_mismatch"),
        ([first, first], "invalid_part"),
        ([first, foreign], "invalid_part"),
        ([first, "part_nonsense"], "invalid_part"),
    ):
        reply = await complete(api, upload, wrong)
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, code)
    md5 = await complete(api, upload, [first, second], md5="0" * 32)
    assert (md5.status_code, md5.json()["error"]["code"]) == (400, "checksum_mismatch")
    nonsense: list[dict[str, Any]] = [{"part_ids": []}, {"part_ids": [first, second], "md5": "x"}]
    for malformed in (*nonsense, {}):
        reply = await api.call("POST", f"{UPLOADS}/{upload}/complete", json=malformed)
        assert reply.status_code == 400
    assert (await api.call("GET", "/v1/files")).json()["data"] == []
    assert {path.name for path in stored_files(database)} == {first, second, foreign}
    assert (await complete(api, upload, [second, first])).status_code == 200


async def test_joined_parts_must_be_jsonl_too(api: Api, database: Database) -> None:
    upload = await created(api, len(ROW) + 4)
    ids = [await part(api, upload, piece) for piece in (ROW, b"[1", b"2]")]
    reply = await complete(api, upload, ids)
    assert reply.status_code == 400
    assert "Line 2 is not a dictionary" in reply.json()["error"]["message"]
    assert {path.name for path in stored_files(database)} == set(ids)
    free = await created(api, 2, purpose="user_data")
    assert (await complete(api, free, [await part(api, free, b"\x00\xff")])).status_code == 200


async def test_the_same_completion_sent_twice_at_once_makes_one_file(
    api: Api, database: Database
) -> None:
    upload = await created(api, len(ROW))
    ids = [await part(api, upload, ROW)]
    replies = await asyncio.gather(*(complete(api, upload, ids) for _ in range(6)))
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.json()["file"]["id"] for reply in replies}) == 1
    assert len((await api.call("GET", "/v1/files")).json()["data"]) == 1
    assert len(stored_files(database)) == 1


async def test_an_upload_that_ended_takes_nothing_more(api: Api, database: Database) -> None:
    cancelled, expired = await created(api, len(ROW)), await created(api, len(ROW))
    parts = {upload: await part(api, upload, ROW) for upload in (cancelled, expired)}
    reply = (await api.call("POST", f"{UPLOADS}/{cancelled}/cancel")).json()
    assert (reply["status"], reply["file"]) == ("cancelled", None)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute("UPDATE uploads SET expires_at = now() WHERE id = %s", [expired])
    assert [path.name for path in stored_files(database)] == [parts[expired]]
    for upload, state in ((cancelled, "cancelled"), (expired, "expired")):
        add = await api.call("POST", f"{UPLOADS}/{upload}/parts", files={"data": ROW})
        join = await complete(api, upload, [parts[upload]])
        cancel = await api.call("POST", f"{UPLOADS}/{upload}/cancel")
        for refused in (add, join, cancel):
            assert refused.status_code == 400
            assert f"is {state}" in refused.json()["error"]["message"]


async def test_another_tenants_upload_is_as_one_that_never_was(api: Api) -> None:
    upload = await created(api, len(ROW))
    mine = await part(api, upload, ROW)
    for unknown, key in ((upload, api.other_key), ("upload_x", api.key)):
        path = f"{UPLOADS}/{unknown}"
        for reply in (
            await api.call("POST", f"{path}/parts", files={"data": ROW}, key=key),
            await api.call("POST", f"{path}/complete", json={"part_ids": [mine]}, key=key),
            await api.call("POST", f"{path}/cancel", key=key),
        ):
            assert reply.status_code == 404
            assert reply.json()["error"]["message"] == f"No such Upload object: {unknown}"
    assert (await complete(api, upload, [mine])).status_code == 200


@cases(
    "change",
    [
        {"bytes": 0},
        {"bytes": 8 * 1024**3 + 1},
        {"bytes": "5"},
        {"purpose": "nonsense"},
        {"expires_after": {"anchor": "now", "seconds": 3600}},
    ],
)
async def test_what_an_upload_announces_is_checked(api: Api, change: dict[str, Any]) -> None:
    body = {"filename": "a", "purpose": "fine-tune", "bytes": 1, "mime_type": "text/jsonl"}
    reply = await api.call("POST", UPLOADS, json={**body, **change})
    assert reply.status_code == 400
    assert set(reply.json()["error"]) == {"message", "type", "param", "code"}


async def test_a_part_holds_64_mib_and_not_a_byte_more(api: Api, database: Database) -> None:
    cap = 64 * 1024 * 1024
    upload = await created(api, 8 * 1024**3)
    kept = await part(api, upload, bytes(cap))
    over = await api.call("POST", f"{UPLOADS}/{upload}/parts", files={"data": bytes(cap + 1)})
    assert (over.status_code, over.json()["error"]["code"]) == (413, "request_too_large")
    wrong = await api.call("POST", f"{UPLOADS}/{upload}/parts", files={"file": b"x"})
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "data")
    assert [path.name for path in stored_files(database)] == [kept]
