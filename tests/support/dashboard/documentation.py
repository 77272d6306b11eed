"""The pages of documentation, built once for all processes of a run, and served by the tests."""

import fcntl
import os
from pathlib import Path

import pytest
from fastapi.staticfiles import StaticFiles

from app.pages import documentation
from docs.site.build import build


def built_site(factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the built pages. Their build takes some seconds, and fails for any
    warning.
    """
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "documentation"
    shared.mkdir(exist_ok=True)
    with (shared / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        site = shared / "site"
        if not site.exists():
            assert build(site) == 0
    return site


def serve(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the application of the test serve these pages."""
    monkeypatch.setattr(documentation, "SITE", site)
    files = StaticFiles(directory=site, check_dir=False)
    monkeypatch.setattr(documentation, "_SITE_FILES", files)
