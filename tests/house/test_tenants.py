import pytest

from tests.house import tenants
from tests.house.contracts import children
from tests.house.tenants import Contract, OwnersFunction
from tests.house.tree import ROOT, python_files

APP = [(tenants.module_name(path), source) for path, source in python_files("app")]


@pytest.mark.parametrize(("setting", "owner"), tenants.OWNERS.items())
def test_one_module_names_each_setting_that_opens_all_tenants(setting: str, owner: str) -> None:
    sources = [(tenants.module_name(path), text) for path, text in python_files("workers")]
    named = [name for name, text in APP + sources if tenants.names_the_setting(text, setting)]
    assert named == [owner]


def test_the_contract_lists_every_module_that_looks_across_tenants() -> None:
    contract = tenants.read_contract()
    assert contract.exceptions == {
        "app.services.rewrapping -> app.store.sealed_blobs",
        "app.store.database -> app.store.coach.claims",
    }
    admitted = {each.split(" -> ")[0] for each in contract.exceptions}
    modules = [name for name, text in APP if tenants.imports_owner(text) and name not in admitted]
    assert len(modules) >= 4
    modules += [each.caller for each in tenants.OWNERS_FUNCTIONS.values() if each.names_rows]
    owners = tenants.OWNERS.values()
    assert tenants.uncovered([*owners, *modules], contract) == []
    assert tenants.unused([*owners, *modules], contract) == []
    assert contract.follows_imports


def test_functions_with_the_rights_of_the_owner_are_listed_with_a_reason() -> None:
    found = {
        name
        for path in (ROOT / "migrations").rglob("*")
        if path.suffix in {".py", ".sql"}
        for name in tenants.owners_functions(path.read_text(encoding="utf-8"))
    }
    assert found == set(tenants.OWNERS_FUNCTIONS)
    assert all(each.reason.endswith(".") for each in tenants.OWNERS_FUNCTIONS.values())


def test_a_planted_function_with_the_rights_of_the_owner_is_found() -> None:
    planted = """
        CREATE FUNCTION own_rows() RETURNS bigint LANGUAGE sql AS $$ SELECT 1 $$;
        CREATE OR REPLACE FUNCTION all_keys() RETURNS SETOF text LANGUAGE sql
        Security  Definer AS $$ SELECT id FROM api_keys $$;
        CREATE FUNCTION own_keys() RETURNS bigint LANGUAGE sql AS $$ SELECT 2 $$;
    """
    assert tenants.owners_functions(planted) == {"all_keys"}


@pytest.mark.parametrize(("function", "listed"), tenants.OWNERS_FUNCTIONS.items())
def test_one_module_calls_each_of_them(function: str, listed: OwnersFunction) -> None:
    sources = [(tenants.module_name(path), text) for path, text in python_files("workers")]
    named = [name for name, text in APP + sources if _calls(text, function)]
    assert named == [listed.caller]


def _calls(source: str, function: str) -> bool:
    return tenants.names_the_setting(source, f"{function}(") or f"func.{function}(" in source


def test_the_contract_forbids_them_to_all_of_the_control_plane() -> None:
    assert tenants.read_contract().closed_to == children("app") - {"app.store"}


@pytest.mark.parametrize(
    "source",
    [
        "from app.store.across_tenants import CrossTenantUnitOfWork",
        "from app.store import across_tenants",
        "from app.store.sealed_blobs import SealedUnitOfWork",
        "import app.store.across_tenants as all_tenants",
        "def f():\n    from app.store.across_tenants import ClaimUnitOfWork",
    ],
)
def test_every_form_of_import_counts(source: str) -> None:
    assert tenants.imports_owner(source)


def test_a_setting_in_code_counts_and_one_in_a_docstring_does_not() -> None:
    def names(source: str) -> bool:
        return tenants.names_the_setting(source, "app.system")

    assert names('context = {"app.system": "on"}')
    assert names("text(\"SELECT set_config('app.system', 'on', true)\")")
    assert not names('"""Explains `app.system`."""\nx = "app.project"')


def test_a_new_module_and_a_stale_entry_are_both_reported() -> None:
    contract = Contract(
        closed_to=frozenset(),
        across_tenants=frozenset({"app.store.a", "app.store.gone"}),
        exceptions=frozenset(),
        follows_imports=True,
    )
    modules = ["app.store.a.claims", "app.store.ab"]
    assert tenants.uncovered(modules, contract) == ["app.store.ab"]
    assert tenants.unused(modules, contract) == ["app.store.gone"]
