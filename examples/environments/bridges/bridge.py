"""An environment over HTTP in front of one that speaks otherwise: episodes, repeats and errors.

A `Session` is one episode of the other environment. The model acts through one tool, whose
arguments are the action; what the environment shows is the tool's result, and its rewards are those
of the steps. A call that is sent again (same `Idempotency-Key`) gets its first answer. An episode
whose environment failed is gone: the next step for it is a 404, upon which the service begins it
anew with the same seed and repeats its turns. `gymnasium_bridge.py` and `openenv_bridge.py` have
sessions.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol
from uuid import uuid4

from examples.environments.http.server import Answer, Json

KEPT_ANSWERS = 100_000
OVER = "Error: the episode is over."
ACT = "Act by calling the tool '{name}'."


class WrongAction(Exception):
    """An action that the environment does not take; the model reads the text."""


@dataclass(frozen=True)
class ActionOutcome:
    """The outcome of an action."""

    text: str
    reward: float | None
    done: bool


class Session(Protocol):
    def reset(self, seed: int, task: Json) -> str:
        """Begins the episode; returns what the model is shown first."""
        ...

    def step(self, action: Json) -> ActionOutcome:
        """Acts. After a `WrongAction` the episode continues; any other error ends it."""
        ...

    def close(self) -> None: ...


@dataclass
class _Episode:
    session: Session
    rollout_id: str
    done: bool = False
    lock: Lock = field(default_factory=Lock)


@dataclass(eq=False)
class _PendingReset:
    """A reset that runs."""

    rollout_id: str
    given_up: bool = False


class Bridge:
    """Answers the calls of the service. `tool` is the function that the model acts through."""

    def __init__(self, new_session: Callable[[], Session], tool: Json) -> None:
        self._new_session = new_session
        self._tool = tool
        self._episodes: dict[str, _Episode] = {}
        self._beginning: list[_PendingReset] = []
        self._answered: OrderedDict[str, Answer] = OrderedDict()
        self._calls: dict[str, Lock] = {}
        self._lock = Lock()

    def answer(self, call: Json, key: str) -> Answer:
        """Returns status and body. Two attempts of one call are answered one after the other."""
        with self._lock:
            own = self._calls.setdefault(key, Lock())
        with own:
            with self._lock:
                if key in self._answered:
                    return self._answered[key]
            answer = self._answer(call)
            with self._lock:
                if answer[0] < 500:
                    self._answered[key] = answer
                self._calls.pop(key, None)
                if len(self._answered) > KEPT_ANSWERS:
                    self._answered.popitem(last=False)
        return answer

    def _answer(self, call: Json) -> Answer:
        match call["type"]:
            case "reset":
                return self._reset(call)
            case "step":
                return self._step(call)
            case "close":
                self._end(call)
                return 200, {}
            case _:
                return 400, {"error": "there is no such call"}

    def _reset(self, call: Json) -> Answer:
        beginning = _PendingReset(call["rollout_id"])
        with self._lock:
            self._beginning.append(beginning)
        try:
            return self._begin(call, beginning)
        finally:
            with self._lock:
                self._beginning.remove(beginning)

    def _begin(self, call: Json, beginning: _PendingReset) -> Answer:
        session = self._new_session()
        try:
            shown = session.reset(call["seed"], call["task"])
        except Exception as error:  # noqa: BLE001 - whatever the environment raises
            _close(session)
            return 503, {"error": f"reset failed: {type(error).__name__}"}
        episode_id = f"episode-{uuid4().hex}"
        with self._lock:
            if not beginning.given_up:
                self._episodes[episode_id] = _Episode(session, beginning.rollout_id)
        if beginning.given_up:
            _close(session)
            return 503, {"error": "the episode was closed while it began"}
        messages = [{"role": "user", "content": shown}]
        return 200, {"episode_id": episode_id, "messages": messages, "tools": [self._tool]}

    def _end(self, call: Json) -> None:
        """Closes an episode; without its id, which an answer that was lost had, all of a rollout,
        those that still begin too.
        """
        rollout_id = call["rollout_id"]
        with self._lock:
            for beginning in self._beginning:
                if call["episode_id"] is None and beginning.rollout_id == rollout_id:
                    beginning.given_up = True
            ended = [
                self._episodes.pop(episode_id)
                for episode_id, episode in list(self._episodes.items())
                if call["episode_id"] in (episode_id, None) and episode.rollout_id == rollout_id
            ]
        for episode in ended:
            _close(episode.session)

    def _step(self, call: Json) -> Answer:
        episode_id, calls = call["episode_id"], call["message"].get("tool_calls") or []
        episode = self._episodes.get(episode_id)
        if episode is None:
            return 404, {"error": "there is no such episode"}
        with episode.lock:
            try:
                return 200, self._acted(episode, calls)
            except Exception as error:  # noqa: BLE001 - whatever the environment raises
                self._episodes.pop(episode_id, None)
                _close(episode.session)
                return 503, {"error": f"step failed: {type(error).__name__}"}

    def _acted(self, episode: _Episode, calls: list[Json]) -> Json:
        name = self._tool["function"]["name"]
        if not calls:
            return {"done": episode.done, "message": ACT.format(name=name)}
        results, rewards = [], []
        for one in calls:
            content, wrong = OVER, True
            if not episode.done:
                try:
                    observed = episode.session.step(_action(one))
                except WrongAction as fault:
                    content = f"Error: {fault}."
                else:
                    content, wrong, episode.done = observed.text, False, observed.done
                    rewards += [] if observed.reward is None else [observed.reward]
            results.append({"call_id": one["id"], "content": content, "error": wrong})
        answer: Json = {"done": episode.done, "results": results}
        return {**answer, "reward": sum(rewards)} if rewards else answer


def _action(call: Json) -> Json:
    action = json.loads(call["function"]["arguments"])
    if not isinstance(action, dict):
        raise WrongAction("the arguments are not a JSON object")
    return action


def _close(session: Session) -> None:
    """Closes what is given up; it may be broken."""
    try:
        session.close()
    except Exception as error:  # noqa: BLE001 - whatever the environment raises
        print(f"close failed: {type(error).__name__}", flush=True)


def tool(description: str, parameters: Json) -> Json:
    function = {"name": "act", "description": description, "parameters": parameters}
    return {"type": "function", "function": function}
