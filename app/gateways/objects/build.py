"""Builds the object storage that the settings select."""

from app.gateways.free_space import FreeSpace
from app.gateways.objects.local import LocalObjects
from app.gateways.objects.objects import Objects
from app.settings.settings import Settings


def build_objects(settings: Settings) -> Objects:
    if settings.objects is None:
        return LocalObjects(settings.objects_dir, space=FreeSpace.of(settings))
    from app.gateways.objects.s3 import S3Objects  # noqa: PLC0415 - needs an optional library

    return S3Objects(settings.objects)
