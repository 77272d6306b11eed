"""`agent-rft restore` of backups that somebody else wrote, damaged or changed: each is refused with
one sentence before anything of it is used.
"""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from app.cli import main as command_line
from app.local.backup_files import signature
from app.local.state import DataDir, ownership
from tests.support.embedded.backups import CONTENT, KEY, changed


def with_values(backup: Path, **values: Any) -> None:
    """Changes values of the manifest and signs it, as somebody with the key could."""
    manifest = json.loads((backup / "manifest.json").read_text())
    changed(backup, json.dumps({**manifest, **values}).encode())


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"format": 4}, "has another format than 3"),
        ({"schema": ["0001"]}, "schema: Input should be a valid string"),
        ({"schema": "9999"}, "is of another version"),
        ({"postgres": 99}, "is of Postgres 99"),
        ({"secret_key": "0" * 32}, "the secret key is not the one of the backup"),
        ({"missing": [None]}, "missing.0: Input should be a valid string"),
        ({"more": 1}, "more: Unexpected keyword argument"),
        ({"files": {"database.dump": "0" * 63 + "G"}}, "String should match pattern"),
        ({"files": {"database.dump": "0" * 64}}, "objects.tar is not in its manifest"),
        *(
            ({"files": {"database.dump": "0" * 64, name: "0" * 64}}, "is damaged: files")
            for name in ("../outside", "/etc/passwd", "state.json", "a\0b")
        ),
        ({"base_model": {"spec": 1}}, "is damaged: base_model"),
        ({"files": {"objects/\ud800": "0" * 64}}, "Invalid JSON"),
    ],
)
def test_a_signed_manifest_with_wrong_values_is_refused(
    backup: Path, refused: Callable[..., str], values: dict[str, Any], reason: str
) -> None:
    with_values(backup, **values)
    assert reason in refused()


@pytest.mark.parametrize("name", ["version", "files"])
def test_a_signed_manifest_that_lacks_a_value_is_refused(
    backup: Path, refused: Callable[..., str], name: str
) -> None:
    manifest = json.loads((backup / "manifest.json").read_text())
    del manifest[name]
    changed(backup, json.dumps(manifest).encode())
    assert f"{name}: Field required" in refused()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot be read as JSON"),
        (b"[]", "it is not an object"),
        (b"\xff\xfe{}", "cannot be read as JSON"),
        (b"[" * 100_000, "cannot be read as JSON"),
    ],
)
@pytest.mark.parametrize("signed", [True, False])
def test_a_manifest_that_is_no_json_is_refused(
    backup: Path, refused: Callable[..., str], content: bytes, reason: str, *, signed: bool
) -> None:
    changed(backup, content, signed=signed)
    if not signed:
        (backup / "manifest.hmac").unlink()
    assert reason in refused(*([] if signed else ["--unsigned"]))


@pytest.mark.parametrize("name", [*CONTENT, "manifest.json", "manifest.hmac"])
@pytest.mark.parametrize("change", ["flipped", "longer", "missing"])
def test_every_byte_counts(
    backup: Path, refused: Callable[..., str], name: str, change: str
) -> None:
    path = backup / name
    content = path.read_bytes()
    if change == "missing":
        path.unlink()
    else:
        flipped = content[:-1] + bytes([content[-1] ^ 1])
        path.write_bytes(flipped if change == "flipped" else content + b" x")
    refused()


def test_a_rewritten_backup_is_refused_although_its_digests_agree(
    backup: Path, refused: Callable[..., str]
) -> None:
    """Somebody without the key replaces the dump and its digest, and signs with another key."""
    (backup / "database.dump").write_bytes(b"forged")
    manifest = json.loads((backup / "manifest.json").read_text())
    manifest["files"]["database.dump"] = sha256(b"forged").hexdigest()
    content = json.dumps(manifest).encode()
    for signed in (signature(content, "o" * 32), b"", b"0" * 64, b"\xff" * 64):
        changed(backup, content, signed=False)
        (backup / "manifest.hmac").write_bytes(signed)
        assert "manifest.json was altered: it differs from its signature" in refused()
        assert "was altered" in refused("--unsigned"), "the flag is for backups without one"
    (backup / "manifest.hmac").unlink()
    assert "the backup is not signed" in refused()
    assert "--unsigned" in refused()


def test_another_key_and_an_altered_manifest_have_sentences_of_their_own(
    refused: Callable[..., str],
) -> None:
    assert "the secret key is not the one of the backup" in refused(key="x" * 32)
    assert "does not include the secret key" in refused(key=None)


@pytest.mark.parametrize(
    "secrets",
    [
        *(b"", b"[]", b"\xff", b'{"secret_key": "short"}'),
        json.dumps({"secret_key": KEY, "postgres_port": 1}).encode(),
        b"x" * 100_000,
    ],
)
def test_bad_secrets_are_refused(backup: Path, refused: Callable[..., str], secrets: bytes) -> None:
    (backup / "secrets.json").write_bytes(secrets)
    assert "secrets.json" in refused(key=None)


def test_an_unsigned_backup_is_used_only_when_requested(
    backup: Path, refused: Callable[..., str]
) -> None:
    (backup / "manifest.hmac").unlink()
    assert "the backup is not signed" in refused()
    (backup / "database.dump").write_bytes(b"other")
    assert "database.dump differs from its checksum" in refused("--unsigned")


def test_a_second_restore_leaves_the_work_of_the_first(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = DataDir.at(tmp_path / ".new.restoring")
    (first.root / "work of the first").touch()
    monkeypatch.setenv("AGENT_RFT_SECRET_KEY", KEY)
    arguments = ["--from", str(backup), "--data-dir", str(tmp_path / "new")]
    monkeypatch.setattr("sys.argv", ["agent-rft", "restore", *arguments])
    with ownership(first), pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 5
    assert (first.root / "work of the first").exists()


def test_a_target_within_the_backup_or_in_use_is_refused(
    backup: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    for target in (backup / "new", backup, backup / "database.dump"):
        assert refused("--data-dir", str(target), status=7)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert "is not empty" in refused("--data-dir", str(tmp_path / "link"), status=7)
    shutil.rmtree(backup)
    backup.mkdir()
    assert "it is not a backup, or one that was interrupted" in refused()
