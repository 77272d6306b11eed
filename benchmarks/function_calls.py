"""Counts the calls of functions in the server for one `GET job` and one `POST job`.

Counts do not depend on other work on the machine. Python's profiler counts on the event loop and on
the loop's threads; functions in C count too. Prints a table, the functions of this project that are
called most, and a JSON line.

    python benchmarks/function_calls.py [--requests 200] [--most 25]
"""

import argparse
import asyncio
import cProfile
import json
import pstats
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send
from typing_extensions import override

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.accounts.usage import Quotas  # noqa: E402 - needs the path above
from app.local.layout import environment_of  # noqa: E402 - as above
from app.main import create_app  # noqa: E402 - as above
from benchmarks.api_process import uvicorn_process  # noqa: E402 - as above
from benchmarks.control_plane import JOBS, prepared  # noqa: E402 - as above
from tests.support.stack import running_services  # noqa: E402 - as above
from tests.support.web.api_server import make_keys  # noqa: E402 - as above

START, STOP = "/profile/start", "/profile/stop"
_WARM_UP = 60
Found = dict[str, int]
"""Calls of functions by file, line and name."""


class _CountedThreads(ThreadPoolExecutor):
    """Threads of a loop that count the calls of each piece of work."""

    def __init__(self, count: Callable[[cProfile.Profile], None]) -> None:
        super().__init__()
        self._count = count

    @override
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        def counted() -> Any:
            profile = cProfile.Profile()
            try:
                return profile.runcall(fn, *args, **kwargs)
            finally:
                self._count(profile)

        return super().submit(counted)


def counted() -> ASGIApp:
    """Creates the application for uvicorn; two more paths begin and end the count."""
    app, loop_profile = create_app(), cProfile.Profile()
    of_threads, lock = list[Found](), threading.Lock()

    def count(profile: cProfile.Profile) -> None:
        with lock:
            of_threads.append(calls_of(profile))

    async def with_count(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path")
        if path == START:
            asyncio.get_running_loop().set_default_executor(_CountedThreads(count))
            of_threads.clear()
            loop_profile.clear()
            loop_profile.enable()
        elif path == STOP:
            loop_profile.disable()
        else:
            await app(scope, receive, send)
            return
        whole = calls_of(loop_profile)
        for found in of_threads:
            for name, calls in found.items():
                whole[name] = whole.get(name, 0) + calls
        body = json.dumps(whole).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    return with_count


def calls_of(profile: cProfile.Profile) -> Found:
    if not profile.getstats():
        return {}
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]  # typeshed lacks it
    return {f"{file}:{line}:{name}": calls[1] for (file, line, name), calls in stats.items()}


def calls_per_request(http: httpx.Client, request: Callable[[], None], requests: int) -> Found:
    for _ in range(_WARM_UP):
        request()
    http.get(START)
    for _ in range(requests):
        request()
    return dict(http.get(STOP).json())


def shown(what: str, found: Found, options: argparse.Namespace) -> dict[str, float]:
    """Prints and returns the calls of one request: all of them, those of functions in Python, and
    those of `app`.
    """
    python = {name: calls for name, calls in found.items() if not name.startswith("~")}
    ours = {name: calls for name, calls in python.items() if name.startswith(f"{ROOT}/app/")}
    values = {
        name: round(sum(some.values()) / options.requests, 1)
        for name, some in (("all", found), ("python", python), ("app", ours))
    }
    print(f"{what}:", ", ".join(f"{value:.0f} {name}" for name, value in values.items()))
    for name, calls in sorted(ours.items(), key=lambda item: -item[1])[: options.most]:
        print(f"{calls / options.requests:8.1f}  {name.removeprefix(f'{ROOT}/')}")
    return values


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--most", type=int, default=25, help="functions that are listed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)  # Postgres runs as an ordinary user below it
        with (
            running_services(directory) as services,
            services.database(directory / "data") as database,
        ):
            key, *_ = asyncio.run(make_keys(database.settings))
            environment = environment_of(database.settings)
            environment["AGENT_RFT_QUOTAS"] = Quotas(queued_jobs=10**9).model_dump_json()
            environment["AGENT_RFT_REQUESTS_PER_MINUTE"] = "9999999"
            factory = "benchmarks.function_calls:counted"
            with uvicorn_process(factory, environment) as (port, _):
                url = f"http://127.0.0.1:{port}"
                body, job_id = prepared(url, key)
                headers = {"Authorization": f"Bearer {key}"}
                with httpx.Client(base_url=url, headers=headers) as http:
                    requests: dict[str, Callable[[], None]] = {
                        "GET job": lambda: _sent(http.get(f"{JOBS}/{job_id}")),
                        "POST job": lambda: _sent(http.post(JOBS, json=body)),
                    }
                    record = {
                        what: shown(
                            what, calls_per_request(http, request, options.requests), options
                        )
                        for what, request in requests.items()
                    }
    print(json.dumps({"benchmark": "function_calls", **record}))
    return 0


def _sent(reply: httpx.Response) -> None:
    reply.raise_for_status()


if __name__ == "__main__":
    sys.exit(main())
