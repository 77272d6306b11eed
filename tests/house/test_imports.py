from pathlib import Path

import pytest

from tests.house import imports
from tests.house.tree import python_files


def test_no_module_imports_from_a_test_module() -> None:
    found = [str(each) for path, source in python_files() for each in imports.find(path, source)]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "from tests.app.conftest import api",
        "from tests.app.test_rows import a_row",
        "from tests.app import test_rows as rows",
        "from . import conftest",
        "def f():\n    import tests.app.test_rows",
    ],
)
def test_every_form_of_such_an_import_is_found(source: str) -> None:
    assert len(list(imports.find(Path("x.py"), source))) == 1


def test_support_and_words_that_only_look_alike_are_not_found() -> None:
    source = "from tests.support.rows import latest_row\nimport contest.tested\nimport attest_x"
    source += "\nfrom agent_rft_client.api.curricula import test_curriculum"
    assert list(imports.find(Path("x.py"), source)) == []
