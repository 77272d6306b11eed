"""Objects: datasets, checkpoints and adapters as bytes under keys, on a disk or in an S3 bucket."""

from app.kit.disks import FreeSpace
from app.kit.local_objects import LocalObjects, local_copy, work_directory
from app.kit.objects import (
    DOWNLOAD_CHUNK_BYTES,
    Objects,
    StoredChild,
    StoredObject,
    put_bytes,
)
from app.settings import Settings

__all__ = [
    "DOWNLOAD_CHUNK_BYTES",
    "LocalObjects",
    "Objects",
    "StoredChild",
    "StoredObject",
    "build_objects",
    "local_copy",
    "put_bytes",
    "work_directory",
]


def build_objects(settings: Settings) -> Objects:
    if settings.objects is None:
        return LocalObjects(settings.objects_dir, space=FreeSpace.of(settings))
    from app.kit.s3_objects import open_bucket  # noqa: PLC0415 - needs an optional library

    return open_bucket(settings.objects)
