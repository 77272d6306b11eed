"""The lists of `constraints/`: what they may hold, and that set-up, image and tests use them."""

import re
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import bootstrap
from constraints import renew
from constraints.renew import EXTRAS, blocks, needs, project

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("build", "installer", *EXTRAS)
# A package at one version, perhaps for some platforms, and the hashes of its files. No address.
PACKAGE = re.compile(
    r"[a-z0-9-]+==[\w.]+( ; [^\\\n:]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n", re.ASCII
)


def text_of(name: str) -> str:
    return (bootstrap.CONSTRAINTS / f"{name}.txt").read_text()


def pinned(name: str) -> dict[str, Requirement]:
    return {
        package: Requirement(block.split("\\")[0])
        for package, block in blocks(text_of(name)).items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_list_holds_versions_and_hashes_and_nothing_else(name: str) -> None:
    assert PACKAGE.sub("", text_of(name)) == ""
    assert blocks(text_of(name))


def test_the_lists_hold_each_requirement_of_the_project_at_a_version_that_fits() -> None:
    """Fails after a change of pyproject.toml without `make constraints`."""
    found: dict[str, Requirement] = {}
    for name, extras in EXTRAS.items():
        found |= pinned(name)
        for wanted in map(Requirement, needs(extras)):
            package = wanted.name.lower().replace("_", "-")
            assert package in found, f"{name}.txt lacks {package}: run make constraints"
            exact = found[package]
            (version,) = exact.specifier
            assert wanted.specifier.contains(version.version), (str(wanted), str(exact))


def test_this_environment_is_the_one_of_the_lists() -> None:
    """Fails where packages were installed without `make setup`."""
    wanted = {
        name: str(one.specifier).removeprefix("==")
        for part in ("build", "service", "development")
        for name, one in pinned(part).items()
        if one.marker is None or one.marker.evaluate()
    }
    assert {name: metadata.version(name) for name in wanted} == wanted
    assert metadata.version("torch").split("+")[0] == bootstrap.TORCH.removeprefix("torch==")


def test_what_is_installed_needs_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("UV_OFFLINE", "1")
    assert bootstrap.install_cpu_torch(Path(sys.prefix))
    assert bootstrap.install_lists(Path(sys.prefix))


def test_uv_uses_the_indexes_of_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CERT", "PIP_TRUSTED_HOST"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "pip.conf"
    file.write_text(
        "[global]\nindex-url = https://first.example/simple\nextra-index-url =\n"
        "    https://a.example/simple\n    https://b.example/simple\n"
        "[install]\nfind-links = /wheels /more\nno-index = true\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv("PIP_INDEX_URL", "https://second.example/simple")
    options, variables = bootstrap.as_pip_is_set_up(Path(sys.executable))
    assert options == ["--no-index"]
    assert variables["UV_DEFAULT_INDEX"] == "https://second.example/simple"
    assert variables["UV_INDEX"] == "https://a.example/simple https://b.example/simple"
    assert variables["UV_FIND_LINKS"] == "/wheels,/more"


def test_the_image_takes_the_list_of_the_service_and_the_same_torch() -> None:
    image = (ROOT / "Dockerfile").read_text()
    assert "--require-hashes --no-build-isolation -r constraints/service.txt" in image
    assert set(re.findall(r"torch==[\w.*]+", image)) == {bootstrap.TORCH}
    (ours,) = (
        Requirement(each)
        for each in project()["project"]["optional-dependencies"]["train"]
        if each.startswith("torch")
    )
    assert ours.specifier.contains(bootstrap.TORCH.removeprefix("torch=="))


FAKE_UV = """
import sys
from packaging.requirements import Requirement

words = sys.argv[1:]
assert words[:3] == ["pip", "compile", "--quiet"], words
assert {"--universal", "--no-header", "--no-annotate", "--no-emit-index-url"} <= set(words)
names = sorted({Requirement(line.strip()).name.lower().replace("_", "-") for line in sys.stdin})
hashed = " \\\\\\n    --hash=sha256:" + "0" * 64 if "--generate-hashes" in words else ""
with open(words[words.index("-o") + 1], "r+") as output:
    known = {line.split("==")[0]: line.split()[0] for line in output if "==" in line}
    output.seek(0)
    output.truncate()
    output.writelines(f"{known.get(name, name + '==9.9')}{hashed}\\n" for name in names)
"""


def test_the_command_writes_every_list_and_the_versions_that_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a resolver of its own, which needs no index."""
    (tmp_path / "uv.py").write_text(FAKE_UV)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    lists = tmp_path / "constraints"
    lists.mkdir()
    monkeypatch.setattr(renew, "CONSTRAINTS", lists)
    (lists / "installer.txt").write_text(f"uv==0.1 \\\n    --hash=sha256:{'1' * 64}\n")
    assert renew.main(["--keep"]) == 0
    said = capsys.readouterr().out
    assert "installer: uv 0.1 -> 9.9\n" not in said
    assert "service: pydantic None -> 9.9\n" in said
    texts = {path.stem: path.read_text() for path in lists.iterdir()}
    assert set(texts) == set(NAMES)
    assert all(PACKAGE.sub("", text) == "" for text in texts.values())
    packages = [package for name in NAMES[2:] for package in blocks(texts[name])]
    assert len(packages) == len(set(packages)) > 20, "a list has what the lists before it lack"
    assert renew.main(["--kept"]) == 2
