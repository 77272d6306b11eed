"""A neighbour's one-token chat, alone and beside two clients that send 3.6 MB messages.

The whole installation runs as a user starts it, with two projects. The bar is a p95 of 0.5 s beside
the long messages; every long message must be refused.
"""

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
from openai import BadRequestError, OpenAI

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.installation import Installation, installation

BAR_S = 0.5
LONG = "The weight of part P017 is 42 grams. " * (3_600_000 // 37)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--clients", type=int, default=2, help="senders of long messages")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as directory,
        installation(Path(directory) / "data", allow=()) as running,
    ):
        neighbour = _another_project(running)
        _seconds(neighbour, 5)
        alone = _seconds(neighbour, options.calls)
        stop, refused = threading.Event(), [0] * options.clients
        senders = [
            threading.Thread(target=_send, args=(running.client(), stop, refused, number))
            for number in range(options.clients)
        ]
        for sender in senders:
            sender.start()
        beside = _seconds(neighbour, options.calls)
        stop.set()
        for sender in senders:
            sender.join()
    _print(alone, beside, sum(refused))


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
        client.chat.completions.create(
            model="tiny-agent", messages=[{"role": "user", "content": "hi"}], max_tokens=1
        )
        seconds.append(time.perf_counter() - began)
    return seconds


def _send(client: OpenAI, stop: threading.Event, refused: list[int], number: int) -> None:
    """Sends long messages one after another until `stop` is set."""
    while not stop.is_set():
        try:
            client.chat.completions.create(
                model="tiny-agent", messages=[{"role": "user", "content": LONG}], max_tokens=1
            )
        except BadRequestError:
            refused[number] += 1


def _print(alone: list[float], beside: list[float], refused: int) -> None:
    figures = {}
    for name, seconds in (("alone", alone), ("beside long messages", beside)):
        p95 = statistics.quantiles(seconds, n=20)[-1]
        figures[name] = {"p50": statistics.median(seconds), "p95": p95, "max": max(seconds)}
        print(name, *(f"{key} {1000 * value:.0f} ms" for key, value in figures[name].items()))
    met = figures["beside long messages"]["p95"] < BAR_S
    print(json.dumps({**figures, "refused": refused, "bar_s": BAR_S, "met": met}))


if __name__ == "__main__":
    main()
