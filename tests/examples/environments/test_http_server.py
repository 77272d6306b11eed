"""The example of an HTTP environment over its socket, with several episodes at a time."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from typing import Any

import httpx
import pytest

from examples.environments.http.server import RecordsWorld, serve
from tests.support.patience import PATIENCE_S

EPISODES = 40


class Client:
    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def call(self, key: str, **body: Any) -> httpx.Response:
        return self._http.post("/", json=body, headers={"Idempotency-Key": key})

    def reset(self, name: str) -> str:
        task = {"messages": [], "reference_answer": name}
        sent = self.call(f"{name}/reset", type="reset", rollout_id=name, seed=1, task=task)
        return str(sent.json()["episode_id"])

    def step(self, name: str, episode: str, **message: Any) -> httpx.Response:
        turn = {"role": "assistant", "content": name, **message}
        key = f"{name}/step/{len(message)}"
        return self.call(key, type="step", rollout_id=name, episode_id=episode, message=turn)

    def close(self, name: str, episode: str) -> None:
        self.call(f"{name}/close", type="close", rollout_id=name, episode_id=episode, done=True)


@pytest.fixture
def client() -> Iterator[Client]:
    server = serve(RecordsWorld(), port=0)
    thread = Thread(target=server.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    with httpx.Client(base_url=url, timeout=PATIENCE_S) as http:
        yield Client(http)
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_episode_is_graded_by_its_own_task_while_others_end(client: Client) -> None:
    def play(number: int) -> tuple[str, float]:
        name = f"answer-{number}"
        episode = client.reset(name)
        reward = client.step(name, episode).json()["reward"]
        if number % 2:
            client.close(name, episode)
        return episode, reward

    with ThreadPoolExecutor(8) as threads:
        played = list(threads.map(play, range(EPISODES)))
    assert [reward for _, reward in played] == [1.0] * EPISODES
    assert len({episode for episode, _ in played}) == EPISODES


def test_an_episode_of_another_process_is_gone(client: Client) -> None:
    _, begun = RecordsWorld().answer({"type": "reset", "rollout_id": "r", "task": {}}, "key")
    client.reset("mine")
    assert client.step("mine", begun["episode_id"]).status_code == 404


def test_every_step_has_the_components(client: Client) -> None:
    episode = client.reset("62")
    call = {"id": "call_1", "function": {"name": "calculator", "arguments": "{}"}}
    first = client.step("62", episode, tool_calls=[call]).json()
    last = client.step("62", episode).json()
    assert (first["done"], last["done"]) == (False, True)
    assert first["components"] == {"correct": 0.0, "wasted_calls": 0.0}
    assert last["components"] == {"correct": 1.0, "wasted_calls": 1.0}
