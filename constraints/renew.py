"""Writes the lists of exact versions and hashes that set-up, image and tests install.

Usage: python -m constraints.renew [--keep]

Each list holds what its extras of `pyproject.toml` need beyond the lists before it, for every
platform and Python version that the project supports. `--keep` keeps each version that still fits
`pyproject.toml`; without it the newest versions are taken. Torch is in no list, because its builds
differ by machine: `bootstrap.py` names its version, and `torch.txt`, kept by hand, has the hashes
of the image's builds. The lists hold all that its CPU build needs.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

from bootstrap import CONSTRAINTS, as_pip_is_set_up

ROOT: Final = Path(__file__).resolve().parents[1]
EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "service": ("train", "s3", "telemetry", "texts", "charts"),
    "docs": ("docs",),
    "development": ("embedded", "demo", "sdk", "test", "check"),
    "peers": ("peers",),
}
"""The lists that build on one another, in order, and the extras that each adds."""
ALONE: Final = ("build", "installer")
"""The lists that are installed before the others: the build tool and the installer."""
_BLOCK: Final = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


def blocks(text: str) -> dict[str, str]:
    """Returns the lines of each package of a list, by its name."""
    return {match["name"]: match[0] for match in _BLOCK.finditer(text)}


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def torch_needs() -> list[str]:
    """Returns the requirements of the installed torch that hold on every platform."""
    needs = [Requirement(each) for each in metadata.requires("torch") or ()]
    nowhere = {"platform_system": "", "platform_machine": "", "sys_platform": "", "extra": ""}
    return [f"{each.name}{each.specifier}" for each in needs if _holds(each, nowhere)]


def _holds(requirement: Requirement, environment: dict[str, str]) -> bool:
    return requirement.marker is None or requirement.marker.evaluate(environment)


def needs(extras: Iterable[str]) -> list[str]:
    """Returns the requirements of the project with some extras; torch's own instead of torch."""
    described = project()
    wanted = [*described["build-system"]["requires"], *described["project"]["dependencies"]]
    for extra in extras:
        wanted += described["project"]["optional-dependencies"][extra]
    return [each for each in wanted if Requirement(each).name != "torch"] + torch_needs()


def resolve(wanted: Sequence[str], known: str = "", *, hashes: bool = True) -> str:
    """Returns exact versions of `wanted` and all that they need; prefers those in `known`."""
    with tempfile.TemporaryDirectory() as directory:
        excluded, output = Path(directory, "excluded.txt"), Path(directory, "list.txt")
        excluded.write_text("torch\n")
        output.write_text(known)
        oldest = project()["project"]["requires-python"].split(",")[0].removeprefix(">=")
        subprocess.run(
            [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "-", "-o", str(output)]
            + ["--universal", "--python-version", oldest, "--excludes", str(excluded)]
            + ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
            + (["--generate-hashes"] if hashes else []),
            input="\n".join(wanted),
            text=True,
            check=True,
            env={**os.environ, **_index()},
        )
        return output.read_text()


def _index() -> dict[str, str]:
    """Returns pip's index, without further indexes: they may lack other platforms' files."""
    _, found = as_pip_is_set_up(Path(sys.executable))
    return {name: found[name] for name in ("UV_DEFAULT_INDEX", "SSL_CERT_FILE") if name in found}


def lists(*, keep: bool) -> dict[str, str]:
    """Returns the text of each list."""
    written = {name: _written(name) if keep else "" for name in (*ALONE, *EXTRAS)}
    texts = {
        "build": resolve(project()["build-system"]["requires"], written["build"]),
        "installer": resolve(["uv"], written["installer"]),
    }
    everything = resolve(
        needs(extra for extras in EXTRAS.values() for extra in extras),
        texts["build"] + "".join(written[name] for name in EXTRAS),
    )
    whole, listed, extras = blocks(everything), set[str](), list[str]()
    for name, added in EXTRAS.items():
        extras += added
        needed = blocks(resolve(needs(extras), everything, hashes=False)).keys() - listed
        texts[name] = "".join(whole[each] for each in whole if each in needed)
        listed |= needed
    return texts


def _written(name: str) -> str:
    path = CONSTRAINTS / f"{name}.txt"
    return path.read_text() if path.exists() else ""


def main(arguments: list[str]) -> int:
    """Writes the lists and prints the versions that changed."""
    if arguments not in ([], ["--keep"]):
        print(__doc__)
        return 2
    for name, text in lists(keep=bool(arguments)).items():
        before, after = _versions(_written(name)), _versions(text)
        for package in sorted(before.keys() | after.keys()):
            if before.get(package) != after.get(package):
                print(f"{name}: {package} {before.get(package)} -> {after.get(package)}")
        (CONSTRAINTS / f"{name}.txt").write_text(text)
    return 0


def _versions(text: str) -> dict[str, str]:
    return {name: block.split("==")[1].split()[0] for name, block in blocks(text).items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
