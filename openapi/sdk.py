"""Writes the generated clients from `openapi.json`, and the blocking half of the Python layer from
the asynchronous one, or checks that the committed ones are current.

The Python generator lives in a virtual environment of its own (its pins conflict), the
TypeScript one runs through npx. `generated.sha256` names the specification both were made from, and
`blocking.sha256` the source of the blocking half, so that a stale one shows where no generator is
installed.
"""

import filecmp
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SPECIFICATION, MARK = HERE / "openapi.json", HERE / "generated.sha256"
PYTHON = HERE / "python" / "agent_rft_client"
LAYER = HERE / "python" / "agent_rft"
LAYER_MARK = HERE / "blocking.sha256"
TYPES = HERE / "typescript" / "index.d.ts"
TOOLS = HERE.parent / "build" / "sdk-tools"
GENERATOR = TOOLS / "bin" / "openapi-python-client"
_PINNED = ("openapi-python-client==0.29.1", "unasync==0.6.0")
_TYPESCRIPT = "openapi-typescript@7.13.0"


def digest() -> str:
    return hashlib.sha256(SPECIFICATION.read_bytes()).hexdigest()


def layer_digest() -> str:
    """Returns the digest of both halves of the layer, so that neither is edited alone."""
    both = hashlib.sha256()
    for half in ("asynchronous", "synchronous"):
        for path in sorted((LAYER / half).glob("*.py")):
            both.update(path.read_bytes())
    return both.hexdigest()


def stale() -> list[str]:
    """Describes each client that is stale; empty when all are current."""
    found = []
    if not MARK.is_file() or MARK.read_text(encoding="utf-8").strip() != digest():
        found.append("openapi/generated.sha256 names another specification")
    if not LAYER_MARK.is_file() or LAYER_MARK.read_text(encoding="utf-8").strip() != layer_digest():
        found.append("openapi/blocking.sha256 names other halves of the Python layer")
    if GENERATOR.is_file():
        with tempfile.TemporaryDirectory() as directory:
            fresh = Path(directory) / PYTHON.name
            _generate_python(fresh)
            found += [f"openapi/python: {name}" for name in _differences(fresh, PYTHON)]
    return found


def _differences(fresh: Path, committed: Path) -> list[str]:
    names = {
        str(path.relative_to(root))
        for root in (fresh, committed)
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    same, _, _ = filecmp.cmpfiles(fresh, committed, names, shallow=False)
    return sorted(names - set(same))


def _generate_python(target: Path) -> None:
    config = HERE / "python" / "generator.yaml"
    with tempfile.TemporaryDirectory() as directory:
        specification = Path(directory) / SPECIFICATION.name
        specification.write_text(json.dumps(_without_null_bodies()), encoding="utf-8")
        command = [str(GENERATOR), "generate", "--path", str(specification)]
        command += ["--config", str(config), "--output-path", str(target)]
        command += ["--meta", "none", "--overwrite", "--fail-on-warning"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (target / "py.typed").touch()


def _generate_blocking(target: Path) -> None:
    """Writes the blocking half of the layer into `target`."""
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as directory:
        made = Path(directory) / target.name
        script = [str(HERE / "blocking_layer.py"), str(LAYER / "asynchronous"), str(made)]
        subprocess.run([str(TOOLS / "bin" / "python"), *script], check=True)
        shutil.copytree(made, target)
    ruff = [str(TOOLS / "bin" / "ruff"), "--config", str(HERE.parent / "pyproject.toml")]
    for command in (["check", "--fix", "--quiet", "--select", "I"], ["format", "--quiet"]):
        subprocess.run([ruff[0], command[0], *ruff[1:], *command[1:], str(target)], check=True)


def _without_null_bodies() -> Any:
    """Returns the specification with optional bodies that are not null. For a union with null the
    generator writes a function that fails when its body is left out.
    """
    document = json.loads(SPECIFICATION.read_bytes())
    for path in document["paths"].values():
        for operation in path.values():
            body = operation.get("requestBody", {})
            for content in () if body.get("required", False) else body.get("content", {}).values():
                kinds = content["schema"].get("anyOf", [])
                given = [kind for kind in kinds if kind != {"type": "null"}]
                if len(given) == 1:
                    content["schema"] = given[0]
    return document


def _write() -> None:
    if not GENERATOR.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(TOOLS)], check=True)
        subprocess.run([str(TOOLS / "bin" / "pip"), "install", "-q", *_PINNED], check=True)
    shutil.rmtree(PYTHON, ignore_errors=True)
    _generate_python(PYTHON)
    npx = ["npx", "--yes", _TYPESCRIPT, str(SPECIFICATION), "-o", str(TYPES)]
    subprocess.run(npx, check=True, stdout=subprocess.DEVNULL)
    _generate_blocking(LAYER / "synchronous")
    LAYER_MARK.write_text(layer_digest() + "\n", encoding="utf-8")
    MARK.write_text(digest() + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    if "--check" not in arguments:
        _write()
        return 0
    found = stale()
    for line in found:
        sys.stderr.write(f"stale, run `make sdk` and commit it: {line}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
