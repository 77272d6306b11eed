"""A bucket beyond the protocol: big directories, a server that fails, credentials."""

import asyncio
from pathlib import Path

import pytest
from pydantic import ValidationError
from structlog.testing import capture_logs

from app.kit.errors import Unavailable
from app.kit.objects import build_objects, put_bytes
from app.kit.s3_objects import S3Objects, open_bucket
from app.settings import ObjectsSettings, Settings, to_environment
from tests.support.cases import cases
from tests.support.endpoints import Reply, endpoint
from tests.support.objects.s3_server import S3Server
from tests.support.stack import Database

pytest.importorskip("obstore", reason="S3 IS NOT TESTED: install the extra `test`")

SECRET = "made-up-and-never-logged"


async def test_more_children_than_a_page_holds(s3: S3Server) -> None:
    objects = open_bucket(s3.settings())
    keys = [f"many/{number:04d}" for number in range(1_050)]
    for start in range(0, len(keys), 50):
        await asyncio.gather(*(put_bytes(objects, key, b"x") for key in keys[start : start + 50]))
    assert [child.key for child in await objects.children("many")] == keys
    await objects.delete("many")
    assert await objects.children("many") == []


async def test_two_prefixes_of_a_bucket_share_nothing(s3: S3Server) -> None:
    first, second = open_bucket(s3.settings()), open_bucket(s3.settings())
    await put_bytes(first, "a", b"1")
    await second.delete("a")
    assert await second.children("a") == []
    assert [chunk async for chunk in first.read("a")] == [b"1"]


@pytest.mark.parametrize("change", [{"secret_access_key": "wrong"}, {"bucket": "no-such-bucket"}])
async def test_a_wrong_key_or_bucket_is_unavailable(s3: S3Server, change: dict[str, str]) -> None:
    settings = s3.settings().model_dump(mode="json", exclude_none=True)
    objects = open_bucket(ObjectsSettings.model_validate({**settings, **change}))
    with pytest.raises(Unavailable):
        await objects.children("a")
    if "bucket" not in change:  # this server makes a bucket that is missing
        with pytest.raises(Unavailable):
            await put_bytes(objects, "a", b"x")


async def test_a_server_that_fails_for_a_moment_is_called_again(tmp_path: Path) -> None:
    failures = 2

    def answer(_request: object) -> Reply:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            return Reply(status=503, body=b"slow down")
        return Reply(
            status=200,
            body=b"here",
            headers={"Last-Modified": "Sat, 21 Nov 2026 00:00:00 GMT", "ETag": '"x"'},
        )

    async with endpoint(answer) as server:
        objects = open_bucket(_settings(f"http://{server.host_port}"))
        await objects.fetch("a/b", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"here"
    assert failures < 0


async def test_a_server_that_is_unavailable_is_unavailable_and_no_secret_is_logged() -> None:
    objects = open_bucket(_settings("http://127.0.0.1:9"))
    with capture_logs() as logs, pytest.raises(Unavailable):
        await put_bytes(objects, "a", b"x")
    assert logs
    assert SECRET not in str(logs)


def test_settings_reach_a_child_process_and_mask_the_secret(database: Database) -> None:
    settings = database.settings.model_copy(update={"objects": _settings("http://s3.test:9000")})
    assert SECRET not in repr(settings)
    variables = to_environment(settings)
    parsed = ObjectsSettings.model_validate_json(variables["AGENT_RFT_OBJECTS"])
    assert parsed == settings.objects
    assert isinstance(build_objects(settings), S3Objects)


@cases(
    "wrong",
    [
        {"access_key_id": "a"},
        {"secret_access_key": "a"},
        {"bucket": "b"},
        {"prefix": "/a"},
        {"prefix": "a/../b/"},
        {"endpoint": "s3.test:9000"},
        {"endpoint": "https://s3.test/path"},
        {"regoin": "us-east-1"},
    ],
)
def test_wrong_settings_are_refused_at_the_start(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        ObjectsSettings.model_validate({"bucket": "bucket", **wrong})


def test_variables_of_the_environment(monkeypatch: pytest.MonkeyPatch, database: Database) -> None:
    for name, value in {
        **to_environment(database.settings),
        "AGENT_RFT_OBJECTS__BUCKET": "models",
        "AGENT_RFT_OBJECTS__ENDPOINT": "https://s3.test",
        "AGENT_RFT_OBJECTS__ACCESS_KEY_ID": "key",
        "AGENT_RFT_OBJECTS__SECRET_ACCESS_KEY": SECRET,
    }.items():
        monkeypatch.setenv(name, value)
    found = Settings().objects
    assert found is not None
    assert (found.bucket, found.endpoint) == ("models", "https://s3.test")


def _settings(endpoint_url: str) -> ObjectsSettings:
    return ObjectsSettings.model_validate(
        {
            "bucket": "bucket",
            "endpoint": endpoint_url,
            "access_key_id": "key",
            "secret_access_key": SECRET,
        }
    )
