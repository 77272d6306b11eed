"""A model's directory: local, or fetched from a hub on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants, set_client_factory
from huggingface_hub.utils._http import default_client_factory

from app.local.preparation import fetch_weights, find_model
from app.local.state import ModelNotFound
from tests.support.models.hub_server import Hub, hub_server

HUB_ID = "Somebody/Tiny-Model"
FILES = {
    "config.json": b"{}",
    "tokenizer.json": b'{"model": {}}',
    "model.safetensors": b"weights" * 1000,
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    directory = tmp_path / "files"
    directory.mkdir()
    for name, content in FILES.items():
        (directory / name).write_bytes(content)
    (directory / "pytorch_model.bin").write_bytes(b"the same once more")
    return directory


@pytest.fixture
def hub(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    set_client_factory(default_client_factory)  # not the guarded one of a test of data sets
    with hub_server(HUB_ID, files) as hub:
        _point_to(hub.url, monkeypatch)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        yield hub


def _point_to(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", url)
    pages = f"{url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", pages)


def test_weights_come_after_the_small_files_and_once(hub: Hub) -> None:
    source = find_model(HUB_ID)
    assert (source.name, source.hub_id, source.commit) == ("Tiny-Model", HUB_ID, hub.main)
    assert sorted(hub.fetched) == ["config.json", "tokenizer.json"]
    for _ in range(2):
        fetch_weights(source)
    assert (source.directory / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    assert hub.fetched.count("model.safetensors") == 1
    assert "pytorch_model.bin" not in hub.fetched


def test_a_commit_stays_whatever_main_becomes(hub: Hub, files: Path) -> None:
    first = find_model(HUB_ID)
    (files / "config.json").write_bytes(b'{"newer": 1}')
    hub.commit(files)
    assert find_model(HUB_ID, revision=first.commit) == first
    newer = find_model(HUB_ID)
    assert newer.commit == hub.main != first.commit
    assert (newer.directory / "config.json").read_bytes() == b'{"newer": 1}'


@pytest.mark.usefixtures("hub")
def test_without_a_network_the_cache_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    source = find_model(HUB_ID)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert find_model(HUB_ID) == source
    with pytest.raises(ModelNotFound, match="is not, or only in part, in the hub cache"):
        fetch_weights(source)


@pytest.mark.parametrize(
    ("named", "revision", "gated", "says"),
    [
        ("somebody/else", None, False, "the hub has no model somebody/else"),
        (HUB_ID, "v7", False, "has no revision 'v7'"),
        (HUB_ID, None, True, "accept its terms"),
        ("no-such-directory", None, False, "it is not a hub id such as"),
    ],
)
def test_what_the_hub_does_not_give_is_named(
    hub: Hub, named: str, revision: str | None, says: str, *, gated: bool
) -> None:
    hub.gated = gated
    with pytest.raises(ModelNotFound, match=says):
        find_model(named, revision=revision)


def test_a_directory_without_safetensors_is_named(files: Path) -> None:
    source = find_model(str(files))
    fetch_weights(source)
    (files / "model.safetensors").unlink()
    with pytest.raises(ModelNotFound, match=r"lacks model\.safetensors"):
        fetch_weights(source)
