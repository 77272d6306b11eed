"""Backups of a small installation without engine or workers: one moment of rows and objects, and
every reason to refuse a restore.
"""

import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.local import backup as backup_module
from app.local import backup_files as manifest_module
from app.local.backup import restore, running_server, stage
from app.local.backup_files import BackupUnusable, Manifest
from app.local.base_model import ChosenModel, read_chosen, write_chosen
from app.local.provision import provision, revisions
from app.local.state import DataDir, DataDirUnusable, load_state, ownership
from app.models.models import BaseModelSpec
from app.settings import HostSettings, ObjectsSettings
from tests.support.embedded.backups import HOST, BackupInstallation


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackupInstallation]:
    data_dir = DataDir.at(tmp_path_factory.mktemp("installed"))
    data_dir.objects.mkdir()
    state = load_state(data_dir)
    with ownership(data_dir), running_server(data_dir, state, HOST) as server:
        provision(server, state)
        made = BackupInstallation(data_dir)
        made.migrate()
        made.execute("INSERT INTO organizations (id, slug, title) VALUES ('o', 'o', 'o')")
        made.execute("INSERT INTO projects (id, organization_id, name) VALUES ('p', 'o', 'p')")
        made.add_file("file-1")
        yield made


@pytest.fixture(scope="module")
def taken(installed: BackupInstallation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of one file."""
    return installed.back_up(tmp_path_factory.mktemp("taken"))


def _restored(source: Path, target: Path, host: HostSettings = HOST) -> list[tuple[object, ...]]:
    """Returns revision and files of a restored installation."""
    restore(source, target, host)
    data_dir = DataDir.existing(target)
    query = "SELECT version_num, (SELECT string_agg(id, ' ' ORDER BY id) FROM files)"
    with ownership(data_dir), running_server(data_dir, load_state(data_dir), HOST):
        return BackupInstallation(data_dir).execute(f"{query} FROM alembic_version")


def test_a_backup_is_restored(taken: Path, tmp_path: Path) -> None:
    before = {path.name: path.stat().st_mode & 0o777 for path in taken.iterdir()}
    assert before["secrets.json"] == before["manifest.json"] == before["manifest.hmac"] == 0o600
    target = tmp_path / "new"
    assert _restored(taken, target) == [(max(revisions()), "file-1")]
    assert (target / "objects/projects/p/files/file-1").read_text() == "content of file-1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new"]
    with pytest.raises(DataDirUnusable, match="is not empty"):
        restore(taken, target, HOST)


def test_rows_and_objects_are_of_one_moment(
    installed: BackupInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service deletes a file between the snapshot and its objects, and stores another one."""
    installed.add_file("file-gone")
    moments: list[frozenset[str]] = []

    def late(objects: Path, needed: frozenset[str], target: Path) -> frozenset[str]:
        if not moments:
            installed.remove_file("file-gone")
            installed.add_file("file-2")
        missing = stage(objects, needed, target)
        moments.append(missing)
        return missing

    monkeypatch.setattr(backup_module, "stage", late)
    backup = installed.back_up(tmp_path / "backup")
    assert moments == [frozenset({"projects/p/files/file-gone"}), frozenset()]
    with tarfile.open(backup / "objects.tar") as archive:
        assert {Path(name).name for name in archive.getnames()} == {"file-1", "file-2"}
    assert _restored(backup, tmp_path / "new")[0][1] == "file-1 file-2"
    installed.remove_file("file-2")


def test_lost_objects_are_named_and_a_bucket_is_left_alone(
    installed: BackupInstallation, tmp_path: Path
) -> None:
    installed.add_file("file-lost")
    (installed.data_dir.objects / "projects/p/files/file-lost").unlink()
    lost = json.loads((installed.back_up(tmp_path / "a") / "manifest.json").read_text())
    assert lost["missing"] == ["projects/p/files/file-lost"]
    installed.execute("DELETE FROM files WHERE id = 'file-lost'")
    bucket = ObjectsSettings(bucket="models")
    whole = installed.back_up(tmp_path / "b", bucket=bucket)
    manifest = json.loads((whole / "manifest.json").read_text())
    assert (manifest["bucket"], manifest["missing"]) == ("models", [])
    assert not (whole / "objects.tar").exists()


def test_the_secret_key_is_a_choice_and_must_be_the_same(
    installed: BackupInstallation, tmp_path: Path
) -> None:
    backup, target = installed.back_up(tmp_path / "b", with_secret_key=False), tmp_path / "new"
    key = load_state(installed.data_dir).secret_key
    assert not (backup / "secrets.json").exists()
    files = [path for path in backup.rglob("*") if path.is_file()]
    assert {"manifest.json"} < {path.name for path in files}
    assert [path for path in files if key.encode() in path.read_bytes()] == []
    with pytest.raises(BackupUnusable, match="does not include the secret key"):
        restore(backup, target, HOST)
    other = HostSettings(secret_key="x" * 32)
    with pytest.raises(BackupUnusable, match="is not the one of the backup"):
        restore(backup, target, other)
    assert not target.exists()
    same = HostSettings(secret_key=key)
    restore(backup, target, same)
    assert load_state(DataDir.existing(target)).secret_key == key


def test_an_unsigned_backup_is_restored_when_requested(taken: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    shutil.copytree(taken, backup)
    (backup / "manifest.hmac").unlink()
    with pytest.raises(BackupUnusable, match="is not signed"):
        restore(backup, tmp_path / "new", HOST)
    restore(backup, tmp_path / "new", HOST, unsigned=True)
    assert (tmp_path / "new/objects/projects/p/files/file-1").read_text() == "content of file-1"


def test_what_changes_after_it_was_verified_is_not_used(
    taken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = tmp_path / "backup"
    shutil.copytree(taken, backup)
    verify = manifest_module.verify
    for name in ("database.dump", "objects.tar"):
        path, content = backup / name, (backup / name).read_bytes()

        def and_then_changed(directory: Path, manifest: Manifest, path: Path = path) -> None:
            verify(directory, manifest)
            path.write_bytes(path.read_bytes() + b"changed")

        monkeypatch.setattr(manifest_module, "verify", and_then_changed)
        with pytest.raises(BackupUnusable, match=f"{name} differs from its checksum"):
            restore(backup, tmp_path / "new", HOST)
        path.write_bytes(content)
    assert [path.name for path in tmp_path.iterdir()] == ["backup"]


def test_a_restore_continues_where_a_killed_one_left_its_work(taken: Path, tmp_path: Path) -> None:
    """What it made is stopped, and a backup is taken of it as well."""
    left = DataDir.at(tmp_path / ".new.restoring")
    (left.objects / "half").mkdir(parents=True)
    left.lock_file.touch()
    restore(taken, tmp_path / "new", HOST)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert not (tmp_path / "new/objects/half").exists()
    assert not (tmp_path / "new/database.dump").exists()
    assert not (tmp_path / "new/supervisor.lock").exists()
    stopped = BackupInstallation(DataDir.existing(tmp_path / "new"))
    again = stopped.back_up(tmp_path / "again")
    manifest = json.loads((again / "manifest.json").read_text())
    assert (manifest["schema"], manifest["missing"]) == (max(revisions()), [])
    with pytest.raises(BackupUnusable, match="is not empty"):
        stopped.back_up(tmp_path / "again")
    assert not list(stopped.data_dir.root.glob("backup-*"))


def test_a_restore_that_fails_leaves_nothing(
    taken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr("app.local.backup._migrate", killed)
    with pytest.raises(RuntimeError, match="killed"):
        restore(taken, tmp_path / "new", HOST)
    assert list(tmp_path.iterdir()) == []


def test_the_base_model_of_the_last_start_is_restored(
    installed: BackupInstallation, tmp_path: Path
) -> None:
    spec = BaseModelSpec(name="m", path="/models/m", context_length=64)
    chosen = ChosenModel(spec=spec, engine="cpu", hub_id="Somebody/M", commit="c" * 40)
    write_chosen(installed.data_dir, chosen)
    try:
        backup = installed.back_up(tmp_path / "backup")
    finally:
        installed.data_dir.base_model_file.unlink()
    target = tmp_path / "new"
    restore(backup, target, HOST)
    restored = DataDir.existing(target)
    assert read_chosen(restored) == chosen
    assert restored.base_model_file.stat().st_mode & 0o777 == 0o600
    again = BackupInstallation(restored).back_up(tmp_path / "again")
    first, second = (json.loads((at / "manifest.json").read_text()) for at in (backup, again))
    assert first["base_model"] == second["base_model"]


def test_a_directory_that_loses_files_while_it_is_linked_is_missing(tmp_path: Path) -> None:
    directory = tmp_path / "objects/job/step-1/adapter"
    directory.mkdir(parents=True)
    (directory / "manifest.json").write_text('{"sha256": {"a": "1", "b": "2"}}')
    (directory / "a").touch()
    needed = frozenset({"job/step-1/adapter"})
    assert stage(tmp_path / "objects", needed, tmp_path / "stage") == needed
    (directory / "b").touch()
    assert stage(tmp_path / "objects", needed, tmp_path / "again") == frozenset()
