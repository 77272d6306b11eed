"""The pictures of the documentation: pages show what the command takes, and it takes no others."""

import asyncio
import re
from pathlib import Path
from typing import get_args

import pytest
from PIL import Image, ImageStat

from docs.site import pictures
from docs.site.pages import ROOT
from tests.support.dashboard.browser import Theme, missing
from tests.support.stack import Database
from tests.support.web.api_server import running_api


def test_pages_show_each_picture_that_the_command_takes() -> None:
    pages = (path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    shown = [name for page in pages for name in re.findall(r"\]\(pictures/([^)]+)\)", page)]
    assert sorted(shown) == sorted(f"{name}-light.webp" for name in pictures.PAGES)


def test_the_folder_has_what_the_command_takes() -> None:
    taken = {f"{name}-{theme}.webp" for name in pictures.PAGES for theme in get_args(Theme)}
    assert {path.name for path in pictures.FOLDER.iterdir()} == taken


def test_the_command_takes_each_picture_in_both_themes(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Widths alone are those of the committed pictures: heights depend on the machine's fonts."""
    if reason := missing():
        pytest.skip(reason)
    committed = {path.name: _width(path) for path in pictures.FOLDER.iterdir()}
    taken = tmp_path / "pictures"
    taken.mkdir()
    monkeypatch.setattr(pictures, "FOLDER", taken)
    with running_api(database.settings.model_copy(update={"egress": pictures.EGRESS})) as server:
        asyncio.run(pictures.pictures(server, database))
    assert {path.name: _width(path) for path in taken.iterdir()} == committed
    for name in pictures.PAGES:
        assert _brightness(taken / f"{name}-light.webp") > 200, name
        assert _brightness(taken / f"{name}-dark.webp") < 60, name


def _width(path: Path) -> int:
    with Image.open(path) as picture:
        return picture.width


def _brightness(path: Path) -> float:
    """Returns the mean grey, from 0 to 255."""
    with Image.open(path) as picture:
        return ImageStat.Stat(picture.convert("L")).mean[0]
