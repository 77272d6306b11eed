"""Files, uploads and models by the official Python client, unmodified, over a real socket."""

import hashlib
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types import FileObject, Upload

from tests.support.contract.service import BASE, ROW, Service

MD5 = hashlib.md5(ROW * 40, usedforsecurity=False).hexdigest()


@pytest.fixture
def tidy(service: Service) -> Iterator[None]:
    """Deletes all files before and after a test."""
    service.execute("DELETE FROM files")
    yield
    service.execute("DELETE FROM files")


def add_files(service: Service, count: int, purpose: str) -> None:
    service.execute(
        "INSERT INTO files (id, project_id, filename, purpose, bytes, sha256, object_key, status,"
        " created_at) SELECT 'file-' || %s || n, project_id, 'f' || n, %s, n, '', 'k', 'processed',"
        " now() - (n / 3) * interval '1 second' FROM files, generate_series(1, %s) n"
        " WHERE filename = 'seed'",
        purpose,
        purpose,
        count,
    )


@pytest.mark.usefixtures("tidy")
def test_two_hundred_and_fifty_files_page_to_the_end(service: Service) -> None:
    client = service.client()
    seed = client.files.create(file=("seed", ROW), purpose="evals")
    add_files(service, 250, "vision")
    every = list(client.files.list(purpose="vision", limit=100))
    assert len(every) == len({file.id for file in every}) == 250
    assert [f.created_at for f in every] == sorted((f.created_at for f in every), reverse=True)
    upwards = list(client.files.list(purpose="vision", limit=7, order="asc"))
    assert [file.id for file in upwards] == [file.id for file in every][::-1]
    assert [file.id for file in client.files.list(purpose="evals")] == [seed.id]
    one_page = client.files.list()
    assert (len(one_page.data), one_page.has_more) == (251, False)
    after = client.files.list(after=every[248].id, purpose="vision")
    assert [file.id for file in after] == [every[249].id]
    # Deleting while paging skips nothing: a deleted file is still a place to go on from.
    removed = 0
    for file in client.files.list(purpose="vision", limit=20):
        assert client.files.delete(file.id).deleted
        removed += 1
    assert removed == 250
    assert [file.id for file in client.files.list()] == [seed.id]


async def test_the_async_client_does_what_the_other_does(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROW * 40)
    async with service.async_client() as client:
        file = await client.files.create(
            file=path,
            purpose="fine-tune",
            expires_after={"anchor": "created_at", "seconds": 2_592_000},
        )
        assert file.expires_at == file.created_at + 2_592_000
        assert (await client.files.wait_for_processing(file.id)).status == "processed"
        assert await client.files.retrieve(file.id) == file
        assert file.id in [found.id async for found in client.files.list(limit=2)]
        content = await client.files.content(file.id)
        assert await content.aread() == ROW * 40
        assert (await client.files.delete(file.id)).deleted
        upload = await client.uploads.upload_file_chunked(
            file=path, mime_type="text/jsonl", purpose="fine-tune", part_size=333, md5=MD5
        )
        assert upload.file is not None
        assert (await client.files.content(upload.file.id)).content == ROW * 40
        pending = await client.uploads.create(
            bytes=1, filename="a", mime_type="text/plain", purpose="user_data"
        )
        part = await client.uploads.parts.create(pending.id, data=b"x")
        assert (part.object, part.upload_id) == ("upload.part", pending.id)
        assert (await client.uploads.cancel(pending.id)).status == "cancelled"


def test_raw_and_streamed_replies_carry_their_headers(service: Service, tmp_path: Path) -> None:
    client = service.client()
    made = client.files.with_raw_response.create(file=ROW, purpose="fine-tune")
    assert made.headers["x-request-id"] == made.request_id
    file = made.parse()
    assert isinstance(file, FileObject)
    raw = client.files.with_raw_response.content(file.id)
    assert raw.headers["content-type"] == "application/octet-stream"
    assert raw.headers["content-length"] == str(len(ROW))
    with client.files.with_streaming_response.content(file.id) as reply:
        reply.stream_to_file(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == ROW
    upload = client.uploads.with_raw_response.create(
        bytes=5, filename="a", mime_type="text/plain", purpose="user_data"
    )
    assert isinstance(upload.parse(), Upload)
    assert int(upload.headers["openai-processing-ms"]) >= 0
    listed = client.models.with_raw_response.list()
    assert listed.parse().data[0].id == BASE


def test_a_form_may_name_its_fields_after_the_file(service: Service) -> None:
    """As the Node client sends it; streamed, with no length told before."""
    client = service.client()
    with io.BytesIO(ROW * 40) as opened:
        file = client.post(
            "/files",
            cast_to=FileObject,
            files=[
                ("file", ("rows", opened, "application/octet-stream")),
                ("purpose", (None, b"fine-tune")),
                ("expires_after[anchor]", (None, b"created_at")),
                ("expires_after[seconds]", (None, b"3600")),
            ],
            options={"headers": {"Content-Type": "multipart/form-data"}},
        )
    assert (file.filename, file.bytes, file.purpose) == ("rows", 40 * len(ROW), "fine-tune")
    assert file.expires_at == file.created_at + 3600


def test_parts_in_parallel_are_joined_in_the_order_given(service: Service) -> None:
    client = service.client()
    whole = ROW * 40
    upload = client.uploads.create(
        bytes=len(whole),
        filename="rows.jsonl",
        mime_type="text/jsonl",
        purpose="fine-tune",
        expires_after={"anchor": "created_at", "seconds": 7200},
    )
    assert (upload.status, upload.file, upload.object) == ("pending", None, "upload")
    assert upload.expires_at == upload.created_at + 3600
    pieces = [whole[start : start + 100] for start in range(0, len(whole), 100)]

    def send(piece: bytes) -> str:
        return client.uploads.parts.create(upload.id, data=piece).id

    with ThreadPoolExecutor(6) as pool:
        ids = list(pool.map(send, pieces))
    done = client.uploads.complete(upload.id, part_ids=ids, md5=MD5)
    assert done.file is not None
    assert (done.status, done.id, done.bytes) == ("completed", upload.id, len(whole))
    assert done.file.expires_at == done.file.created_at + 7200
    assert client.files.retrieve(done.file.id) == done.file
    assert client.files.content(done.file.id).read() == whole
    assert client.uploads.complete(upload.id, part_ids=ids, md5=MD5) == done


@pytest.mark.parametrize("part_size", [64, 1000, None])
def test_a_file_goes_up_in_chunks(service: Service, tmp_path: Path, part_size: int | None) -> None:
    client = service.client()
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROW * 40)
    from_path = client.uploads.upload_file_chunked(
        file=path, mime_type="text/jsonl", purpose="fine-tune", part_size=part_size, md5=MD5
    )
    in_memory = client.uploads.upload_file_chunked(
        file=ROW * 40,
        filename="rows.jsonl",
        bytes=40 * len(ROW),
        mime_type="text/jsonl",
        purpose="fine-tune",
        part_size=part_size,
    )
    for upload in (from_path, in_memory):
        assert upload.file is not None
        assert (upload.file.filename, upload.file.purpose) == ("rows.jsonl", "fine-tune")
        assert client.files.content(upload.file.id).read() == ROW * 40


def test_refusals_are_the_classes_a_program_catches(service: Service, job: Any) -> None:
    client = service.client(max_retries=0)
    upload = client.uploads.create(
        bytes=len(ROW), filename="a", mime_type="text/jsonl", purpose="fine-tune"
    )
    part = client.uploads.parts.create(upload.id, data=ROW)
    stranger = service.client(key=service.api.other_key, max_retries=0)
    for call in (
        lambda: stranger.uploads.cancel(upload.id),
        lambda: stranger.uploads.complete(upload.id, part_ids=[part.id]),
        lambda: stranger.uploads.parts.create(upload.id, data=b"x"),
        lambda: stranger.files.retrieve(job.training_file),
        lambda: stranger.files.content(job.training_file),
        lambda: stranger.files.delete(job.training_file),
        lambda: client.files.retrieve("file-never"),
        lambda: client.models.retrieve("never"),
        lambda: client.models.delete("never"),
    ):
        with pytest.raises(openai.NotFoundError) as missing:
            call()
        assert (missing.value.request_id or "").startswith("req_")
    for wrong, code in (
        (lambda: client.uploads.complete(upload.id, part_ids=[part.id] * 2), "invalid_part"),
        (lambda: client.uploads.complete(upload.id, part_ids=["part_x"]), "invalid_part"),
        (
            lambda: client.uploads.complete(upload.id, part_ids=[part.id], md5="0" * 32),
            "checksum_mismatch",
        ),
        (lambda: client.files.create(file=b"[]\n", purpose="fine-tune"), "invalid_jsonl"),
        (lambda: client.files.list(after="file-never"), "invalid_value"),
    ):
        with pytest.raises(openai.BadRequestError) as refused:
            wrong()
        assert type(refused.value) is openai.BadRequestError
        assert refused.value.code == code
    client.uploads.cancel(upload.id)
    with pytest.raises(openai.BadRequestError) as ended:
        client.uploads.complete(upload.id, part_ids=[part.id])
    assert ended.value.code == "invalid_state"


def test_models_are_listed_in_one_page_with_every_field(service: Service, job: Any) -> None:
    client = service.client()
    name = f"ft:{BASE}:first:models:one/two"
    service.add_tuned_model(job.id, name, "adapter-models")
    models = list(client.models.list())
    assert {model.object for model in models} == {"model"}
    assert [model.id for model in models if model.owned_by == "system"] == [BASE]
    tuned = client.models.retrieve(name)
    assert tuned in models
    assert tuned.created > 1_700_000_000
    assert client.models.delete(name).to_dict() == {"id": name, "object": "model", "deleted": True}
    assert name not in [model.id for model in client.models.list()]
    with pytest.raises(openai.BadRequestError):
        client.models.delete(BASE)
