"""Lists the architectures that vLLM serves with adapters. Runs in vLLM's environment.

Reads the registry and the classes as text: an import takes a minute, and fails for models whose
libraries a build leaves out. Leaves out the few classes that differ by platform (`vllm.models`).
Writes a line of JSON with vLLM's version and the names in the order of the alphabet.
"""

import ast
import json
import re
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

REGISTRIES = ("_TEXT_GENERATION_MODELS", "_MULTIMODAL_MODELS")
_PACKAGE = Path(str(getattr(find_spec("vllm"), "origin", None))).parent
_MODELS = _PACKAGE / "model_executor" / "models"


def takes_adapters(module: str, name: str) -> bool:
    """Returns whether a class has `SupportsLoRA` among its bases, or those of its bases."""
    classes, imported = _parsed(module)
    if name in classes:
        return any(base == "SupportsLoRA" or takes_adapters(module, base) for base in classes[name])
    return name in imported and takes_adapters(*imported[name])


@cache
def _parsed(module: str) -> tuple[dict[str, list[str]], dict[str, tuple[str, str]]]:
    """Returns a module's classes with their bases, and what it imports from its siblings."""
    path = _MODELS / f"{module}.py"
    if not path.exists():
        return {}, {}
    classes: dict[str, list[str]] = {}
    imported: dict[str, tuple[str, str]] = {}
    for node in ast.walk(_tree(path)):
        match node:
            case ast.ClassDef():
                bases = [
                    base.value if isinstance(base, ast.Subscript) else base for base in node.bases
                ]
                classes[node.name] = [base.id for base in bases if isinstance(base, ast.Name)]
            case ast.ImportFrom():
                source = (node.module or "").removeprefix("vllm.model_executor.models.")
                imported |= {each.asname or each.name: (source, each.name) for each in node.names}
            case _:
                pass
    return classes, imported


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))  # noqa: TID251 - a program of one thread


def main() -> None:
    registry = _tree(_MODELS / "registry.py")
    listed: dict[str, tuple[str, str]] = {}
    for node in registry.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in REGISTRIES:
            listed |= ast.literal_eval(node.value)
    served = sorted(name for name, where in listed.items() if takes_adapters(*where))
    version = re.search(r"version = '([^'+]+)", (_PACKAGE / "_version.py").read_text())
    found = {"version": version and version[1], "architectures": served}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
