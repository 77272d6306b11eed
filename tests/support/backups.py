"""A small backup of known content, and changes of it."""

from pathlib import Path

from app.embedded.backup.manifest import signature

KEY = "k" * 32
OBJECT = "objects/projects/p/files/file-1"
CONTENT = {"database.dump": b"dump", OBJECT: b"content"}


def changed(backup: Path, content: bytes, *, signed: bool = True) -> None:
    (backup / "manifest.json").write_bytes(content)
    if signed:
        (backup / "manifest.hmac").write_bytes(signature(content, KEY))
