"""`agent-rft restore` of backups that somebody else wrote, damaged or changed: each is refused with
one sentence before anything of it is used.
"""

import json
import os
import shutil
import socket
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from app.cli import main as command_line
from app.embedded.backup.manifest import Manifest, fingerprint, signature, write
from app.embedded.migrate import revisions
from app.embedded.state import DataDir, ownership

KEY = "k" * 32
OBJECT = "objects/projects/p/files/file-1"
CONTENT = {"database.dump": b"dump", OBJECT: b"content"}
Change = Callable[[Path], None]


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A signed backup whose dump is none: a restore that gets as far as Postgres fails there."""
    directory = tmp_path / "backup"
    for name, content in CONTENT.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    made = Manifest(
        format=2,
        taken_at="2026-01-01T00:00:00+00:00",
        version="0",
        schema=max(revisions()),
        postgres=1,
        secret_key=fingerprint(KEY),
        bucket=None,
        missing=[],
        files={name: sha256(content).hexdigest() for name, content in CONTENT.items()},
    )
    write(directory, made, secret_key=KEY)
    return directory


@pytest.fixture
def refused(
    backup: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., str]:
    """Runs the command, which must refuse. Returns its sentence."""

    def run(*options: str, key: str | None = KEY, status: int = 8) -> str:
        target = tmp_path / "new"
        arguments = ["agent-rft", "restore", "--from", str(backup), "--data-dir", str(target)]
        monkeypatch.setattr("sys.argv", [*arguments, *options])
        if key is None:
            monkeypatch.delenv("AGENT_RFT_SECRET_KEY", raising=False)
        else:
            monkeypatch.setenv("AGENT_RFT_SECRET_KEY", key)
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        assert ended.value.code == status
        said = capsys.readouterr()
        assert said.out == ""
        assert not target.exists()
        assert not (tmp_path / ".new.restoring").exists()
        start, _, rest = said.err.partition("agent-rft: ")
        assert (start, rest.count("\n")) == ("", 1), said.err
        return rest.strip()

    return run


def changed(backup: Path, content: bytes, *, signed: bool = True) -> None:
    (backup / "manifest.json").write_bytes(content)
    if signed:
        (backup / "manifest.hmac").write_bytes(signature(content, KEY))


def with_values(backup: Path, **values: Any) -> None:
    """Changes values of the manifest and signs it, as somebody with the key could."""
    manifest = json.loads((backup / "manifest.json").read_text())
    changed(backup, json.dumps({**manifest, **values}).encode())


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"format": 3}, "has another format than 2"),
        ({"format": "2"}, "has another format than 2"),
        ({"format": None}, "has another format than 2"),
        ({"taken_at": 7}, "taken_at: Input should be a valid string"),
        ({"version": None}, "version: Input should be a valid string"),
        ({"schema": ["0001"]}, "schema: Input should be a valid string"),
        ({"schema": "9999"}, "is of a newer version"),
        ({"postgres": "16"}, "postgres: Input should be a valid integer"),
        ({"postgres": 16.5}, "postgres: Input should be a valid integer"),
        ({"postgres": True}, "postgres: Input should be a valid integer"),
        ({"postgres": 99}, "is of Postgres 99"),
        ({"secret_key": None}, "secret_key: Input should be a valid string"),
        ({"secret_key": "0" * 32}, "the secret key is not the one of the backup"),
        ({"bucket": 1}, "bucket: Input should be a valid string"),
        ({"missing": "all"}, "missing: Input should be a valid array"),
        ({"missing": [None]}, "missing.0: Input should be a valid string"),
        ({"more": 1}, "more: Unexpected keyword argument"),
        ({"files": []}, "files: Input should be an object"),
        ({"files": {}}, "does not name database.dump"),
        ({"files": {"database.dump": 7}}, "files.database.dump: Input should be a valid string"),
        ({"files": {"database.dump": "0"}}, "files.database.dump: String should match pattern"),
        ({"files": {"database.dump": "0" * 63 + "G"}}, "String should match pattern"),
        ({"files": {"database.dump": "0" * 64}}, "objects/projects/p/files/file-1 is not in its"),
        *(
            ({"files": {"database.dump": "0" * 64, name: "0" * 64}}, "which is no path of a backup")
            for name in (
                *("../outside", "objects/../../outside", "/etc/passwd", "objects//a", "objects/"),
                *("objects", "objects/./a", "", ".", "state.json", "objects/a\0b", "objects/a/.."),
            )
        ),
        ({"files": {"objects/\ud800": "0" * 64}}, "Invalid JSON"),
    ],
)
def test_a_signed_manifest_with_wrong_values_is_refused(
    backup: Path, refused: Callable[..., str], values: dict[str, Any], reason: str
) -> None:
    with_values(backup, **values)
    assert reason in refused()


@pytest.mark.parametrize("name", ["taken_at", "version", "schema", "postgres", "files", "missing"])
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
        (b"{", "cannot be read as JSON"),
        (b"[]", "it is not an object"),
        (b"null", "it is not an object"),
        (b"\xff\xfe{}", "cannot be read as JSON"),
        (b"\x80", "cannot be read as JSON"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b'{"format": ' + b"9" * 5_000 + b"}", "cannot be read as JSON"),
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


def replaced(name: str, make: Callable[[Path], object]) -> Change:
    def change(backup: Path) -> None:
        path = backup / name
        path.rename(backup.parent / "kept")
        make(path)

    return change


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def _link(path: Path) -> None:
    path.symlink_to("/dev/null")


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def _link_to_the_same(path: Path) -> None:
    """A link to the very content that the manifest promises."""
    [kept] = [each for each in path.parents if (each / "kept").exists()]
    path.symlink_to(kept / "kept")


@pytest.mark.parametrize("name", ["manifest.json", "manifest.hmac", "database.dump", OBJECT])
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(_link, "is a link", id="link"),
        pytest.param(_link_to_the_same, "is a link", id="same"),
        pytest.param(_link_to_itself, "is a link", id="loop"),
        pytest.param(os.mkfifo, "is a pipe", id="pipe"),
        pytest.param(_socket, "", id="socket"),
        pytest.param(Path.mkdir, "", id="directory"),
    ],
)
def test_anything_but_a_plain_file_is_refused(
    backup: Path,
    refused: Callable[..., str],
    name: str,
    make: Callable[[Path], object],
    reason: str,
) -> None:
    """A pipe that nobody writes to does not hang the command either."""
    replaced(name, make)(backup)
    said = refused()
    assert reason in said
    assert Path(name).name in said


@pytest.mark.parametrize("name", ["objects/extra", "extra", "objects/projects/p/extra"])
def test_a_pipe_or_a_link_beside_the_files_is_refused(
    backup: Path, refused: Callable[..., str], name: str
) -> None:
    os.mkfifo(backup / name)
    assert "extra is a pipe" in refused()
    (backup / name).unlink()
    (backup / name).symlink_to("/dev")
    assert "extra is a link" in refused()


def test_a_directory_that_is_a_link_is_refused(backup: Path, refused: Callable[..., str]) -> None:
    (backup / "objects").rename(backup.parent / "elsewhere")
    (backup / "objects").symlink_to(backup.parent / "elsewhere")
    assert "objects is a link" in refused()


@pytest.mark.parametrize("name", [*CONTENT, "manifest.json", "manifest.hmac"])
@pytest.mark.parametrize("change", ["flipped", "longer", "shorter", "empty", "missing"])
def test_every_byte_counts(
    backup: Path, refused: Callable[..., str], name: str, change: str
) -> None:
    path = backup / name
    content = path.read_bytes()
    if change == "missing":
        path.unlink()
    else:
        flipped = content[:-1] + bytes([content[-1] ^ 1])
        made = {"flipped": flipped, "longer": content + b" x", "shorter": content[:-1]}
        path.write_bytes(made.get(change, b""))
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
        *(b"", b"[]", b"{}", b"\xff", b'{"secret_key": 7}', b'{"secret_key": "short"}'),
        json.dumps({"secret_key": KEY, "api_key": 1}).encode(),
        json.dumps({"secret_key": KEY, "postgres_port": 1}).encode(),
        b"x" * 100_000,
    ],
)
def test_bad_secrets_are_refused(backup: Path, refused: Callable[..., str], secrets: bytes) -> None:
    (backup / "secrets.json").write_bytes(secrets)
    assert "secrets.json" in refused(key=None)


def test_an_unsigned_backup_is_used_only_when_asked_for(
    backup: Path, refused: Callable[..., str]
) -> None:
    (backup / "manifest.hmac").unlink()
    manifest = json.loads((backup / "manifest.json").read_text())
    changed(backup, json.dumps({**manifest, "format": 1}).encode(), signed=False)
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
    for target in (backup / "new", backup, backup / "objects", backup / "database.dump"):
        assert refused("--data-dir", str(target), status=7)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert "is not empty" in refused("--data-dir", str(tmp_path / "link"), status=7)
    shutil.rmtree(backup)
    backup.mkdir()
    assert "it is no backup, or one that was interrupted" in refused()
