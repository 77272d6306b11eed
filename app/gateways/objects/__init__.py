"""Objects: datasets, checkpoints and adapters as bytes under keys, on a disk or in an S3 bucket."""

from app.gateways.objects.build import build_objects
from app.gateways.objects.local import LocalObjects
from app.gateways.objects.local_copies import local_copy, work_directory
from app.gateways.objects.memory import InMemoryObjects
from app.gateways.objects.objects import (
    DOWNLOAD_CHUNK_BYTES,
    Objects,
    StoredChild,
    StoredObject,
    put_bytes,
)

__all__ = [
    "DOWNLOAD_CHUNK_BYTES",
    "InMemoryObjects",
    "LocalObjects",
    "Objects",
    "StoredChild",
    "StoredObject",
    "build_objects",
    "local_copy",
    "put_bytes",
    "work_directory",
]
