from pathlib import Path

import pytest

from tests.house.lengths import LIMITS, LISTS, MOST_MODULES, crowded, find
from tests.house.tree import ROOMS, python_files


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


def test_every_room_of_code_has_a_limit_except_migrations() -> None:
    assert {*LIMITS, "migrations"} == set(ROOMS)
    read = {path for path, _ in python_files(*LIMITS)}
    assert Path("openapi/python/agent_rft/asynchronous/students.py") in read
    made = {"agent_rft_client", "synchronous"}
    assert [path for path in read if path.parts[0] == "openapi" and made & {*path.parts}] == []


def test_one_module_too_many_is_found_in_a_folder_that_is_no_list() -> None:
    full = [Path(f"app/room/m{number}.py") for number in range(MOST_MODULES)]
    assert list(crowded([*full, Path("app/room/__init__.py"), Path("app/room/in/m.py")])) == []
    [violation] = crowded([*full, Path("app/room/one_more.py")])
    assert violation.path == Path("app/room")
    assert list(crowded([Path("app/api/schemas") / path.name for path in [*full, *full]])) == []


def test_each_list_is_longer_than_other_folders_may_be() -> None:
    folders = [path.parent for path, _ in python_files("app") if path.name != "__init__.py"]
    assert [each for each in LISTS if folders.count(each) <= MOST_MODULES] == []
