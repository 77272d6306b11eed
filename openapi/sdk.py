"""Builds the packages of both clients into `dist/`: a wheel for Python, a tarball of types for npm.

The TypeScript types need node: `npx` brings their generator, at the version of `package.json`.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMA, PYTHON, TYPESCRIPT = HERE / "openapi.json", HERE / "python", HERE / "typescript"
DIST = HERE.parent / "dist"


def wheel(folder: Path, source: Path = PYTHON) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([*pip, *options, str(source)], check=True)


def tarball(folder: Path) -> None:
    manifest = json.loads((TYPESCRIPT / "package.json").read_text(encoding="utf-8"))
    generator = f"openapi-typescript@{manifest['devDependencies']['openapi-typescript']}"
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(TYPESCRIPT / "package.json", directory)
        types = ["npx", "--yes", generator, str(SCHEMA), "-o", f"{directory}/index.d.ts"]
        subprocess.run(types, check=True, stdout=subprocess.DEVNULL)
        pack = ["npm", "pack", "--silent", "--pack-destination", str(folder.resolve())]
        subprocess.run(pack, cwd=directory, check=True)


def main() -> None:
    DIST.mkdir(exist_ok=True)
    wheel(DIST)
    if shutil.which("npx") is None:
        sys.exit("sdk: no TypeScript types, because this machine has no npx; the wheel is in dist/")
    tarball(DIST)


if __name__ == "__main__":
    main()
