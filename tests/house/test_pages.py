"""The pages that are not about a feature: the glossary, the decisions, the maps of the tree."""

import re

import pytest

from tests.house.tree import ROOT, python_files

DECISIONS = ROOT / "docs" / "decisions"


def test_the_glossary_stays_short_and_explains_each_term_once() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", text, re.MULTILINE)
    terms = [row for row in rows if row != "term" and not row.startswith("-")]
    assert 30 < len(terms) <= 60
    assert sorted(set(terms)) == sorted(terms)


def test_decisions_are_few_short_pages_that_the_index_lists() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    pages = {each.name: each for each in DECISIONS.glob("*.md") if each.name != "README.md"}
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == set(pages)
    assert 10 < len(pages) <= 25
    long = [name for name, each in pages.items() if len(each.read_text("utf-8").splitlines()) > 60]
    assert long == []


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md"])
def test_a_map_names_every_room(page: str) -> None:
    rooms = {path.parts[:2] for path, _ in python_files("app", "workers") if len(path.parts) > 2}
    assert len(rooms) > 20
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [room for top, room in sorted(rooms) if not re.search(rf"\b{room}/", text)] == []
