from pathlib import Path

import pytest

from tests.house import paths

PAGE = Path("README.md")


@pytest.mark.parametrize(
    "text",
    [
        "see app/domain/gone.py for it",
        "see `workers/gone/`",
        "the room `app.domain.gone.thing` has it",
        "the name `app.domain.ids.gone_function` in a module",
        "[a page](docs/gone.md)",
        "run `make gone`",
        "    make gone\n",
        "as `gone.md` says",
        "run benchmarks/gone.py",
        "as decision 0009 says",
        "(Decision\n9999)",
        "decisions 0001, 0002 and 9999",
        "since migration 9999",
        "migrations 0001 to 9999",
    ],
)
def test_a_name_of_nothing_is_found(text: str) -> None:
    assert len(list(paths.find_on_page(PAGE, text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "see app/domain/ids.py, `workers/runs/` and `app/api/<noun>.py`",
        "`migrations/versions/*.py` and `tests/contract/{calls,shapes}.py`",
        "the room `app.domain.ids` and `app.domain.ids.new_id`",
        "the setting `app.project` of Postgres",
        "[a page](docs/glossary.md#terms) and [a site](https://example.com/app/gone.py)",
        "run `make check`, then make sure",
        "as `pyproject.toml` says",
        "POST /v1/app/gone.py",
        "decision 0024, migration 0001, `docs/decisions/0024-rooms-by-noun.md`",
        "the numbers 0009, 0011 and 0015 were reserved; a decision of 2026",
    ],
)
def test_what_exists_and_what_only_looks_like_a_path_is_not_found(text: str) -> None:
    assert list(paths.find_on_page(PAGE, text)) == []


DESCRIBING = Path("docs/architecture.md")


@pytest.mark.parametrize(
    "text",
    [
        "`JobStore.gone` writes",
        "`GoneStore` writes",
        "`gone_store` writes",
        "`vanished()` writes",
        "`JobService.insert_checked` is another class's",
        " workers/tasks.py               gone_task",
    ],
)
def test_a_name_that_no_code_defines_is_found_on_a_page_that_describes_code(text: str) -> None:
    assert len(list(paths.find_on_page(DESCRIBING, text))) == 1
    assert list(paths.find_on_page(Path("SECURITY.md"), text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "`JobStore.insert_checked`, `JobStore` and `run_group` write",
        "a dispatch ends in `assert_never`; `Dockerfile` is a file",
        "`DELETE`, `main` and `…/events` are not names of code",
        " workers/tasks.py               run_job",
        " workers/tasks.py               starts, with underscores_in the text",
    ],
)
def test_names_that_code_defines_are_not_found(text: str) -> None:
    assert list(paths.find_on_page(DESCRIBING, text)) == []


def test_a_finding_names_its_line() -> None:
    assert [each.line for each in paths.find_on_page(PAGE, "one\n\napp/gone.py\n")] == [3]
