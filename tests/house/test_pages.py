import re

from tests.house.tree import ROOT

RECORDS = ROOT / "docs" / "decisions"


def test_the_glossary_stays_short_and_explains_each_term_once() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", text, re.MULTILINE)
    terms = [row for row in rows if row != "term" and not row.startswith("-")]
    assert [term for term in terms if "," in term or ";" in term] == []
    assert 30 < len(terms) <= 60
    assert sorted(set(terms)) == sorted(terms)


def test_the_index_lists_every_decision_with_its_title() -> None:
    index = (RECORDS / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| \[\d{4}\]\((\S+)\) \| (.+) \|$", index, re.MULTILINE))
    titles = {
        path.name: path.read_text(encoding="utf-8").splitlines()[0].split(": ", 1)[1]
        for path in RECORDS.glob("0*.md")
    }
    assert listed == titles


def test_numbers_without_a_record_are_explained() -> None:
    index = (RECORDS / "README.md").read_text(encoding="utf-8")
    numbers = {int(path.name[:4]) for path in RECORDS.glob("0*.md")}
    missing = [n for n in range(1, max(numbers) + 1) if n not in numbers]
    assert [n for n in missing if f"{n:04}" not in index] == []


def test_every_decision_names_what_enforces_it() -> None:
    texts = [path.read_text(encoding="utf-8") for path in RECORDS.glob("0*.md")]
    assert [text.splitlines()[0] for text in texts if "**Enforced by**" not in text] == []
