"""Compares `GET job` and `POST job` with a bare handler that runs the same statements.

Both run in separate processes under the same uvicorn settings, on the same database, and the same
client calls them in alternating rounds. Throughput counts requests with status 200 per second; the
table also has the server's processor time per request, which other load on the machine changes
less. Prints a table and a JSON line.

    python benchmarks/control_plane.py [--rounds 5] [--seconds 4] [--connections 32]
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import psycopg

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.accounts.usage import Quotas  # noqa: E402 - needs the path above
from app.local.layout import environment_of  # noqa: E402 - as above
from benchmarks.api_process import uvicorn_process  # noqa: E402 - as above
from tests.support.stack import Database, running_services  # noqa: E402 - as above
from tests.support.web.api_server import make_keys  # noqa: E402 - as above

BAR = 0.7
JOBS = "/v1/fine_tuning/jobs"
ROWS = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 12
SERVERS = {"service": "app.main:create_app", "bare": "benchmarks.bare_handler:create"}
_TICKS = os.sysconf("SC_CLK_TCK")
Request = Callable[[aiohttp.ClientSession, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Round:
    per_s: float
    cpu_ms: float
    """Processor time of the server's process, for each request."""


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


async def one_round(
    url: str, pid: int, key: str, request: Request, options: argparse.Namespace
) -> Round:
    headers = {"Authorization": f"Bearer {key}"}
    connector = aiohttp.TCPConnector(limit=options.connections)
    answered = 0
    async with aiohttp.ClientSession(headers=headers, connector=connector) as session:
        await request(session, url)
        ends = time.perf_counter() + options.seconds
        began, used = time.perf_counter(), cpu_s(pid)

        async def one_client() -> None:
            nonlocal answered
            while time.perf_counter() < ends:
                await request(session, url)
                answered += 1

        await asyncio.gather(*(one_client() for _ in range(options.connections)))
        took, used = time.perf_counter() - began, cpu_s(pid) - used
    return Round(answered / took, 1000 * used / answered)


def getting(job_id: str) -> Request:
    async def request(session: aiohttp.ClientSession, url: str) -> None:
        async with session.get(f"{url}{JOBS}/{job_id}") as reply:
            await reply.read()
            reply.raise_for_status()

    return request


def posting(body: dict[str, Any]) -> Request:
    async def request(session: aiohttp.ClientSession, url: str) -> None:
        async with session.post(f"{url}{JOBS}", json=body) as reply:
            await reply.read()
            reply.raise_for_status()

    return request


def prepared(url: str, key: str) -> tuple[dict[str, Any], str]:
    """Returns a body that is accepted, and the id of a job made with it."""
    headers = {"Authorization": f"Bearer {key}"}
    form = {"file": ("rows.jsonl", ROWS)}
    with httpx.Client(base_url=url, headers=headers) as http:
        files = [
            http.post("/v1/files", files=form, data={"purpose": "fine-tune"}).json()["id"]
            for _ in range(2)
        ]
        body = {
            "model": "tiny-agent",
            "training_file": files[0],
            "validation_file": files[1],
            "method": {
                "type": "reinforcement",
                "reinforcement": {
                    "grader": {
                        "type": "string_check",
                        "name": "exact",
                        "input": "{{ sample.output_text }}",
                        "reference": "{{ item.answer }}",
                        "operation": "eq",
                    },
                    "hyperparameters": {"n_epochs": 1},
                },
            },
        }
        job = http.post(JOBS, json=body).raise_for_status().json()
    return body, str(job["id"])


class Bench:
    def __init__(self, database: Database, options: argparse.Namespace) -> None:
        self._database = database
        self._options = options

    def run(self) -> dict[str, dict[str, list[Round]]]:
        key, *_ = asyncio.run(make_keys(self._database.settings))
        # No limit is under test.
        environment = environment_of(self._database.settings)
        environment["AGENT_RFT_QUOTAS"] = Quotas(queued_jobs=10**9).model_dump_json()
        environment["AGENT_RFT_REQUESTS_PER_MINUTE"] = "0" if self._options.unlimited else "9999999"
        with ExitStack() as stack:
            servers = {
                name: stack.enter_context(uvicorn_process(factory, environment))
                for name, factory in SERVERS.items()
            }
            urls = {name: f"http://127.0.0.1:{port}" for name, (port, _) in servers.items()}
            body, job_id = prepared(urls["service"], key)
            requests = {"GET job": getting(job_id), "POST job": posting(body)}
            found: dict[str, dict[str, list[Round]]] = {
                request: {name: [] for name in servers} for request in requests
            }
            for number in range(-1, self._options.rounds):
                for what, request in requests.items():
                    for name in sorted(servers, reverse=bool(number % 2)):
                        self._settle(job_id)
                        pid = servers[name][1]
                        done = asyncio.run(one_round(urls[name], pid, key, request, self._options))
                        if number >= 0:  # the first round only warms up
                            found[what][name].append(done)
        return found

    def _settle(self, job_id: str) -> None:
        """Resets the rows for a round: one job, which has ended."""
        url = self._database.superuser_url.replace("+psycopg", "")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DELETE FROM fine_tuning_jobs WHERE id <> %s", [job_id])
            connection.execute("UPDATE fine_tuning_jobs SET status = 'succeeded'")
            connection.execute("VACUUM ANALYZE")


def medians(rounds: list[Round]) -> tuple[float, float]:
    return (
        statistics.median(measured.per_s for measured in rounds),
        statistics.median(measured.cpu_ms for measured in rounds),
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--unlimited", action="store_true", help="without rate limits")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)  # Postgres runs as an ordinary user below it
        with (
            running_services(directory) as services,
            services.database(directory / "data") as database,
        ):
            found = Bench(database, options).run()
    print(f"{'':10}{'service/s':>11}{'bare/s':>10}{'ratio':>8}{'service ms':>12}{'bare ms':>9}")
    record: dict[str, dict[str, float]] = {}
    for what, sides in found.items():
        (ours, our_ms), (bare, bare_ms) = medians(sides["service"]), medians(sides["bare"])
        ratio = ours / bare
        print(f"{what:10}{ours:11.0f}{bare:10.0f}{ratio:8.2f}{our_ms:12.2f}{bare_ms:9.2f}")
        record[what] = {
            "service_per_s": round(ours, 1),
            "bare_per_s": round(bare, 1),
            "ratio": round(ratio, 3),
            "service_cpu_ms": round(our_ms, 3),
            "bare_cpu_ms": round(bare_ms, 3),
        }
    print(json.dumps({"benchmark": "control_plane", "bar": BAR, **record}))
    return 0 if all(route["ratio"] >= BAR for route in record.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
