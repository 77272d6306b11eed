"""A small backup of known content, changes of it, and an installation to take backups of."""

import io
import json
import tarfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import psycopg

from app.local.backup import BackupOptions, take
from app.local.backup_files import FileName, signature
from app.local.provision import database_url, upgrade
from app.local.servers import SUPERUSER
from app.local.state import DataDir, load_state
from app.settings import OWNER_ROLE, HostSettings, ObjectsSettings

HOST = HostSettings()

KEY = "k" * 32
OBJECT = "projects/p/files/file-1"


def packed(*members: tuple[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    """An archive of objects."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return content.getvalue()


CONTENT: dict[FileName, bytes] = {
    "database.dump": b"dump",
    "objects.tar": packed((OBJECT, b"content")),
}


def changed(backup: Path, content: bytes, *, signed: bool = True) -> None:
    (backup / "manifest.json").write_bytes(content)
    if signed:
        (backup / "manifest.hmac").write_bytes(signature(content, KEY))


def with_objects(backup: Path, content: bytes) -> None:
    """Replaces the objects and signs the backup, as somebody with the key could."""
    (backup / "objects.tar").write_bytes(content)
    manifest = json.loads((backup / "manifest.json").read_text())
    manifest["files"]["objects.tar"] = sha256(content).hexdigest()
    changed(backup, json.dumps(manifest).encode())


@dataclass(frozen=True, slots=True)
class BackupInstallation:
    data_dir: DataDir

    def execute(self, query: str) -> list[tuple[object, ...]]:
        state = load_state(self.data_dir)
        url = database_url(
            state.postgres_port, role=SUPERUSER, password=state.superuser_password
        ).replace("+psycopg", "")
        with psycopg.connect(url) as connection:
            cursor = connection.execute(query.encode())
            return cursor.fetchall() if cursor.description else []

    def add_file(self, name: str) -> None:
        key = f"projects/p/files/{name}"
        path = self.data_dir.objects / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}")
        self.execute(
            "INSERT INTO files (id, project_id, filename, purpose, bytes, sha256, object_key,"
            f" status) VALUES ('{name}', 'p', 'f', 'fine-tune', 1, 'x', '{key}', 'processed')"
        )

    def remove_file(self, name: str) -> None:
        (self.data_dir.objects / f"projects/p/files/{name}").unlink()
        self.execute(f"DELETE FROM files WHERE id = '{name}'")

    def migrate(self) -> None:
        state = load_state(self.data_dir)
        upgrade(database_url(state.postgres_port, role=OWNER_ROLE, password=state.owner_password))

    def back_up(
        self, out: Path, *, with_secret_key: bool = True, bucket: ObjectsSettings | None = None
    ) -> Path:
        objects = self.data_dir.objects
        take(self.data_dir, BackupOptions(out, with_secret_key, bucket, objects), HOST)
        return out
