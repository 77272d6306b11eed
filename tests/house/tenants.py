"""Finds every module that can open a transaction over the rows of all tenants.

One module names each setting by which row-level security shows them; modules that import it look
across tenants. The import contract that forbids them to the control plane lists them by name, so
the tests compare it with the tree.

A function of the database that runs as the tables' owner (`SECURITY DEFINER`) looks past the
policies as well. Each is listed here with its reason and the one module that calls it.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.house.contracts import imported, read
from tests.house.tree import module_tree, nodes

OWNERS = {"app.system": "app.store.across_tenants", "app.rewrap": "app.store.sealed_blobs"}
"""Each setting that shows rows of all tenants, and the module that sets it."""
CONTRACT = "Only the GPU plane may look across tenants"


@dataclass(frozen=True, slots=True)
class OwnersFunction:
    """A function that the API's role executes with the rights of the tables' owner."""

    caller: str
    reason: str
    names_rows: bool = False
    """True when it returns ids of other tenants' rows: the contract lists its caller then."""


OWNERS_FUNCTIONS = {
    "due_coach_sessions": OwnersFunction(
        "app.store.coach.claims",
        "The API takes the steps of sessions as their tenants, and must find those that are due.",
        names_rows=True,
    ),
    "installation_counts": OwnersFunction(
        "app.store.database", "Metrics count the jobs of the installation; it returns counts."
    ),
    "queue_places": OwnersFunction(
        "app.store.jobs.jobs", "A position counts the jobs of others; it returns numbers."
    ),
}
_FUNCTION = re.compile(r"CREATE (?:OR REPLACE )?FUNCTION (?:public\.)?(\w+)", re.IGNORECASE)


def owners_functions(migration: str) -> set[str]:
    """Returns the functions that a migration makes and that run with the rights of their owner."""
    _, *parts = _FUNCTION.split(migration)  # alternately a name, and the text up to the next one
    return {
        name
        for name, text in zip(parts[::2], parts[1::2], strict=True)
        if "security definer" in " ".join(text.lower().split())
    }


@dataclass(frozen=True, slots=True)
class Contract:
    closed_to: frozenset[str]
    across_tenants: frozenset[str]
    """Entries of the contract: modules that look across tenants, or packages of them."""
    exceptions: frozenset[str]
    """Imports that the contract admits."""
    follows_imports: bool
    """True when a module that imports one of them counts as one, too."""


def read_contract() -> Contract:
    found = read(CONTRACT)
    return Contract(
        closed_to=frozenset(found["source_modules"]),
        across_tenants=frozenset(found["forbidden_modules"]),
        exceptions=frozenset(found.get("ignore_imports", ())),
        follows_imports=not found.get("allow_indirect_imports", False),
    )


def module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def names_the_setting(source: str, setting: str) -> bool:
    """Returns whether a string other than a docstring contains the setting."""
    tree = module_tree(source)
    docstrings = {id(node.value) for node in nodes(tree) if isinstance(node, ast.Expr)}
    return any(
        setting in node.value
        for node in nodes(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    )


def imports_owner(source: str) -> bool:
    return any(_covers(owner, name) for name in imported(source) for owner in OWNERS.values())


def uncovered(modules: Iterable[str], contract: Contract) -> list[str]:
    """Returns the modules that no entry of the contract covers."""
    entries = contract.across_tenants
    return sorted(
        module for module in modules if not any(_covers(entry, module) for entry in entries)
    )


def unused(modules: Iterable[str], contract: Contract) -> list[str]:
    """Returns the entries of the contract that cover no module."""
    names = list(modules)
    return sorted(
        entry
        for entry in contract.across_tenants
        if not any(_covers(entry, name) for name in names)
    )


def _covers(entry: str, module: str) -> bool:
    return module == entry or module.startswith(f"{entry}.")
