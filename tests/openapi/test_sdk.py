"""The committed clients belong to the committed specification."""

import json
import subprocess
from pathlib import Path

from openapi import sdk


def test_the_clients_are_current() -> None:
    assert sdk.stale() == [], "run `make sdk` and commit it"


def test_every_operation_has_a_call_in_the_python_client() -> None:
    document = json.loads(sdk.SPECIFICATION.read_text(encoding="utf-8"))
    ids = {
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    calls = {path.stem.replace("_", "") for path in (sdk.PYTHON / "api").glob("*/*.py")}
    assert {operation_id.lower().replace("-", "") for operation_id in ids} <= calls
    types = sdk.TYPES.read_text(encoding="utf-8")
    assert [path for path in document["paths"] if f'"{path}"' not in types] == []


def test_nothing_committed_names_a_registry() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "openapi", "tests/contract/node", "examples"],
        cwd=sdk.HERE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    names = listed.stdout.split()
    assert {"openapi/openapi.json", "tests/contract/node/package.json"} <= set(names)
    assert {Path(name).parts[0] for name in names} == {"openapi", "tests", "examples"}
    for name in names:
        content = (sdk.HERE.parent / name).read_text(encoding="utf-8")
        assert '"resolved"' not in content, name
        assert Path(name).name not in {"package-lock.json", "yarn.lock"}, name
