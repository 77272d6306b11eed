"""Tuned models with stored adapters, and their downloads as bytes."""

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support.contract.service import Service
from tests.support.objects.stored_directories import store_adapter
from tests.support.patience import PATIENCE_S

WEIGHTS = bytes(range(251)) * 12_000
"""Weights of several chunks."""


@dataclass(frozen=True, slots=True)
class StoredModel:
    name: str
    directory: Path


def add_adapter(service: Service, job_id: str, name: str, weights: bytes = WEIGHTS) -> StoredModel:
    """Adds a tuned model of a job, with an adapter of its own; `job_id` makes its name unique."""
    engine_name = f"model-{len(name)}-{job_id[-8:]}"
    key = f"adapters/{engine_name}"
    root = service.database.settings.objects_dir
    stored = store_adapter(root, key, weights=weights)
    service.add_tuned_model(job_id, name, engine_name, object_key=key)
    return StoredModel(name, stored)


def get_adapter(service: Service, name: str, *, key: str | None = None, **headers: str) -> Any:
    """Sends one request; `if_range` is the header `If-Range`."""
    return httpx.get(
        f"{service.api.base_url}/models/{name}/adapter",
        headers={
            "Authorization": f"Bearer {key or service.api.key}",
            **{header.replace("_", "-"): value for header, value in headers.items()},
        },
        timeout=PATIENCE_S,
    )


def unpacked(archive: bytes) -> dict[str, bytes]:
    """Returns the content of each member, in the archive's order."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
        return {each.name: (tar.extractfile(each) or io.BytesIO()).read() for each in tar}
