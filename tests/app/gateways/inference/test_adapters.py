"""Adapters on the disk that is shared with the engine."""

import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from app.kit.directories import commit_directory, verify_directory
from app.kit.objects import LocalObjects
from app.models.engine import AdapterCache, Completion
from tests.support.engines.in_memory import InMemoryInference

SIZE = 10_000


@pytest.fixture
def inference() -> InMemoryInference:
    return InMemoryInference(lambda *_: Completion((), (), "stop"))


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    """The storage, with four adapters."""
    for number in range(4):
        with commit_directory(tmp_path / "objects" / f"adapters/{number}") as partial:
            (partial / "weights").write_bytes(bytes([number]) * SIZE)
    return tmp_path / "objects"


def cache(objects: Path, max_bytes: int = 1 << 30) -> AdapterCache:
    return AdapterCache(LocalObjects(objects), objects.parent / "work", max_bytes=max_bytes)


def cached(objects: Path) -> list[str]:
    return sorted(path.name for path in (objects.parent / "work").iterdir())


async def test_an_adapter_is_fetched_once_and_loaded_from_its_copy(
    objects: Path, inference: InMemoryInference
) -> None:
    for _ in range(2):
        await cache(objects).load(inference, "model-1", object_key="adapters/1")
    (path,) = inference.adapters.values()
    verify_directory(path)
    assert path == objects.parent / "work" / "model-1"
    await LocalObjects(objects).delete("adapters/1")
    inference.adapters.clear()
    await cache(objects).load(inference, "model-1", object_key="adapters/1")
    assert list(inference.adapters) == ["model-1"], "an engine that starts anew finds it"


async def test_a_base_model_needs_nothing(objects: Path, inference: InMemoryInference) -> None:
    await cache(objects).load(inference, "base", object_key=None)
    assert inference.adapters == {}


async def test_the_ones_fetched_longest_ago_leave_cache_and_engine(
    objects: Path, inference: InMemoryInference
) -> None:
    small = cache(objects, max_bytes=3 * SIZE)
    for used_at, number in enumerate((0, 1)):
        await small.load(inference, f"model-{number}", object_key=f"adapters/{number}")
        os.utime(objects.parent / f"work/model-{number}", (used_at, used_at))
    for number in (0, 2):
        await small.load(inference, f"model-{number}", object_key=f"adapters/{number}")
    assert cached(objects) == ["model-0", "model-2"]
    assert sorted(inference.adapters) == ["model-0", "model-2"]
    os.utime(objects.parent / "work/model-0", (0, 0))
    await small.load(inference, "model-1", object_key="adapters/1")
    assert cached(objects) == ["model-1", "model-2"]


async def test_the_newest_stays_however_big(objects: Path, inference: InMemoryInference) -> None:
    tiny = cache(objects, max_bytes=1)
    for number in range(3):
        await tiny.load(inference, f"model-{number}", object_key=f"adapters/{number}")
    assert cached(objects) == ["model-2"]
    assert list(inference.adapters) == ["model-2"]


@pytest.mark.parametrize("damage", ["gone", "changed"])
async def test_an_adapter_that_cannot_be_read_is_not_loaded(
    objects: Path, inference: InMemoryInference, damage: str
) -> None:
    key = "adapters/9" if damage == "gone" else "adapters/1"
    (objects / "adapters/1/weights").write_bytes(b"changed")
    with capture_logs() as logs:
        await cache(objects).load(inference, "model-x", object_key=key)
    assert inference.adapters == {}
    assert [entry["event"] for entry in logs] == ["adapter cannot be read"]
    assert not (objects.parent / "work" / "model-x").exists()
