"""Webhooks while processes are killed: every event arrives, under one id; the seed is printed."""

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI

from app.local.state import free_port
from tests.support.embedded.installation import Installation, example_agent, installation
from tests.support.embedded.jobs import create_job, upload_dataset
from tests.support.patience import wait_for
from tests.support.webhooks.webhook_receiver import webhook_receiver

CANCELLED: Any = "fine_tuning.job.cancelled"
VICTIMS = ("deliverer", "control", "valkey", "postgres", "api")
KILLS = 12
ARRIVES_S = 90
"""A lease of 30 s runs out once for each delivery that a killed process had on its way."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]


@pytest.mark.parametrize("seed", [1, 2])
def test_no_event_is_lost_by_any_kill(tmp_path: Path, seed: int) -> None:
    chance, port = random.Random(seed), free_port()
    with (
        webhook_receiver(port) as taken,
        example_agent() as agent,
        installation(
            tmp_path / "data", allow=[agent.removeprefix("http://"), f"127.0.0.1:{port}"]
        ) as live,
    ):
        client = live.client()
        files = upload_dataset(client, tmp_path, train=24, valid=10)
        hook = client.webhooks.create(
            name="ci", url=f"http://127.0.0.1:{port}/", event_types=[CANCELLED]
        )
        ended = set()
        for _ in range(KILLS):
            job_id = _eventually(lambda: create_job(client, agent, files).id)
            victim = chance.choice(VICTIMS)
            if chance.random() < 0.5:
                _kill(live, victim)
                _cancel(client, job_id)
            else:
                _cancel(client, job_id)
                time.sleep(chance.uniform(0, 1))
                _kill(live, victim)
            ended.add(job_id)
        wait_for(
            lambda: _statuses(live, hook.id) == ["delivered"] * KILLS,
            timeout_s=ARRIVES_S,
            what=f"the delivery of all events, seed {seed}",
        )
        events: Any = [
            client.webhooks.unwrap(body, headers, secret=hook.signing_secret)
            for headers, body in taken
        ]
    assert {event.data.id for event in events} == ended, seed
    assert len({(event.id, event.data.id) for event in events}) == KILLS, seed


def _cancel(client: OpenAI, job_id: str) -> None:
    """A call whose answer was lost has been done."""

    def cancelled() -> bool:
        try:
            client.fine_tuning.jobs.cancel(job_id)
        except openai.BadRequestError:
            assert client.fine_tuning.jobs.retrieve(job_id).status == "cancelled"
        return True

    _eventually(cancelled)


def _eventually(call: Any, *, timeout_s: float = 60) -> Any:
    """While the API itself, or its database, is unavailable for a moment."""
    give_up_at = time.monotonic() + timeout_s
    while True:
        try:
            return call()
        except (openai.APIConnectionError, openai.InternalServerError):
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.2)


def _statuses(live: Installation, endpoint_id: str) -> list[str]:
    try:
        page = live.get(f"/webhook_endpoints/{endpoint_id}/deliveries", limit=100)
    except httpx.HTTPError:
        return []
    return [delivery["status"] for delivery in page["data"]]


def _kill(live: Installation, victim: str) -> None:
    """A victim that is not there at this instant is left out."""
    with suppress(ProcessLookupError, FileNotFoundError):
        if victim != "deliverer":
            live.kill(victim)
            return
        for pid in _descendants(live.pids()["control"]):
            if b"workers.webhooks.child" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)


def _descendants(parent: int) -> list[int]:
    found: list[int] = []
    for listed in Path(f"/proc/{parent}/task").glob("*/children"):
        for pid in map(int, listed.read_text().split()):
            found += [pid, *_descendants(pid)]
    return found
