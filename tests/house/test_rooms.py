from pathlib import Path

import pytest

from tests.house.rooms import mutual
from tests.house.tree import ROOT, python_files

STORE = "app/store"
TIERS = ("app/api", "app/cli", "app/services", STORE, "app/gateways", "app/domain", "workers")
DIVIDED = (
    "app/dashboard",
    "app/domain/graders",
    "app/domain/jobs",
    "app/embedded",
    "app/grading",
    "app/services/jobs",
    "app/services/registry",
    "workers/engines/cpu",
    "workers/learning",
    "workers/processes",
    "workers/reinforcement",
    "workers/runs",
)
"""Rooms that have rooms of their own."""


@pytest.mark.parametrize("tier", [*TIERS, *DIVIDED])
def test_no_two_rooms_import_each_other(tier: str) -> None:
    files = list(python_files(tier))
    assert len(files) > 10
    assert mutual(tier, files) == []


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md"])
def test_a_map_names_every_room(page: str) -> None:
    rooms = {path.parts[:2] for path, _ in python_files("app", "workers") if len(path.parts) > 2}
    assert len(rooms) > 25
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [room for room in sorted(rooms) if f"`{'/'.join(room)}/`" not in text] == []


def test_the_record_of_the_rooms_names_each_folder_of_a_tier() -> None:
    text = (ROOT / "docs/decisions/0024-rooms-by-noun.md").read_text(encoding="utf-8")
    folders = {
        path.parts[2]
        for path, _ in python_files(STORE, "app/services", "app/gateways", "app/domain")
        if len(path.parts) > 3
    }
    folders |= {path.parts[1] for path, _ in python_files("workers") if len(path.parts) > 2}
    assert {"compute", "telemetry"} < folders
    assert len(folders) > 40
    assert [folder for folder in sorted(folders) if f"`{folder}`" not in text] == []


def test_a_pair_is_found_in_any_form_of_import() -> None:
    files = [
        (Path("app/jobs/claims.py"), "def f():\n    from app.store.evals import rows"),
        (Path("app/store/evals/rows.py"), "import app.jobs.claims"),
        (Path("app/files/store.py"), "from app.jobs.claims import x"),
        (Path("app/database.py"), "from app.files.store import x"),
    ]
    assert mutual(STORE, files) == [("evals", "jobs")]
    assert mutual(STORE, files[1:]) == []
