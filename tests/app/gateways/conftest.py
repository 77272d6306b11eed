"""Storages of each kind."""

from pathlib import Path

import pytest

from app.kit.objects import LocalObjects, Objects
from tests.support.objects.in_memory import in_memory_objects
from tests.support.objects.s3_server import S3Server


@pytest.fixture(params=["local", "in memory", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    match request.param:
        case "local":
            return LocalObjects(tmp_path / "objects")
        case "in memory":
            return in_memory_objects()
        case _:
            return _s3(request.getfixturevalue("s3"))


def _s3(server: S3Server) -> Objects:
    from app.kit.s3_objects import open_bucket  # noqa: PLC0415 - after the check of the extra

    return open_bucket(server.settings())
