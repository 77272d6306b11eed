from pathlib import Path

import pytest

from app.kit.directories import ManifestMismatch, commit_directory, verify_directory


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    directory = tmp_path / "deep" / "state"
    with commit_directory(directory) as partial:
        (partial / "a.bin").write_bytes(b"abc")
        (partial / "b.json").write_text("{}")
        assert not directory.exists()
    return directory


def test_whole_with_a_manifest_that_fits(committed: Path) -> None:
    assert sorted(p.name for p in committed.iterdir()) == ["a.bin", "b.json", "manifest.json"]
    assert list(committed.parent.iterdir()) == [committed]
    verify_directory(committed)


def test_nothing_is_left_of_a_failed_write(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), commit_directory(tmp_path / "state") as partial:
        (partial / "a.bin").write_bytes(b"abc")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_version_is_never_overwritten(committed: Path) -> None:
    with pytest.raises(FileExistsError), commit_directory(committed):
        pass
    verify_directory(committed)


@pytest.mark.parametrize("damage", ["flip", "missing", "extra", "manifest", "no manifest"])
def test_damage_is_found(committed: Path, damage: str) -> None:
    match damage:
        case "flip":
            (committed / "a.bin").write_bytes(b"abd")
        case "missing":
            (committed / "b.json").unlink()
        case "extra":
            (committed / "c").write_bytes(b"")
        case "manifest":
            (committed / "manifest.json").write_text("{")
        case _:
            (committed / "manifest.json").unlink()
    with pytest.raises(ManifestMismatch):
        verify_directory(committed)
