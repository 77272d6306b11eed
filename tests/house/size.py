"""Counts what the next person has to read, and refuses modules and functions past the stop.

`make size` prints the table. A module of 150 to 400 lines is usual and 500 a smell; `make check`
stops one of more than 800, and a function of more than 60.
"""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from tests.house.tree import ROOT, module_tree, nodes, python_files

MOST_LINES, MOST_FUNCTION_LINES = 800, 60
TEXTS = {".py", ".ts", ".js", ".json", ".yaml", ".yml"}


def main() -> int:
    product = dict(python_files("app", "workers"))
    lines = {path: text.count("\n") for path, text in product.items()}
    modules = [count for path, count in lines.items() if path.name != "__init__.py"]
    total, imports = sum(lines.values()), sum(map(_import_lines, product.values()))
    tests = sum(text.count("\n") for _, text in python_files("tests"))
    house = sum(
        text.count("\n") for path, text in python_files("tests") if path.parts[1] == "house"
    )
    decisions = [*(ROOT / "docs" / "decisions").glob("*.md")]
    pages = [each for each in (ROOT / "docs").glob("*.md") if _is_committed(each)]
    rows = {
        "lines of app + workers": total,
        "modules; their median": f"{len(modules)}; {median(modules):.0f}",
        "import lines": f"{100 * imports / total:.1f} %",
        "import contracts": (ROOT / "pyproject.toml").read_text().count("importlinter.contracts]]"),
        "lines of tests; of tests/house": f"{tests}; {house}",
        "committed lines of Python, TypeScript, JSON, YAML": _committed_lines(),
        "decisions; words of docs beside them": f"{len(decisions) - 1}; {sum(map(_words, pages))}",
    }
    for name, value in rows.items():
        print(f"{name:52} {value}")
    by_room: dict[str, int] = defaultdict(int)
    for path, count in lines.items():
        by_room["/".join(path.parts[:2])] += count
    print("; ".join(f"{room} {n}" for room, n in sorted(by_room.items(), key=lambda x: -x[1])[:24]))
    return report_stops(product)


def report_stops(product: dict[Path, str]) -> int:
    """Prints each module and function that is too long, and returns 1 if there is any."""
    found = [
        f"{path}: {n} lines" for path, t in product.items() if (n := t.count("\n")) > MOST_LINES
    ]
    for path, text in product.items():
        for node in nodes(module_tree(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > MOST_FUNCTION_LINES:
                    found.append(f"{path}:{node.lineno}: {node.name} has {length} lines")
    print("\n".join(found) or "no module or function is past the stop")
    return bool(found)


def _import_lines(source: str) -> int:
    return sum(
        (node.end_lineno or 0) - node.lineno + 1
        for node in nodes(module_tree(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def _tracked() -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    return [ROOT / name for name in names.decode().split("\0") if name]


def _is_committed(page: Path) -> bool:
    return page in set(_tracked())


def _committed_lines() -> int:
    texts = [path for path in _tracked() if path.suffix in TEXTS and path.is_file()]
    return sum(path.read_text(encoding="utf-8").count("\n") for path in texts)


def _words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


if __name__ == "__main__":
    sys.exit(main())
