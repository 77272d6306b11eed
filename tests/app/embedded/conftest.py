"""A backup that a test damages, and the command that must refuse it."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from app.cli import main as command_line
from app.kit.processes import BACKUP_UNUSABLE
from app.local.backup_files import Manifest, fingerprint, write
from app.local.provision import revisions
from tests.support.embedded.backups import CONTENT, KEY


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A signed backup whose dump is none: a restore that gets as far as Postgres fails there."""
    directory = tmp_path / "backup"
    for name, content in CONTENT.items():
        directory.mkdir(exist_ok=True)
        (directory / name).write_bytes(content)
    made = Manifest(
        format=3,
        taken_at="2026-01-01T00:00:00+00:00",
        version="0",
        schema=max(revisions()),
        postgres=1,
        secret_key=fingerprint(KEY),
        bucket=None,
        objects=1,
        base_model=None,
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

    def run(*options: str, key: str | None = KEY, status: int = BACKUP_UNUSABLE) -> str:
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
