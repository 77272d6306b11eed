"""The clients have every call of the schema, and are built from it."""

import json
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

import build_client
from constraints.renew import project
from openapi import sdk

DOCUMENT: dict[str, Any] = json.loads(sdk.SCHEMA.read_text(encoding="utf-8"))
CALLS = {
    operation["operationId"].lower().replace("-", "")
    for methods in DOCUMENT["paths"].values()
    for operation in methods.values()
}


def test_every_operation_has_a_call_in_the_python_client() -> None:
    assert build_client.is_current(), "run `make setup`"
    assert calls_of([str(path) for path in build_client.CLIENT.rglob("*.py")]) >= CALLS


def calls_of(names: list[str]) -> set[str]:
    return {Path(name).stem.replace("_", "") for name in names if "agent_rft_client/api/" in name}


def test_a_checkout_builds_a_wheel_of_both_packages(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout" / "openapi"
    made = ("agent_rft_client", "synchronous", "__pycache__", "*.egg-info")
    shutil.copytree(sdk.PYTHON, checkout / "python", ignore=shutil.ignore_patterns(*made))
    shutil.copy(sdk.SCHEMA, checkout)
    gone = checkout / "python" / "build" / "lib" / "agent_rft_client" / "gone.py"
    gone.parent.mkdir(parents=True)
    gone.touch()
    sdk.wheel(tmp_path, checkout / "python")
    (wheel,) = tmp_path.glob("agent_rft_sdk-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert calls_of(names) >= CALLS
    assert {"agent_rft/synchronous/students.py", "agent_rft/py.typed"} <= {*names}
    assert "agent_rft_client/gone.py" not in names, "a module of an older schema"


def test_the_types_of_typescript_have_every_path(tmp_path: Path) -> None:
    if shutil.which("npx") is None:
        pytest.skip("this machine has no npx")
    try:
        sdk.tarball(tmp_path)
    except subprocess.CalledProcessError:
        pytest.skip("npx could not bring the generator")
    (packed,) = tmp_path.glob("agent-rft-types-*.tgz")
    with tarfile.open(packed) as archive:
        member = archive.extractfile("package/index.d.ts")
        assert member is not None
        types = member.read().decode()
    assert [path for path in DOCUMENT["paths"] if f'"{path}"' not in types] == []


def test_the_client_changes_with_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = tmp_path / "openapi.json"
    schema.write_bytes(sdk.SCHEMA.read_bytes() + b"\n")
    monkeypatch.setattr(build_client, "SCHEMA", schema)
    assert not build_client.is_current()


def test_pip_builds_with_the_generators_of_the_environment() -> None:
    lines = (sdk.PYTHON / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    (requires,) = (json.loads(line.partition("= ")[2]) for line in lines if "requires = [" in line)
    assert {*project()["project"]["optional-dependencies"]["sdk"]} < {*requires}


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
