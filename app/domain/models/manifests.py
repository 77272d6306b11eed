"""The manifest of a committed directory: the SHA-256 of every other file in it, by name.

Owns the manifest's name and format. Pure: callers read the files and compute their digests.
"""

import json
from collections.abc import Mapping
from typing import Final

from app.domain.errors import AgentRftError

MANIFEST: Final = "manifest.json"


class ManifestMismatch(AgentRftError):
    """A committed directory differs from its manifest."""


def manifest_text(digests: Mapping[str, str]) -> str:
    return json.dumps({"sha256": dict(digests)}, indent=2, sort_keys=True) + "\n"


def read_manifest(directory: str, content: bytes) -> dict[str, str]:
    """Returns the digests by file name. Raises `ManifestMismatch` unless `content` is a manifest of
    plain file names; `directory` names the directory in the message.
    """
    try:
        digests = json.loads(content)["sha256"]
        items = {str(name): str(digest) for name, digest in digests.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ManifestMismatch(f"{directory} has no readable manifest: {error}") from error
    if any("/" in name or name in ("", ".", "..", MANIFEST) for name in items):
        raise ManifestMismatch(f"{directory} has a manifest with a path in it")
    return items


def check_digests(directory: str, expected: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raises `ManifestMismatch` and names the files that differ, are missing or are not in the
    manifest.
    """
    if found != expected:
        wrong = sorted({name for name, _ in expected.items() ^ found.items()})
        raise ManifestMismatch(f"{directory} differs from its manifest in {wrong}")
