from pathlib import Path

import pytest

from tests.house.lengths import find, violations


def test_no_file_is_too_long() -> None:
    assert [str(each) for each in violations()] == []


@pytest.mark.parametrize(
    ("path", "limit"),
    [("app/api/jobs.py", 300), ("workers/tasks.py", 300), ("tests/app/test_settings.py", 320)],
)
def test_the_first_line_too_many_is_found(path: str, limit: int) -> None:
    assert list(find(Path(path), "pass\n" * limit)) == []
    [violation] = find(Path(path), "pass\n" * (limit + 1))
    assert (
        str(violation) == f"{path}:{limit + 1}: {limit + 1} lines; a file here has at most {limit}"
    )
