"""Row-level security is opened for all tenants in two modules, and only the GPU plane uses them.

A function of the database that runs as the tables' owner (`SECURITY DEFINER`) looks past the
policies as well: each is listed here with its reason and the one module that calls it.
"""

import re

import pytest

from tests.house.tenants import OWNERS_FUNCTIONS
from tests.house.tree import ROOT, imported, module_name, python_files

OWNERS = {"app.system": "app.across_tenants", "app.rewrap": "app.rewrapping"}
"""Each setting that shows rows of all tenants, and the module that sets it."""
CONTROL_PLANE = (
    r"app\.(?!events\.reader_store\b)"  # the workers' reader of the event log
    r"(?:main|wiring|dependencies|pages|cli|local|\w+\.(?:\w+_)?(?:routes|service|store))\b"
)
ADMITTED = {("app.wiring", "app.rewrapping")}
"""One command wraps the sealed blobs of all tenants, as the tables' owner."""
SOURCES = {module_name(path): text for path, text in python_files("app", "workers")}


@pytest.mark.parametrize(("setting", "owner"), OWNERS.items())
def test_one_module_sets_what_opens_all_tenants(setting: str, owner: str) -> None:
    assert [name for name, text in SOURCES.items() if f'"{setting}"' in text] == [owner]


def test_no_module_that_answers_requests_looks_across_tenants() -> None:
    opens = set(OWNERS.values())
    while True:  # who imports one of them looks across tenants, too, but where it answers requests
        more = {
            name
            for name, text in SOURCES.items()
            if name.startswith("app.")
            and not re.match(CONTROL_PLANE, name)
            and any(each in opens or each.rpartition(".")[0] in opens for each in imported(text))
        }
        if more <= opens:
            break
        opens |= more
    assert {"app.jobs.claims", "app.maintenance", "app.webhooks.deliveries"} <= opens
    found = {
        (name, owner)
        for name, text in SOURCES.items()
        if re.match(CONTROL_PLANE, name)
        for each in imported(text)
        for owner in (each, each.rpartition(".")[0])
        if owner in opens
    }
    assert found == ADMITTED


def test_functions_with_the_rights_of_the_owner_are_listed_and_have_one_caller() -> None:
    files = (ROOT / "migrations").rglob("*.*")
    texts = [path.read_text("utf-8") for path in files if path.suffix in {".py", ".sql"}]
    pattern = r"CREATE (?:OR REPLACE )?FUNCTION (?:public\.)?(\w+)"
    found = set[str]()
    for text in texts:
        _, *parts = re.split(pattern, text, flags=re.IGNORECASE)
        for name, rest in zip(parts[::2], parts[1::2], strict=True):
            if "security definer" in " ".join(rest.lower().split()):
                found.add(name)
    assert found == set(OWNERS_FUNCTIONS)
    for name, caller in OWNERS_FUNCTIONS.items():
        callers = [each for each, text in SOURCES.items() if f"{name}(" in text]
        assert callers == [caller]
