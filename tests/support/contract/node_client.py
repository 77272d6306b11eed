"""The official Node client, installed once outside the tree, where there are node and npm."""

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
MANIFEST = REPOSITORY / "tests" / "contract" / "node" / "package.json"
_CACHE = REPOSITORY / "build" / "node-contract"


def installed_client() -> Path:
    """Returns a directory whose scripts may import `openai`; skips the test, loudly, if there
    cannot be.
    """
    if shutil.which("node") is None or shutil.which("npm") is None:
        _not_run("this machine has no node or no npm")
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process of the suite may ask for it, too
        _install()
    return _CACHE


def _install() -> None:
    manifest = MANIFEST.read_text(encoding="utf-8")
    marker = _CACHE / "installed.json"
    if not marker.is_file() or marker.read_text(encoding="utf-8") != manifest:
        (_CACHE / "package.json").write_text(manifest, encoding="utf-8")
        install = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"]
        done = subprocess.run(install, cwd=_CACHE, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            _not_run(f"npm could not install the client: {done.stderr[-500:]}")
        marker.write_text(manifest, encoding="utf-8")


def _not_run(why: str) -> None:
    pytest.skip(f"TESTS OF THE NODE CLIENT DID NOT RUN: {why}")
