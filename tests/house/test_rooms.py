from pathlib import Path

import pytest

from tests.house.rooms import mutual
from tests.house.tree import python_files

STORE = "app/store"
TIERS = ("app/api", "app/services", STORE, "app/gateways", "app/domain", "workers")


@pytest.mark.parametrize("tier", TIERS)
def test_no_two_rooms_import_each_other(tier: str) -> None:
    files = list(python_files(tier))
    assert len(files) > 10
    assert mutual(tier, files) == []


def test_a_pair_is_found_in_any_form_of_import() -> None:
    files = [
        (Path("app/store/jobs/claims.py"), "def f():\n    from app.store.evals import rows"),
        (Path("app/store/evals/rows.py"), "import app.store.jobs.claims"),
        (Path("app/store/files/files.py"), "from app.store.jobs.claims import x"),
        (Path("app/store/unit_of_work.py"), "from app.store.files.files import x"),
    ]
    assert mutual(STORE, files) == [("evals", "jobs")]
    assert mutual(STORE, files[1:]) == []
