"""The whole product as a user starts it: `agent-rft up`, an example agent, openai's client."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from openai import DefaultHttpxClient, OpenAI

from app.local.processes import command_line
from app.local.provision import DATABASE
from app.local.servers import SUPERUSER
from app.local.state import free_port
from tests.support.patience import PATIENCE_S, wait_for

REPOSITORY = Path(__file__).resolve().parents[3]
FINAL = {"succeeded", "failed", "cancelled"}
STEP_INTERVAL_S = 0.3
"""Time between two questions for a job's state, which take processor time from the job."""


def cli(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "app.cli.main", *arguments]


@contextmanager
def example_agent(*options: str, port: int = 0) -> Iterator[str]:
    """Runs the records agent as a separate process; yields its address."""
    with _announced("examples.records_agent.server", "--port", str(port), *options) as url:
        yield url


@contextmanager
def example_mcp_server(port: int) -> Iterator[str]:
    """Runs the records agent's MCP server as a separate process; yields its address."""
    with _announced("examples.records_agent.mcp_server", "--port", str(port)) as url:
        yield url


@contextmanager
def _announced(module: str, *options: str) -> Iterator[str]:
    """Runs a module as a separate process, which prints its address first."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *options], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline() if process.stdout is not None else ""
        yield json.loads(line)["url"]
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@dataclass(frozen=True, slots=True)
class Start:
    """A call of `agent-rft up`."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)

    def __call__(self) -> dict[str, Any]:
        """Returns what the installation announces when it is ready."""
        done = subprocess.run(
            self.command, env=self.environment, stdout=subprocess.PIPE, text=True, check=True
        )
        announced: dict[str, Any] = json.loads(done.stdout)
        return announced


@dataclass(frozen=True, slots=True)
class Installation:
    data_dir: Path
    base_url: str
    api_key: str
    admin_key: str
    _http: httpx.Client = field(repr=False)
    _clients_http: DefaultHttpxClient = field(repr=False)
    _start: Start | None = None

    def client(self) -> OpenAI:
        return OpenAI(
            base_url=self.base_url,
            api_key=self.api_key,
            max_retries=40,
            http_client=self._clients_http,
        )

    def get(self, path: str, **params: Any) -> Any:
        reply = self._http.get(
            f"{self.base_url}{path}",
            params=params,
            headers={"Authorization": f"Bearer {self.api_key}"},
        )
        reply.raise_for_status()
        return reply.json()

    def start_again(self) -> dict[str, Any]:
        """Starts an installation whose supervisor was killed, with its own options and settings."""
        assert self._start is not None
        return self._start()

    def pids(self) -> dict[str, int]:
        """Process ids of the supervisor's children, by name."""
        content = json.loads((self.data_dir / "services.json").read_text())
        pids: dict[str, int] = content["pids"]
        return pids

    def supervisor(self) -> int:
        """Process id of the supervisor."""
        pid: int = json.loads((self.data_dir / "services.json").read_text())["supervisor"]
        return pid

    def superuser_url(self) -> str:
        """Returns the URL of the database in the role that sees all sessions."""
        state = json.loads((self.data_dir / "state.json").read_text())
        address = f"127.0.0.1:{state['postgres_port']}"
        return f"postgresql://{SUPERUSER}:{state['superuser_password']}@{address}/{DATABASE}"

    def kill(self, name: str) -> None:
        os.kill(self.pids()[name], signal.SIGKILL)

    def rollouts(self, job_id: str, **params: Any) -> list[dict[str, Any]]:
        """Returns every rollout of a job, page by page."""
        rows: list[dict[str, Any]] = []
        more = True
        while more:
            after = {"after": rows[-1]["id"]} if rows else {}
            page = self.get(f"/fine_tuning/jobs/{job_id}/rollouts", limit=100, **params, **after)
            rows += page["data"]
            more = page["has_more"]
        return rows

    def curve(self, job_id: str, name: str, split: str = "train") -> dict[int, float]:
        page = self.get(f"/fine_tuning/jobs/{job_id}/metrics", names=name, split=split)
        return {p["step"]: p["value"] for curve in page["data"] for p in curve["points"]}

    def adapters(self, job_id: str) -> dict[int, str]:
        """SHA-256 of the weights of every adapter of a job that is stored, by step."""
        pattern = f"projects/*/jobs/{job_id}/step-*/adapter/adapter_model.safetensors"
        return {
            int(path.parts[-3].split("-")[1]): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (self.data_dir / "objects").glob(pattern)
        }

    def kept_adapters(
        self, job_id: str, steps: Collection[int], *, killed: bool = False
    ) -> dict[int, str]:
        """Waits until these steps alone are stored. The run removes the others after its end; if a
        kill may have come before that, the maintenance removes them ten minutes later, which is
        not waited for.
        """
        wait_for(
            lambda: (
                self.adapters(job_id).keys() >= set(steps)
                if killed
                else self.adapters(job_id).keys() == set(steps)
            ),
            what=f"the steps {sorted(steps)} of {job_id} alone",
        )
        stored = self.adapters(job_id)
        return {step: stored[step] for step in steps}

    def wait_for_step(self, job_id: str, step: int, *, timeout_s: float = PATIENCE_S) -> None:
        """Waits for a step, also while the API itself is unavailable for a moment."""
        self._wait_for_job(job_id, lambda job: bool(job["step"] >= step), timeout_s, f"step {step}")

    def wait_for_status(self, job_id: str, status: str, *, timeout_s: float = PATIENCE_S) -> None:
        self._wait_for_job(job_id, lambda job: bool(job["status"] == status), timeout_s, status)

    def _wait_for_job(
        self, job_id: str, wanted: Callable[[dict[str, Any]], bool], timeout_s: float, what: str
    ) -> None:
        def reached() -> bool:
            try:
                return wanted(self.get(f"/fine_tuning/jobs/{job_id}"))
            except httpx.HTTPError:
                return False

        wait_for(
            reached, timeout_s=timeout_s, interval_s=STEP_INTERVAL_S, what=f"{what} of {job_id}"
        )


@contextmanager
def opened(
    data_dir: Path, answer: Mapping[str, str], start: Start | None = None
) -> Iterator[Installation]:
    """Yields an installation by what `agent-rft up --detach` printed, with its clients until the
    end.
    """
    # One for all calls: each new client reads the certificates of all authorities.
    with httpx.Client(timeout=PATIENCE_S) as http, DefaultHttpxClient() as clients_http:
        yield Installation(
            data_dir,
            answer["base_url"],
            answer["api_key"],
            answer["admin_key"],
            http,
            clients_http,
            start,
        )


@contextmanager
def installation(
    data_dir: Path, *, allow: Sequence[str], port: int | None = None, **settings: str
) -> Iterator[Installation]:
    """`agent-rft up` on a directory until the end of the block."""
    command = cli("up", "--data-dir", str(data_dir), "--port", str(port or free_port()), "--detach")
    for address in allow:
        command += ["--allow-endpoint", address]
    environment = {**os.environ, **{f"AGENT_RFT_{key}": value for key, value in settings.items()}}
    start = Start(command, environment)
    answer = start()
    try:
        with opened(data_dir, answer, start) as live:
            yield live
    finally:
        subprocess.run(cli("down", "--data-dir", str(data_dir)), check=True)


def processes_below(directory: Path) -> list[str]:
    """Command lines that name the directory, or that were started in it."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    lines = {pid: command_line(pid) for pid in pids}
    return [
        line
        for pid, line in lines.items()
        if str(directory) in line or _working_directory(pid) == str(directory)
    ]


def _working_directory(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return None


def child_pid(job_id: str) -> int | None:
    """Returns the process that runs a job at this instant."""
    found = subprocess.run(
        ["pgrep", "-f", f"workers.job_child {job_id}"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return int(found.stdout.split()[0]) if found.stdout else None


def wait_until_final(client: OpenAI, job_id: str, *, timeout_s: float = PATIENCE_S) -> Any:
    wait_for(
        lambda: client.fine_tuning.jobs.retrieve(job_id).status in FINAL,
        timeout_s=timeout_s,
        interval_s=STEP_INTERVAL_S,
        what=f"the end of {job_id}",
    )
    return client.fine_tuning.jobs.retrieve(job_id)
