"""`agent-rft demo`: starts the service and the example agent on one machine and trains a first job.

Runs the commands that a user would run, as separate programs. Removes its processes and its data at
the end, unless `keep` is set; a demo that was kept is replaced by no other one.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from app.kit.processes import FAILED, INTERRUPTED, running_module
from app.settings import inherited_environment, known_by_name, to_models_json

REPOSITORY = Path(__file__).resolve().parents[2]
DATA_DIR = Path(".agent-rft") / "demo"
_KEPT = DATA_DIR / "kept"
"""A mark beside the data of a demo that was kept: another demo does not replace them."""
_PROGRAM = Path(sys.argv[0])


def run(*, keep: bool, port: int | None = None) -> int:
    """Runs the demo, on a free port by default. Returns the exit code of the first job."""
    if not (REPOSITORY / "examples" / "records_agent").is_dir():
        print("the demo needs the repository's examples/ next to the package", file=sys.stderr)
        return FAILED
    if _KEPT.exists():
        print(
            f"a demo that was kept is in {DATA_DIR}, with all that was made in it; remove it "
            f"first: {_PROGRAM} down --data-dir {DATA_DIR} && rm -r {DATA_DIR}",
            file=sys.stderr,
        )
        return FAILED
    started = time.monotonic()
    _down()
    shutil.rmtree(DATA_DIR, ignore_errors=True)
    agent, endpoint = _start_agent(keep=keep)
    try:
        print(f"example tools and grader at {endpoint}", flush=True)
        stack = _up(endpoint, _free_port() if port is None else port)
        if keep:  # from here on the data stay, whatever becomes of the job
            _KEPT.touch()
        # All that a person needs, before the job: a demo may be ended at any time.
        print(f"OPENAI_BASE_URL={stack['base_url']} OPENAI_API_KEY={stack['api_key']}")
        print(f"see it learn: {stack['sign_in_url'] or stack['dashboard_url']}", flush=True)
        code = _first_job(stack, endpoint)
        if keep:
            _print_stop_commands(agent)
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        if not keep:
            agent.terminate()
            agent.wait()
            _down()
            shutil.rmtree(DATA_DIR, ignore_errors=True)
    print(f"{time.monotonic() - started:.0f} s in all")
    return code


def _print_stop_commands(agent: subprocess.Popen[str]) -> None:
    print(f"still running; stop it: {_PROGRAM} down --data-dir {DATA_DIR}; kill {agent.pid}")
    print(f"remove it before the next demo: rm -r {DATA_DIR}")


def _start_agent(*, keep: bool) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "examples.records_agent.server", "--port", "0"]
    agent = subprocess.Popen(  # noqa: S603 - our own module
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, start_new_session=keep
    )
    line = agent.stdout.readline() if agent.stdout is not None else ""
    if not line:
        raise SystemExit("the example agent did not start")
    return agent, str(json.loads(line)["url"])


def _up(endpoint: str, port: int) -> dict[str, Any]:
    command = _cli("up", "--data-dir", str(DATA_DIR), "--port", str(port), "--detach")
    command += ["--allow-endpoint", endpoint.removeprefix("http://")]
    # Both toys: the job trains one of them, and the pages at /teach the other.
    models = {"AGENT_RFT_BASE_MODELS": to_models_json(known_by_name())}
    result = subprocess.run(  # noqa: S603 - our own command
        command,
        env={**models, **os.environ},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )
    if result.returncode != 0:
        raise SystemExit(result.returncode)
    announcement: dict[str, Any] = json.loads(result.stdout)
    return announcement


def _first_job(stack: dict[str, Any], endpoint: str) -> int:
    environment = {
        **inherited_environment(),
        "OPENAI_BASE_URL": stack["base_url"],
        "OPENAI_API_KEY": stack["api_key"],
    }
    command = [sys.executable, "-m", "examples.first_job", "--endpoint", endpoint]
    return subprocess.run(command, cwd=REPOSITORY, env=environment, check=False).returncode  # noqa: S603 - our own module


def _down() -> None:
    if DATA_DIR.exists():
        subprocess.run(  # noqa: S603 - our own command
            _cli("down", "--data-dir", str(DATA_DIR)), check=False, stderr=subprocess.DEVNULL
        )


def _cli(*arguments: str) -> list[str]:
    return [*running_module("app.cli.main", *arguments)]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
