"""Builds the pages that the service serves at `/docs`, from the Markdown pages of the repository.

Usage: python -m docs.site.build [FOLDER]

Replaces FOLDER, by default the one that the dashboard serves. Any warning of Sphinx is an error: a
link to a heading that does not exist, a page in no list. Needs the extra `docs`.
"""

import re
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Final

from sphinx.cmd.build import build_main

from app.pages.documentation import SITE
from docs.site.inline import move_inline
from docs.site.pages import ROOT, copy_pages

_UNUSED: Final = (".buildinfo", "objects.inv", "_static/**/*.map")
"""Files that Sphinx writes and no page loads."""


def build(target: Path) -> int:
    """Builds the site, then replaces the target; returns the exit status."""
    with tempfile.TemporaryDirectory() as directory:
        source, output = Path(directory, "source"), Path(directory, "site")
        source.mkdir()
        copy_pages(source)
        shutil.copytree(Path(__file__).with_name("assets"), source / "assets")
        shutil.copytree(ROOT / "docs" / "pictures", source / "pictures")
        shutil.copy(Path(__file__).with_name("conf.py"), source)
        status = build_main(
            ["-q", "-W", "--keep-going", "-d", f"{directory}/trees", str(source), str(output)]
        )
        if status != 0:
            return status
        move_inline(output)
        _add_licences(output / "_static" / "licences")
        shutil.rmtree(output / "_sources", ignore_errors=True)
        for pattern in _UNUSED:
            for path in output.glob(pattern):
                path.unlink()
        replace(target, output)
    return 0


def _add_licences(target: Path) -> None:
    """Copies the licences of the programs whose scripts and styles the site has."""
    target.mkdir()
    for name in ("furo", "sphinx"):
        for file in metadata.files(name) or ():
            if re.match(r"licen[sc]e", file.name, re.IGNORECASE) and "dist-info" in str(file):
                shutil.copy(str(file.locate()), target / f"{name}.txt")


def replace(target: Path, made: Path) -> None:
    """Puts a folder in the place of another one, which a running service may be reading."""
    beside = target.with_name(f".{target.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    shutil.copytree(made, beside)
    shutil.rmtree(target, ignore_errors=True)
    beside.rename(target)


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]) if len(sys.argv) > 1 else SITE))
