"""A customer's environment over real sockets for tests: it remembers every call and reward.

An episode is a number to guess, by the tool `guess` or in text; its reward is 1 for the right
number, and each wrong guess costs a tenth.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from app.kit.fields import Json
from tests.support.endpoints import ReceivedRequest, Reply
from tests.support.rollout.rollouts import schema

GUESS = schema("guess", n="integer")
RULES = [{"role": "user", "content": "Guess a number from 0 to 99."}]
Override = Callable[[Json, ReceivedRequest], Reply | None]


def _as_it_is(call: Json, received: ReceivedRequest) -> None:
    """Leaves the answer to the world."""


@dataclass
class GuessingWorld:
    """Answers `reset`, `step` and `close`; `instead` may answer otherwise."""

    instead: Override = _as_it_is
    tools: bool = True
    wrong: float = -0.1
    late: str = ""
    """The kind of the calls whose answer comes too late; what they ask for is done."""
    calls: list[Json] = field(default_factory=list)
    """Every body that was received, repeated ones too."""
    keys: list[str] = field(default_factory=list)
    """`Idempotency-Key` of each."""
    episodes: dict[str, int] = field(default_factory=dict)
    """The number to guess, by the id of an episode that is not closed."""
    earned: dict[str, list[float]] = field(default_factory=dict)
    """Rewards of the steps by the id of the rollout."""
    closed: list[Json] = field(default_factory=list)
    _answers: dict[str, Reply] = field(default_factory=dict)
    _last: dict[str, str] = field(default_factory=dict)
    _begun: int = 0

    def __call__(self, received: ReceivedRequest) -> Reply:
        call, key = received.json, received.headers["idempotency-key"]
        self.calls.append(call)
        self.keys.append(key)
        replaced = self.instead(call, received)
        if replaced is not None:
            return replaced
        if key not in self._answers:
            self._answers[key] = self._answer(call)
        answer = self._answers[key]
        return replace(answer, delay_s=60) if call["type"] == self.late else answer

    def of(self, kind: str) -> list[Json]:
        return [call for call in self.calls if call["type"] == kind]

    def forget(self) -> None:
        """Loses every episode and answer, as a server that was started again."""
        self.episodes.clear()
        self._answers.clear()

    def _answer(self, call: Json) -> Reply:
        match call["type"]:
            case "reset":
                self._begun += 1
                self._last[call["rollout_id"]] = f"e{self._begun}"
                self.episodes[f"e{self._begun}"] = call["task"].get("secret", call["seed"] % 100)
                tools = [GUESS] if self.tools else []
                return Reply(
                    json={"episode_id": f"e{self._begun}", "messages": RULES, "tools": tools}
                )
            case "step" if call["episode_id"] in self.episodes:
                return self._step(call)
            case "close":
                self.closed.append(call)
                self.episodes.pop(call["episode_id"] or self._last_of(call), None)
                return Reply(json={})
            case _:
                return Reply(404, {"error": "no such episode"})

    def _last_of(self, call: Json) -> str:
        """Returns the id of the episode that a rollout began last."""
        return self._last.get(call["rollout_id"], "")

    def _step(self, call: Json) -> Reply:
        message, secret = call["message"], self.episodes[call["episode_id"]]
        earned = self.earned.setdefault(call["rollout_id"], [])
        results, guesses = [], []
        for one in message.get("tool_calls", ()):
            guesses.append(json.loads(one["function"]["arguments"])["n"])
            text = _said(guesses[-1], secret)
            results.append({"call_id": one["id"], "content": text})
        written = re.findall(r"[0-9]+", message["content"])
        if not results and written:
            guesses.append(int(written[-1]))
        done = secret in guesses
        reward = 1.0 if done else self.wrong * len(guesses)
        earned.append(reward)
        answer: Json = {"done": done, "reward": reward, "components": {"guesses": len(guesses)}}
        if results:
            answer["results"] = results
        elif not done:
            answer["message"] = _said(guesses[-1], secret) if guesses else "Write a number."
        return Reply(json=answer)


def _said(guess: int, secret: int) -> str:
    if guess == secret:
        return "Right."
    return "higher" if guess < secret else "lower"
