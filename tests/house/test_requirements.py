"""Compares the imports of the product with the packages that `pyproject.toml` declares."""

import ast
import sys
from importlib.metadata import packages_distributions
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from constraints.renew import project
from tests.house.tree import python_files

OWN = {"app", "workers", "migrations"}
BROUGHT = {
    "kombu": "celery",
    "mcp_types": "mcp",
    "multidict": "aiohttp",
    "pydantic_core": "pydantic",
    "yarl": "aiohttp",
}
"""Modules whose types are in the interface of a declared package, which decides their version."""
TRACKERS = ("tensorboard", "wandb", "mlflow", "trackio")


def requirements() -> dict[str, Requirement]:
    described: dict[str, Any] = project()["project"]
    lines = [*described["dependencies"]]
    for extra, needed in described["optional-dependencies"].items():
        lines += needed if extra not in ("test", "check", "docs", "peers", "demo") else []
    return {canonicalize_name(Requirement(line).name): Requirement(line) for line in lines}


def imported_packages() -> set[str]:
    found = set[str]()
    for _, source in python_files(*OWN):
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Import():
                    found |= {alias.name for alias in node.names}
                case ast.ImportFrom(module=str(module), level=0):
                    found.add(module)
                case _:
                    pass
    return {name.split(".")[0] for name in found} - OWN - set(sys.stdlib_module_names)


def test_every_imported_package_is_declared() -> None:
    declared, names = requirements(), packages_distributions()
    imported = imported_packages()
    assert len(imported) > 40
    missing = {
        package
        for package in imported - BROUGHT.keys()
        if not set(map(canonicalize_name, names.get(package, [package]))) & declared.keys()
    }
    assert missing == set()
    assert imported > BROUGHT.keys()


@pytest.mark.parametrize("owner", sorted({*BROUGHT.values()}))
def test_a_package_that_brings_another_has_an_upper_bound(owner: str) -> None:
    assert "<" in str(requirements()[owner].specifier).replace("<=", "<")


@pytest.mark.parametrize("extra", TRACKERS)
def test_each_tracker_brings_what_guards_its_connections(extra: str) -> None:
    """`workers.trackers.libraries.guarded_sockets` imports urllib3, whatever the library uses."""
    needed = project()["project"]["optional-dependencies"][extra]
    assert "urllib3" in {Requirement(line).name for line in needed}
