"""What each check of the house finds, and that `make check` runs it."""

from pathlib import Path

import pytest

from tests.house import paths, reasons, roles
from tests.house.tree import ROOT

PAGE, DESCRIBING = Path("README.md"), Path("docs/architecture.md")


def test_make_check_runs_the_house() -> None:
    assert "python -m tests.house" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "see app/kit/gone.py for it",
        "the name `app.kit.ids.gone_function` in a module",
        "[a page](docs/gone.md)",
        "run `make gone`",
        "as `gone.md` says",
    ],
)
def test_a_name_of_nothing_is_found(text: str) -> None:
    assert [each.line for each in paths.find_on_page(PAGE, f"one\n\n{text}\n")] == [3]


def test_a_name_that_no_code_defines_is_found_where_code_is_described() -> None:
    text = "`JobStore.gone` writes, `GoneStore` and `vanished()` too; `JobStore` and `main` exist"
    assert len(list(paths.find_on_page(DESCRIBING, text))) == 3
    assert list(paths.find_on_page(Path("SECURITY.md"), text)) == []


def test_what_exists_and_what_only_looks_like_a_path_is_not_found() -> None:
    text = (
        "see app/kit/ids.py, `workers/runs/`, `app/*/routes.py`, `app.kit.ids.new_id`, "
        "[a page](docs/glossary.md#terms), `make check` and POST /v1/app/gone.py"
    )
    assert list(paths.find_on_page(PAGE, text)) == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = 1  # noqa: E501 - a long address\ny = 2  # noqa: E501 - as above\n", []),
        ("x = 1  # type: ignore[misc]  # celery has no types\n", []),
        ("x = 1  # noqa: E501\n", [1]),
        ("x = 1  # type: ignore\n", [1]),
        ("x = 1  # noqa: E501 - why\n\ny = 2  # noqa: E501 - as above\n", [3]),
        ("# mypy: ignore-errors\n", [1]),
    ],
)
def test_an_ignore_without_its_own_reason_is_found(source: str, lines: list[int]) -> None:
    assert [each.line for each in reasons.find(Path("x.py"), source)] == lines


@pytest.mark.parametrize(
    ("module", "source", "found"),
    [
        ("app/jobs/routes.py", "from app.jobs.store import JobStore", True),
        ("app/pages/jobs.py", "from app.jobs.service import CurveService", True),
        ("app/jobs/service.py", "from fastapi import Request", True),
        ("app/jobs/findings.py", "def f():\n    import sqlalchemy", True),
        ("workers/runs/job.py", "from sqlalchemy import select", True),
        ("app/jobs/routes.py", "from app.wiring import ProcessContext", False),
        ("app/jobs/store.py", "from sqlalchemy import select", False),
    ],
)
def test_an_import_that_a_role_forbids_is_found(module: str, source: str, found: bool) -> None:
    assert bool(list(roles.find(Path(module), source))) == found
