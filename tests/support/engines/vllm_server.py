"""A real vLLM, started by our launcher from the environment that `make vllm-env` fills."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from app.local.state import free_port
from app.models.models import BaseModelSpec
from app.settings import to_models_json
from tests.support.embedded.installation import REPOSITORY

VLLM_PYTHON = REPOSITORY / ".venv-vllm" / "bin" / "python"
# The worker in the engine's process, without cores of its own.
_FEW_PROCESSES = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "OMP_NUM_THREADS": "1"}
_SILENT_S = 1500.0
"""As in a start by `agent-rft up`, the log distinguishes an engine that loads from one that hangs.
"""
_STOP_TIMEOUT_S = 20.0


@contextmanager
def running_vllm(
    spec: BaseModelSpec, directory: Path, *, api_key: str, dtype: str = "float32"
) -> Iterator[str]:
    """Yields the base URL. `directory` takes its model list, caches and log."""
    if not VLLM_PYTHON.exists():
        pytest.skip("vLLM's environment is absent: make vllm-env")
    models = directory / "models.json"
    models.write_text(to_models_json((spec,)))
    port = free_port()
    command = (
        *(sys.executable, "-m", "workers.engines.vllm", "--python", str(VLLM_PYTHON)),
        *("--models-json", str(models), "--cache-dir", str(directory / "cache")),
        *("--port", str(port), "--dtype", dtype),
        *("--cpu", "--kv-cache-mib", "256"),
    )
    log = directory / "vllm.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env={**os.environ, **_FEW_PROCESSES, "AGENT_RFT_ENGINE_API_KEY": api_key},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_healthy(process, url, log)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_healthy(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    written, give_up_at = 0, time.monotonic() + _SILENT_S
    while time.monotonic() < give_up_at and process.poll() is None:
        if log.stat().st_size != written:
            written, give_up_at = log.stat().st_size, time.monotonic() + _SILENT_S
        try:
            if httpx.get(f"{url}/health").status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"vLLM did not start:\n{log.read_text(errors='replace')[-4000:]}")
