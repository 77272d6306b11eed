"""A neighbour's one-token chat, alone and beside another project's work, round by round in one run.

The whole installation runs as a user starts it, with two projects. Loads of the other project: two
clients that send messages of 3.6 MB, eight that chat, and 60 jobs. Each round measures the chat
alone and then under the load, so that other work of the machine affects both; the numbers are
medians over the rounds. Bars: beside any load the p95 is at most 1.5 times that of the chat alone,
beside long messages also below 0.5 s. Every long message must be refused.
"""

import argparse
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from openai import BadRequestError, OpenAI

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.machine import machine
from tests.support.embedded.installation import (
    Installation,
    example_agent,
    installation,
    wait_until_final,
)
from tests.support.embedded.jobs import create_job, upload_dataset
from tests.support.patience import wait_for

BAR_S = 0.5
BAR_RATIO = 1.5
LONG = "The weight of part P017 is 42 grams. " * (3_600_000 // 37)
Load = Callable[[], AbstractContextManager[None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=60, help="chats of one measurement")
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--only", choices=("messages", "chats", "jobs"))
    parser.add_argument("--clients", choices=("messages", "chats"), help="internal: be the load")
    parser.add_argument("--url", default="")
    options = parser.parse_args()
    if options.clients:
        _call_on(options.clients, options.url)
        return
    print(machine())
    with (
        tempfile.TemporaryDirectory() as directory,
        example_agent() as agent,
        installation(Path(directory) / "data", allow=(agent.removeprefix("http://"),)) as running,
    ):
        neighbour, refused = _another_project(running), list[int]()
        files = upload_dataset(running.client(), Path(directory), train=64, valid=16)
        loads: dict[str, Load] = {
            "messages": lambda: _clients(running, "messages", refused),
            "chats": lambda: _clients(running, "chats", []),
            "jobs": lambda: _jobs(running, agent, files, options.jobs),
        }
        _seconds(neighbour, 5)
        report = {
            name: _measured(name, load, neighbour, rounds=options.rounds, calls=options.calls)
            for name, load in loads.items()
            if options.only in (None, name)
        }
    if "messages" in report:
        report["messages"]["refused"] = sum(refused)
    print(json.dumps({"machine": machine(), "bar_ratio": BAR_RATIO, "loads": report}))


def _measured(
    name: str, load: Load, neighbour: OpenAI, *, rounds: int, calls: int
) -> dict[str, Any]:
    alone, beside = list[dict[str, float]](), list[dict[str, float]]()
    for _ in range(rounds):
        alone.append(_numbers(_seconds(neighbour, calls)))
        with load():
            beside.append(_numbers(_seconds(neighbour, calls)))
    rows = {"alone": _medians(alone), "beside": _medians(beside)}
    ratios = {key: rows["beside"][key] / rows["alone"][key] for key in rows["alone"]}
    for title, row in rows.items():
        print(f"{name:9} {title:7}", *(f"{key} {1000 * row[key]:6.0f} ms" for key in row))
    print(f"{name:9} ratio  ", *(f"{key} {ratios[key]:6.2f}   " for key in ratios))
    met = ratios["p95"] <= BAR_RATIO and (name != "messages" or rows["beside"]["p95"] < BAR_S)
    return {**rows, "ratio": ratios, "rounds": rounds, "calls": calls, "met": met}


def _numbers(seconds: list[float]) -> dict[str, float]:
    p95 = statistics.quantiles(seconds, n=20)[-1]
    return {"p50": statistics.median(seconds), "p95": p95, "max": max(seconds)}


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(each[key] for each in rounds) for key in rounds[0]}


def _another_project(running: Installation) -> OpenAI:
    headers = {"Authorization": f"Bearer {running.admin_key}"}
    projects = f"{running.base_url}/organization/projects"
    project = httpx.post(projects, json={"name": "neighbour"}, headers=headers, timeout=30).json()
    accounts = f"{projects}/{project['id']}/service_accounts"
    account = httpx.post(accounts, json={"name": "neighbour"}, headers=headers, timeout=30).json()
    return OpenAI(base_url=running.base_url, api_key=account["api_key"]["value"], timeout=120)


def _seconds(client: OpenAI, calls: int) -> list[float]:
    seconds = []
    for _ in range(calls):
        began = time.perf_counter()
        _chat(client, 1)
        seconds.append(time.perf_counter() - began)
    return seconds


def _chat(client: OpenAI, tokens: int) -> None:
    client.chat.completions.create(
        model="tiny-agent", messages=[{"role": "user", "content": "hi"}], max_tokens=tokens
    )


def _long(client: OpenAI, refused: list[int]) -> None:
    try:
        client.chat.completions.create(
            model="tiny-agent", messages=[{"role": "user", "content": LONG}], max_tokens=1
        )
    except BadRequestError:
        refused.append(1)


@contextmanager
def _clients(running: Installation, kind: str, refused: list[int]) -> Iterator[None]:
    """Clients of a process of their own, until the block ends: threads of one interpreter would
    wait for each other, and the measured client with them.
    """
    command = [sys.executable, __file__, "--clients", kind, "--url", running.base_url]
    environment = {**os.environ, "OPENAI_API_KEY": running.api_key}
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("the clients of the load failed")
        yield
    finally:
        done, _ = process.communicate()
    refused.append(int(done))


def _call_on(kind: str, url: str) -> None:
    """Calls one after another without a pause, until the end of the standard input."""
    refused, calls = list[int](), queue.SimpleQueue[None]()
    stop = threading.Event()
    count = {"messages": 2, "chats": 8}[kind]

    def work() -> None:
        client = OpenAI(base_url=url, timeout=120)
        while not stop.is_set():
            if kind == "messages":
                _long(client, refused)
            else:
                _chat(client, 64)
            calls.put(None)

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    calls.get()
    print("ready", flush=True)
    sys.stdin.read()
    stop.set()
    for thread in threads:
        thread.join()
    print(len(refused), flush=True)


@contextmanager
def _jobs(running: Installation, agent: str, files: tuple[str, str], count: int) -> Iterator[None]:
    """Jobs of which one runs, until the block ends."""
    client = running.client()
    jobs = [create_job(client, agent, files).id for _ in range(count)]
    wait_for(lambda: _runs(client, jobs[0]), what="a job")
    try:
        yield
    finally:
        for job in reversed(jobs):
            with suppress(BadRequestError):  # it has ended
                client.fine_tuning.jobs.cancel(job)
        for job in jobs:
            wait_until_final(client, job)


def _runs(client: OpenAI, job: str) -> bool:
    shown = client.fine_tuning.jobs.retrieve(job)
    if shown.status == "failed":
        raise RuntimeError(f"The job of the load failed: {shown.error}")
    return shown.status == "running"


if __name__ == "__main__":
    main()
