"""The build of the pages: all pages are in it, and it refuses links to nothing and inline code."""

import re
from pathlib import Path

import pytest

from docs.site import contents, pages
from docs.site.build import build
from docs.site.inline import InlineCodeError, move_inline
from docs.site.pages import ROOT, BrokenLinkError, copy_pages


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the one page of a small repository, for a test to write."""
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setitem(contents.SECTIONS, "First steps", ("docs/page.md",))
    for title in contents.SECTIONS.keys() - {"First steps"}:
        monkeypatch.delitem(contents.SECTIONS, title)
    monkeypatch.setattr(pages, "_first_page", lambda: "# All\n\n```{toctree}\npage\n```\n")
    return tmp_path / "docs" / "page.md"


def test_every_page_of_the_folder_is_in_the_navigation_under_a_name_of_its_own() -> None:
    listed = contents.names()
    folder = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    assert {path for path in listed if path.startswith("docs/")} == folder | pages.MADE.keys()
    assert len(set(listed.values())) == len(listed)


def test_the_image_has_every_file_that_the_build_reads() -> None:
    image = (ROOT / "Dockerfile").read_text()
    stage = image.partition(" AS pages\n")[2].partition("\nFROM ")[0]
    copied = [
        word
        for line in re.findall(r"^COPY (.+) \S+$", stage, re.MULTILINE)
        for word in line.split()
    ]
    read = [*contents.names(), *(str(path) for path in pages.linked_files())]
    assert len(read) > len(contents.names())
    assert [path for path in read if not path.startswith(tuple(copied))] == []


def test_links_to_pages_stay_links_and_links_to_other_files_become_text(
    page: Path, tmp_path: Path
) -> None:
    (tmp_path / "server.py").touch()
    page.write_text(
        "# Page\n\nSee [this](page.md#page), [a server](../server.py), [the list](/) and\n"
        "[elsewhere](https://example.com/x).\n\n    [code](none.md)\n"
    )
    copied = tmp_path / "copy"
    copied.mkdir()
    copy_pages(copied)
    assert (copied / "page.md").read_text() == (
        '# Page\n\nSee [this](page.md#page), a server, <a href="../">the list</a> and\n'
        "[elsewhere](https://example.com/x).\n\n    [code](none.md)\n"
    )


@pytest.mark.parametrize("target", ["none.md", "/none"])
def test_a_link_to_a_file_that_does_not_exist_ends_the_build(
    page: Path, tmp_path: Path, target: str
) -> None:
    page.write_text(f"# Page\n\nSee [this]({target}).\n")
    with pytest.raises(BrokenLinkError, match="none"):
        copy_pages(tmp_path)


def test_a_link_to_a_heading_that_does_not_exist_fails_the_build(
    page: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "old.html").touch()
    page.write_text("# Page\n\nSee [this](page.md#none).\n")
    assert build(site) != 0
    assert "'none'" in capfd.readouterr().err
    assert [path.name for path in site.iterdir()] == ["old.html"], "the pages before are kept"


@pytest.mark.parametrize(
    "inline",
    [
        '<p onclick="x()">x</p>',
        '<script type="module">x()</script>',
    ],
)
def test_code_inside_a_page_that_cannot_be_moved_to_a_file_is_an_error(
    tmp_path: Path, inline: str
) -> None:
    (tmp_path / "page.html").write_text(f"<html><body>{inline}</body></html>")
    with pytest.raises(InlineCodeError, match=r"page\.html"):
        move_inline(tmp_path)


def test_scripts_and_styles_become_files(tmp_path: Path) -> None:
    (tmp_path / "_static").mkdir()
    (tmp_path / "deep").mkdir()
    page = tmp_path / "deep" / "page.html"
    page.write_text('<style>p { }</style><script>run()</script><svg style="display: none;"></svg>')
    move_inline(tmp_path)
    text = page.read_text()
    for suffix, content in (("js", "run()\n"), ("css", "p { }\n")):
        (file,) = (tmp_path / "_static").glob(f"*.{suffix}")
        assert file.read_text() == content
        assert f'="../_static/{file.name}"' in text
    assert text.endswith('<svg display="none"></svg>')
