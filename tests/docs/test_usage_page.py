"""The page of usage lists every change of the audit log."""

import re
from pathlib import Path

from app.accounts.audit import AUDIT_EVENT_TYPES

PAGE = (Path(__file__).parents[2] / "docs" / "usage.md").read_text(encoding="utf-8")


def test_the_table_has_every_event() -> None:
    listed = set[str]()
    for nouns, verbs in re.findall(r"^\| (`[a-z_.`, ]+`) \| (`[^|\n]*) \|$", PAGE, re.MULTILINE):
        names = re.findall(r"`([a-z_.]+)`", nouns)
        listed |= {f"{noun}.{verb}" for noun in names for verb in re.findall(r"`([a-z]+)`", verbs)}
    assert set(AUDIT_EVENT_TYPES) <= listed, sorted({*AUDIT_EVENT_TYPES} - listed)
