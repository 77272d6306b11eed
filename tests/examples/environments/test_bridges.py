"""Bridges in front of Gymnasium and OpenEnv environments, over their sockets."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from aiohttp import WSMsgType, web

from examples.environments.bridges import gymnasium_bridge, openenv_bridge
from examples.environments.bridges.bridge import OVER
from examples.environments.http.server import World, serve
from tests.support.cases import cases
from tests.support.patience import PATIENCE_S

Json = dict[str, Any]
HIDDEN = 3


@dataclass(frozen=True)
class Discrete:
    """A space of whole numbers, with the names that Gymnasium gives."""

    n: int
    start: int = 0

    def contains(self, value: Any) -> bool:
        return isinstance(value, int) and self.start <= value < self.start + self.n


class Guessing:
    """An environment of Gymnasium's interface: guess a number that the seed decides."""

    render_mode = None
    closed = 0

    def __init__(self) -> None:
        self.action_space = Discrete(8)
        self.number = -1
        self.guesses = 0

    def reset(self, *, seed: int, options: Json | None) -> tuple[Any, Json]:
        self.number = seed % 8 if options is None else options["number"]
        return (0, 7), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, Json]:
        if self.number == -1:
            raise RuntimeError("the episode has not begun")
        if action == 7:
            raise RuntimeError("the environment breaks")
        self.guesses += 1
        right = action == self.number
        return {"higher": action < self.number}, 1.0 if right else -0.1, right, False, {}

    def close(self) -> None:
        type(self).closed += 1


class Calls:
    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def send(self, key: str, **body: Any) -> httpx.Response:
        sent = {"rollout_id": "trace_1", **body}
        return self._http.post("/", json=sent, headers={"Idempotency-Key": key})

    def begin(self, name: str, *, seed: int = HIDDEN, **task: Any) -> tuple[str, Json]:
        reply = self.send(f"{name}/reset", type="reset", seed=seed, task={"messages": [], **task})
        assert reply.status_code == 200, reply.text
        begun: Json = reply.json()
        return begun["episode_id"], begun

    def act(self, key: str, episode: str, *actions: Any) -> httpx.Response:
        calls = [
            {"id": f"call_{number}", "function": {"name": "act", "arguments": json.dumps(action)}}
            for number, action in enumerate(actions)
        ]
        message: Json = {"role": "assistant", "content": ""}
        if calls:
            message["tool_calls"] = calls
        return self.send(key, type="step", episode_id=episode, turn=0, message=message)


@contextmanager
def served(world: World) -> Iterator[Calls]:
    server = serve(world, port=0)
    thread = Thread(target=server.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        with httpx.Client(base_url=url, timeout=PATIENCE_S) as http:
            yield Calls(http)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_gymnasium_environment_is_played_by_a_tool() -> None:
    with served(gymnasium_bridge.bridge(Guessing)) as calls:
        episode, begun = calls.begin("a")
        other, _ = calls.begin("b", reset_options={"number": 5})
        assert begun["messages"] == [{"role": "user", "content": "[0, 7]"}]
        (offered,) = begun["tools"]
        action = {"type": "integer", "minimum": 0, "maximum": 7}
        assert offered["function"]["parameters"]["properties"] == {"action": action}
        first = calls.act("a/1", episode, {"action": 1}).json()
        assert first == {
            "done": False,
            "results": [{"call_id": "call_0", "content": '{"higher": true}', "error": False}],
            "reward": -0.1,
        }
        assert calls.act("a/1", episode, {"action": 1}).json() == first, "stepped once"
        assert calls.act("b/1", other, {"action": 5}).json()["done"] is True
        last = calls.act("a/2", episode, {"action": 2}, {"action": HIDDEN}, {"action": 0}).json()
        assert (last["done"], last["reward"]) == (True, pytest.approx(0.9))
        assert [each["error"] for each in last["results"]] == [False, False, True]
        assert last["results"][2]["content"] == OVER


@cases("action", [{"action": 8}, {"action": True}, [1]])
def test_a_wrong_action_is_the_models_mistake(action: Any) -> None:
    with served(gymnasium_bridge.bridge(Guessing)) as calls:
        episode, _ = calls.begin("a")
        wrong = calls.act("a/1", episode, action).json()
        assert (wrong["done"], wrong["results"][0]["error"]) == (False, True)
        assert "reward" not in wrong
        assert calls.act("a/2", episode, {"action": HIDDEN}).json()["reward"] == 1.0


def test_a_turn_without_a_call_reads_how_to_act() -> None:
    with served(gymnasium_bridge.bridge(Guessing)) as calls:
        episode, _ = calls.begin("a")
        answer = calls.act("a/1", episode).json()
    assert answer == {"done": False, "message": "Act by calling the tool 'act'."}


def test_an_environment_that_breaks_is_begun_anew_by_the_service() -> None:
    with served(gymnasium_bridge.bridge(Guessing)) as calls:
        episode, _ = calls.begin("a")
        assert calls.act("a/1", episode, {"action": 7}).status_code == 503
        assert calls.act("a/1", episode, {"action": 7}).status_code == 404
        again, _ = calls.begin("again")
        before = Guessing.closed
        for _ in range(2):
            sent = calls.send("close", type="close", episode_id=again, done=False)
            assert sent.status_code == 200
        assert Guessing.closed == before + 1


def test_a_close_without_an_id_ends_the_episodes_of_its_rollout_alone() -> None:
    with served(gymnasium_bridge.bridge(Guessing)) as calls:
        lost, _ = calls.begin("a")
        begun = calls.send(
            "b", type="reset", seed=HIDDEN, task={"messages": []}, rollout_id="trace_2"
        )
        before = Guessing.closed
        assert calls.send("close", type="close", episode_id=None, done=False).status_code == 200
        assert Guessing.closed == before + 1
        assert calls.act("a/1", lost, {"action": 1}).status_code == 404
        assert calls.act("b/1", begun.json()["episode_id"], {"action": 1}).status_code == 200


@dataclass
class OpenEnvWorld:
    """A server of OpenEnv's protocol, whose environment is the same guessing."""

    messages: list[Json] = field(default_factory=list)
    sockets: int = 0

    def answer(self, env: Guessing, message: Json) -> Json:
        match message["type"]:
            case "reset":
                options = {"number": message["data"].get("number", message["data"]["seed"] % 8)}
                env.reset(seed=0, options=options)
                return _observation({"range": [0, 7]}, None, done=False)
            case "step" if "action" not in message["data"]:
                fault = {"loc": ["action"], "msg": "Field required", "input": "canary"}
                data = {"message": "Invalid message", "code": "VALIDATION_ERROR", "errors": [fault]}
                return {"type": "error", "data": data}
            case _:
                try:
                    shown, reward, done, _, _ = env.step(message["data"]["action"])
                except RuntimeError as error:
                    data = {"message": str(error), "code": "EXECUTION_ERROR"}
                    return {"type": "error", "data": data}
                return _observation(shown, reward, done=done)

    async def ws(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.sockets += 1
        env = Guessing()
        async for received in socket:
            if received.type is not WSMsgType.TEXT:
                break
            message = json.loads(received.data)
            self.messages.append(message)
            if message["type"] == "close":
                break
            await socket.send_json(self.answer(env, message))
        self.sockets -= 1
        return socket

    async def schema(self, _: web.Request) -> web.Response:
        properties = {"action": {"type": "integer"}, "metadata": {"type": "object"}}
        action = {"type": "object", "properties": properties, "required": ["action"]}
        return web.json_response({"action": action, "observation": {}, "state": {}})


def _observation(shown: Json, reward: float | None, *, done: bool) -> Json:
    data = {"observation": {**shown, "metadata": {}}, "reward": reward, "done": done}
    return {"type": "observation", "data": data}


@contextmanager
def openenv(world: OpenEnvWorld) -> Iterator[openenv_bridge.OpenEnvServer]:
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()

    def run(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE_S)

    async def started() -> tuple[web.AppRunner, int]:
        app = web.Application()
        app.add_routes([web.get("/ws", world.ws), web.get("/schema", world.schema)])
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner, runner.addresses[0][1]

    runner, port = run(started())
    server = openenv_bridge.OpenEnvServer(f"http://127.0.0.1:{port}")
    try:
        yield server
    finally:
        server.close()
        run(runner.cleanup())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_an_openenv_server_is_played_in_a_session_of_each_episode() -> None:
    world = OpenEnvWorld()
    with openenv(world) as server, served(openenv_bridge.bridge(server)) as calls:
        episode, begun = calls.begin("a")
        other, _ = calls.begin("b", reset_options={"number": 6})
        assert begun["messages"][0]["content"] == '{"range": [0, 7]}'
        parameters = begun["tools"][0]["function"]["parameters"]
        assert parameters["properties"] == {"action": {"type": "integer"}}
        wrong = calls.act("a/0", episode, {"guess": 1}).json()
        assert (wrong["done"], wrong["results"][0]["error"]) == (False, True)
        assert "action: Field required" in wrong["results"][0]["content"]
        assert "canary" not in wrong["results"][0]["content"]
        step = calls.act("a/1", episode, {"action": 1}).json()
        assert (step["results"][0]["content"], step["reward"]) == ('{"higher": true}', -0.1)
        assert calls.act("b/1", other, {"action": 6}).json()["reward"] == 1.0
        assert calls.act("a/2", episode, {"action": HIDDEN}).json()["done"] is True
        assert calls.act("b/2", other, {"action": 7}).json()["results"][0]["content"] == OVER
        for name, each in (("a", episode), ("b", other)):
            calls.send(f"{name}/close", type="close", episode_id=each, done=True)
        broken, _ = calls.begin("c")
        assert calls.act("c/1", broken, {"action": 7}).status_code == 503
        assert calls.act("c/2", broken, {"action": 1}).status_code == 404
    assert world.messages[0] == {"type": "reset", "data": {"seed": HIDDEN}}
    assert sum(message["type"] == "close" for message in world.messages) == 3
    assert world.sockets == 0


def test_an_environment_with_other_actions_is_refused_before_it_is_served() -> None:
    class Continuous(Guessing):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = SimpleNamespace(shape=(2,))  # type: ignore[assignment]  # as Box is

    make: Callable[[], Any] = Continuous
    with pytest.raises(ValueError, match="neither Discrete nor Text"):
        gymnasium_bridge.bridge(make)
