"""A class of the product has a name of its own, which a search or a traceback then leads to.

The wire has its own classes (`app/api/schemas`), named as the hosted API names them, and a name
with an underscore belongs to its module. An alias of a type may share its name with other aliases
only: where one is read, no class of that name is meant.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.house.tree import python_files
from tests.house.unions import ROOMS

WIRE = Path("app/api/schemas")


def namesakes(files: Iterable[tuple[Path, str]]) -> Mapping[str, list[str]]:
    """Returns the files of each public class whose name another class or an alias has."""
    classes: dict[str, list[str]] = defaultdict(list)
    aliases: dict[str, list[str]] = defaultdict(list)
    for path, source in files:
        if path.is_relative_to(WIRE):
            continue
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(str(path))
        for name in _aliases(tree):
            aliases[name].append(str(path))
    found = {name: paths + aliases.get(name, []) for name, paths in classes.items()}
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def _aliases(tree: ast.Module) -> Iterator[str]:
    """Yields the names that a module gives to types. A type variable is none: it stands for any."""
    for node in tree.body:
        match node:
            case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar" | "ParamSpec"))):
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) if _is_of_a_type(name):
                yield name
            case _:
                pass


def _is_of_a_type(name: str) -> bool:
    return name[0].isupper() and not name.isupper()


def test_no_class_of_the_product_shares_its_name() -> None:
    assert namesakes(python_files(*ROOMS)) == {}


def test_a_namesake_is_found_wherever_it_is_written() -> None:
    inner = "def build():\n    class Rule: ...\nclass _Part: ..."
    files = [
        (Path("app/domain/rules.py"), "class Rule: ...\nclass _Part: ..."),
        (Path("workers/rules.py"), inner),
        (Path("app/api/schemas/rules.py"), "class Rule: ..."),
    ]
    assert namesakes(files) == {"Rule": ["app/domain/rules.py", "workers/rules.py"]}


def test_an_alias_counts_beside_a_class_and_not_beside_an_alias() -> None:
    files = [
        (Path("app/domain/rules.py"), "class Rule: ...\nJson = dict[str, object]\nLIMIT = 3"),
        (Path("workers/rules.py"), "Rule = int | str\nJson = dict[str, object]"),
    ]
    assert namesakes(files) == {"Rule": ["app/domain/rules.py", "workers/rules.py"]}
