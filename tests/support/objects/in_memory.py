"""A bucket in memory."""

from obstore.store import MemoryStore

from app.kit.s3_objects import S3Objects


def in_memory_objects() -> S3Objects:
    return S3Objects(MemoryStore())
