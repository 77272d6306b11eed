"""A Gymnasium environment as an environment over HTTP.

Run it beside the package `gymnasium`, as
`python -m examples.environments.bridges.gymnasium_bridge FrozenLake-v1 --port 8911`, or with a
class of your own as `module:Class`. Each episode has an environment of its own, since a Gymnasium
environment plays one at a time. Actions are whole numbers (`Discrete`) or texts (`Text`); what the
model sees is the environment's `render()` where it draws text (`render_mode="ansi"`), else the
observation. An episode that is truncated has ended, with the rewards so far. The task's
`reset_options` are the `options` of `reset`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

from examples.environments.bridges.bridge import ActionOutcome, Bridge, WrongAction, tool
from examples.environments.http.server import Json, serve

ACTION = "action"


class GymnasiumSession:
    """Implements `Session` with an environment of Gymnasium's interface."""

    def __init__(self, env: Any) -> None:
        self._env = env

    def reset(self, seed: int, task: Json) -> str:
        observation, _ = self._env.reset(seed=seed, options=task.get("reset_options"))
        return self._shown(observation)

    def step(self, action: Json) -> ActionOutcome:
        space, sent = self._env.action_space, action.get(ACTION)
        if isinstance(sent, bool) or not isinstance(sent, int | str) or not space.contains(sent):
            raise WrongAction(f"'{ACTION}' must be one of {space}, not {sent!r:.100}")
        observation, reward, terminated, truncated, _ = self._env.step(sent)
        return ActionOutcome(self._shown(observation), float(reward), bool(terminated or truncated))

    def close(self) -> None:
        self._env.close()

    def _shown(self, observation: Any) -> str:
        if getattr(self._env, "render_mode", None) == "ansi":
            return str(self._env.render())
        return observation if isinstance(observation, str) else json.dumps(_plain(observation))


def _plain(value: Any) -> Any:
    """Returns an observation as JSON: arrays as lists, numbers of numpy as numbers."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    return value.tolist() if hasattr(value, "tolist") else value


def act_tool(env: Any) -> Json:
    """Returns the tool of an environment. Raises `ValueError` for actions that are neither."""
    space = env.action_space
    if hasattr(space, "n") and hasattr(space, "start"):
        first = int(space.start)
        schema: Json = {
            "type": "integer",
            "minimum": first,
            "maximum": first + int(space.n) - 1,
        }
    elif hasattr(space, "max_length"):
        schema = {"type": "string", "maxLength": int(space.max_length)}
    else:
        raise ValueError(f"actions are neither Discrete nor Text: {space}")
    parameters = {"type": "object", "properties": {ACTION: schema}, "required": [ACTION]}
    return tool(f"Acts in the environment. Actions: {space}.", parameters)


def maker(name: str) -> Callable[[], Any]:
    """Returns what makes an environment of a Gymnasium id or of `module:Class`."""
    module, _, attribute = name.partition(":")
    if attribute and "/" not in name:
        found: Callable[[], Any] = getattr(import_module(module), attribute)
        return found
    gymnasium = import_module("gymnasium")
    first = gymnasium.make(name)
    options = {"render_mode": "ansi"} if "ansi" in first.metadata["render_modes"] else {}
    first.close()
    return lambda: gymnasium.make(name, **options)


def bridge(make: Callable[[], Any]) -> Bridge:
    first = make()
    try:
        return Bridge(lambda: GymnasiumSession(make()), act_tool(first))
    finally:
        first.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("env", help="id of Gymnasium, or module:Class")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8911)
    given = parser.parse_args()
    server = serve(bridge(maker(given.env)), host=given.host, port=given.port)
    print(json.dumps({"url": f"http://{given.host}:{server.server_port}"}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
