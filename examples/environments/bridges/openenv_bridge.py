"""An OpenEnv server as an environment over HTTP.

Run it as
`python -m examples.environments.bridges.openenv_bridge http://localhost:8000 --port 8912`.
Each episode is a session of the server's WebSocket `/ws`: its HTTP routes `/reset` and `/step` make
an environment for each request and keep none. The tool's arguments are the server's action
(`/schema`), the results its observation as JSON. The seed and the task's `reset_options` are sent
with `reset`. It needs the package `aiohttp`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Coroutine
from threading import Thread
from typing import Any

import aiohttp

from examples.environments.bridges.bridge import ActionOutcome, Bridge, WrongAction, tool
from examples.environments.http.server import Json, serve

TIMEOUT_S = 300.0
NOT_AN_ACTION = "VALIDATION_ERROR"


class OpenEnvServer:
    """Connections to one server, on an event loop of their own."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._http = self.run(self._open())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(TIMEOUT_S)

    async def _open(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S))

    def action_schema(self) -> Json:
        """Returns the JSON schema of actions, without what every action has."""

        async def ask() -> Json:
            async with self._http.get(f"{self._url}/schema") as reply:
                reply.raise_for_status()
                schemas: Json = await reply.json()
                return schemas

        schema: Json = self.run(ask())["action"]
        properties = {k: v for k, v in schema.get("properties", {}).items() if k != "metadata"}
        return {**schema, "properties": properties}

    def connect(self) -> aiohttp.ClientWebSocketResponse:
        async def connected() -> aiohttp.ClientWebSocketResponse:
            opened: aiohttp.ClientWebSocketResponse = await self._http.ws_connect(
                f"{self._url}/ws", max_msg_size=1_048_576
            )
            return opened

        socket: aiohttp.ClientWebSocketResponse = self.run(connected())
        return socket

    def close(self) -> None:
        self.run(self._http.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class OpenEnvSession:
    """Implements `Session` with one connection, which has an environment of its own."""

    def __init__(self, server: OpenEnvServer) -> None:
        self._server = server
        self._socket: aiohttp.ClientWebSocketResponse | None = None

    def reset(self, seed: int, task: Json) -> str:
        self._socket = self._server.connect()
        options = task.get("reset_options")
        data = {**(options if isinstance(options, dict) else {}), "seed": seed}
        return self._observed({"type": "reset", "data": data}).text

    def step(self, action: Json) -> ActionOutcome:
        return self._observed({"type": "step", "data": action})

    def close(self) -> None:
        if self._socket is not None and not self._socket.closed:
            self._server.run(self._left(self._socket))

    @staticmethod
    async def _left(socket: aiohttp.ClientWebSocketResponse) -> None:
        await socket.send_json({"type": "close"})
        await socket.close()

    def _observed(self, message: Json) -> ActionOutcome:
        answer = self._server.run(self._exchanged(message))
        data = answer["data"]
        if answer["type"] == "error":
            if data.get("code") == NOT_AN_ACTION:
                raise WrongAction(f"the action is not accepted: {_reasons(data)}")
            raise RuntimeError(f"the server answered with {data.get('code')}")
        reward = data.get("reward")
        shown = {k: v for k, v in data["observation"].items() if k != "metadata"}
        return ActionOutcome(
            json.dumps(shown, ensure_ascii=False),
            None if reward is None else float(reward),
            bool(data.get("done")),
        )

    async def _exchanged(self, message: Json) -> Json:
        if self._socket is None:
            raise RuntimeError("the episode has not begun")
        await self._socket.send_json(message)
        answer: Json = await self._socket.receive_json()
        return answer


def _reasons(data: Json) -> str:
    """Returns what is wrong with an action, without the values that the server repeats."""
    faults = [
        f"{'.'.join(map(str, fault.get('loc', ())))}: {fault.get('msg')}"
        for fault in data.get("errors") or ()
    ]
    return "; ".join(faults) or str(data.get("message"))


def bridge(server: OpenEnvServer) -> Bridge:
    act = tool("Acts in the environment.", server.action_schema())
    return Bridge(lambda: OpenEnvSession(server), act)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("url", help="address of the OpenEnv server")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8912)
    given = parser.parse_args()
    server = serve(bridge(OpenEnvServer(given.url)), host=given.host, port=given.port)
    print(json.dumps({"url": f"http://{given.host}:{server.server_port}"}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
