"""Copies the pages for Sphinx, with their links rewritten for the site.

A link to another page of the site leads to it, and Sphinx checks that its heading exists. A link to
another file of the repository becomes plain text, because a service does not serve its sources. A
link that begins with a slash is an address of the service. A link to nothing is an error.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from posixpath import normpath
from typing import Final

from docs.site import options
from docs.site.contents import SECTIONS, names

ROOT: Final = Path(__file__).resolve().parents[2]
ADDRESSES: Final = {
    "/docs/reference/": "reference/",
    "/openapi.json": "../openapi.json",
    "/": "../",
}
"""The addresses of the service that a page may link to, as they are written below `/docs/`."""
MADE: Final[dict[str, Callable[[], str]]] = {"docs/options.md": options.page}
"""Pages that are made from the code and have no file."""
_ELSEWHERE: Final = ("#", "/", "http://", "https://")
_LINK: Final = re.compile(r"(?<![!`])\[(?P<text>[^\]\[]*)\]\((?P<target>[^()\s]+)\)")
_FENCE: Final = re.compile(r"^(?:```|    )")


class BrokenLinkError(Exception):
    """A page has a link to a file or address that does not exist."""


def copy_pages(target: Path) -> None:
    """Writes all pages and the first one, which lists them, to a folder."""
    for path, name in names().items():
        text = "".join(_lines(path, _read(path)))
        (target / f"{name}.md").write_text(text, encoding="utf-8")
    (target / "index.md").write_text(_first_page(), encoding="utf-8")


def _read(path: str) -> str:
    return MADE[path]() if path in MADE else (ROOT / path).read_text(encoding="utf-8")


def linked_files() -> set[str]:
    """Returns the files that pages link to, other than pages."""
    texts = {path: _read(path) for path in names()}
    return {
        _file(path, match["target"])
        for path, text in texts.items()
        for match in _LINK.finditer(text)
        if not match["target"].startswith(_ELSEWHERE)
    } - names().keys()


def _file(path: str, target: str) -> str:
    """Returns the file that a link on a page leads to, below the repository's root."""
    return normpath(f"{Path(path).parent.as_posix()}/{target.partition('#')[0]}")


def _lines(path: str, text: str) -> Iterator[str]:
    """Yields the lines of a page; those of code are left as they are."""
    fenced = False
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            fenced = not fenced
        if fenced or _FENCE.match(line):
            yield line
        else:
            yield _LINK.sub(lambda match: _link(path, match["text"], match["target"]), line)


def _link(path: str, text: str, target: str) -> str:
    if target.startswith(("#", "http://", "https://")):
        return f"[{text}]({target})"
    if target.startswith("/"):
        if target not in ADDRESSES:
            raise BrokenLinkError(f"{path}: the service has no page {target}")
        return f'<a href="{ADDRESSES[target]}">{text}</a>'
    _, mark, heading = target.partition("#")
    found = _file(path, target)
    if found in names():
        return f"[{text}]({names()[found]}.md{mark}{heading})"
    if not (ROOT / found).exists():
        raise BrokenLinkError(f"{path}: no file {found}")
    return text


def _first_page() -> str:
    lines = [
        "# agent-rft",
        "",
        "Reinforcement fine-tuning of tool-using agents, as a service that you run yourself. Begin",
        "with the [quickstart](quickstart.md); a script for the hosted API",
        "[moves here](moving.md) with a few changed lines. Every call is in the",
        '<a href="reference/">API reference</a>, and the curves of your jobs are on',
        '<a href="../">the dashboard</a>.',
        "",
    ]
    for title, pages in SECTIONS.items():
        lines += ["```{toctree}", f":caption: {title}", ":maxdepth: 1", ""]
        lines += [names()[page] for page in pages]
        lines += ["```", ""]
    return "\n".join(lines)
