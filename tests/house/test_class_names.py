"""A class of the product has a name of its own, which a search or a traceback then leads to.

The wire has its own classes (`app/api/schemas`), named as the hosted API names them, and a name
with an underscore belongs to its module.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.house.tree import python_files
from tests.house.unions import ROOMS

WIRE = Path("app/api/schemas")


def namesakes(files: Iterable[tuple[Path, str]]) -> Mapping[str, list[str]]:
    """Returns the files of each name that several public classes have."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, source in files:
        if path.is_relative_to(WIRE):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path))
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def test_no_two_classes_of_the_product_have_one_name() -> None:
    assert namesakes(python_files(*ROOMS)) == {}


def test_a_namesake_is_found_wherever_it_is_written() -> None:
    inner = "def build():\n    class Rule: ...\nclass _Part: ..."
    files = [
        (Path("app/domain/rules.py"), "class Rule: ...\nclass _Part: ..."),
        (Path("workers/rules.py"), inner),
        (Path("app/api/schemas/rules.py"), "class Rule: ..."),
    ]
    assert namesakes(files) == {"Rule": ["app/domain/rules.py", "workers/rules.py"]}
