import pytest

from tests.house import tenants
from tests.house.contracts import children
from tests.house.tenants import Contract
from tests.house.tree import python_files

APP = [(tenants.module_name(path), source) for path, source in python_files("app")]


def test_one_module_names_the_setting_that_opens_all_tenants() -> None:
    named = [name for name, source in APP if tenants.names_the_setting(source)]
    assert named == [tenants.OWNER]
    workers = [path for path, text in python_files("workers") if tenants.names_the_setting(text)]
    assert workers == []


def test_the_contract_lists_every_module_that_looks_across_tenants() -> None:
    modules = [name for name, source in APP if tenants.imports_owner(source)]
    assert len(modules) >= 4
    contract = tenants.read_contract()
    assert tenants.uncovered([tenants.OWNER, *modules], contract) == []
    assert tenants.unused([tenants.OWNER, *modules], contract) == []
    assert contract.follows_imports


def test_the_contract_forbids_them_to_all_of_the_control_plane() -> None:
    assert tenants.read_contract().closed_to == children("app") - {"app.store"}


@pytest.mark.parametrize(
    "source",
    [
        "from app.store.across_tenants import AcrossTenants",
        "from app.store import across_tenants",
        "import app.store.across_tenants as all_tenants",
        "def f():\n    from app.store.across_tenants import ClaimUnitOfWork",
    ],
)
def test_every_form_of_import_counts(source: str) -> None:
    assert tenants.imports_owner(source)


def test_a_setting_in_code_counts_and_one_in_a_docstring_does_not() -> None:
    assert tenants.names_the_setting('context = {"app.system": "on"}')
    assert tenants.names_the_setting("text(\"SELECT set_config('app.system', 'on', true)\")")
    assert not tenants.names_the_setting('"""Explains `app.system`."""\nx = "app.project"')


def test_a_new_module_and_a_stale_entry_are_both_reported() -> None:
    contract = Contract(frozenset(), frozenset({"app.store.a", "app.store.gone"}), True)
    modules = ["app.store.a.claims", "app.store.ab"]
    assert tenants.uncovered(modules, contract) == ["app.store.ab"]
    assert tenants.unused(modules, contract) == ["app.store.gone"]
