"""Moves the scripts and styles inside the pages to files, so that a strict policy admits the pages.

The theme writes a script that reads the chosen colours, a style with the colours of code, and
attributes of style on its icons. The policy of the service admits none of them, and no exception is
made for them: a page that keeps one is an error.
"""

import hashlib
import re
from pathlib import Path
from typing import Final

_INSIDE: Final = re.compile(r"<(?P<tag>script|style)>(?P<content>.*?)</(?P=tag)>", re.DOTALL)
_STYLE: Final = re.compile(r' style="(?P<name>display|opacity): (?P<value>[\w%]+);?"')
_LEFT: Final = re.compile(r"<script(?![^>]* src=)[^>]*>|<style|\sstyle=|\son\w+=\"")


class InlineCodeError(Exception):
    """A page has a script or style that could not be moved to a file."""


def move_inline(site: Path) -> None:
    """Rewrites every page of a site."""
    for page in sorted(site.rglob("*.html")):
        up = "../" * (len(page.relative_to(site).parts) - 1)
        text = _INSIDE.sub(lambda match: _to_file(site, up, match), page.read_text("utf-8"))  # noqa: B023 - called at once
        text = _STYLE.sub(r' \g<name>="\g<value>"', text)
        # Sphinx gives the captions of the navigation no level, without which a heading is not one.
        text = text.replace(' role="heading"', ' role="heading" aria-level="2"')
        tags = re.sub(r"(?<=>)[^<]+", "", text)
        if left := _LEFT.search(tags):
            raise InlineCodeError(f"{page.name}: {left[0]}")
        page.write_text(text, encoding="utf-8")


def _to_file(site: Path, up: str, match: re.Match[str]) -> str:
    content = match["content"].strip() + "\n"
    digest = hashlib.sha256(content.encode()).hexdigest()[:12]
    is_script = match["tag"] == "script"
    name = f"_static/{'script' if is_script else 'style'}-{digest}.{'js' if is_script else 'css'}"
    (site / name).write_text(content, encoding="utf-8")
    if is_script:
        return f'<script src="{up}{name}"></script>'
    return f'<link rel="stylesheet" href="{up}{name}">'
