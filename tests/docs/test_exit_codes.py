"""Every exit code has one meaning, and the page lists it."""

import re
from pathlib import Path

from app.kit import processes as exit_codes

CODES = {
    name: value
    for name, value in vars(exit_codes).items()
    if name[0].isupper() and name.isupper() and isinstance(value, int)
}
PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def test_no_two_failures_share_a_code() -> None:
    assert len(set(CODES.values())) == len(CODES) > 10


def test_the_page_lists_all_codes_and_no_others() -> None:
    _, _, section = PAGE.read_text(encoding="utf-8").partition("## Exit codes\n")
    rows = section.partition("\n## ")[0]
    listed = [int(code) for code in re.findall(r"^\| (\d+) \|", rows, re.MULTILINE)]
    assert listed == sorted(CODES.values())
