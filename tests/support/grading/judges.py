"""Judges for tests, which end their answers with the object that a question asks for."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.graders.judge import JudgeQuestion, JudgeReply
from tests.support.endpoints import ReceivedRequest, Reply

CODED = "KEY"
"""Stands for the coded key in an answer."""
_PATTERN = re.compile(r'\{"(result_[0-9a-f]{10})": ')


def coded_key(messages: Sequence[Mapping[str, Any]]) -> str:
    """Returns the key that a judge is asked for, `KEY` for another question."""
    found: list[str] = _PATTERN.findall(str(messages[0]["content"]))
    return found[-1] if found else CODED


def verdict(messages: Sequence[Mapping[str, Any]], value: Any, reasons: str = "") -> str:
    """Returns reasons and the object with a verdict."""
    said = json.dumps({coded_key(messages): value})
    return f"{reasons}\n{said}" if reasons else said


@dataclass(slots=True)
class InMemoryJudges:
    """A script returns replies, whose `KEY` becomes the coded key, or raises; every question is
    recorded.
    """

    script: Callable[[JudgeQuestion], JudgeReply]
    models: frozenset[str] = frozenset()
    asked: list[JudgeQuestion] = field(default_factory=list)

    async def knows(self, model: str) -> bool:
        return model in self.models

    async def ask(self, question: JudgeQuestion) -> JudgeReply:
        self.asked.append(question)
        reply = self.script(question)
        return replace(reply, text=reply.text.replace(CODED, coded_key(question.messages)))

    def code(self, call_id: str) -> str:
        return hashlib.sha256(call_id.encode()).hexdigest()[:10]


def judge_that_says(*answers: str | JudgeReply | Exception) -> InMemoryJudges:
    """Returns a judge with these answers, of which the last one is repeated."""
    left = list(answers)

    def script(_: JudgeQuestion) -> JudgeReply:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return JudgeReply(answer) if isinstance(answer, str) else answer

    return InMemoryJudges(script)


def judged_reply(received: ReceivedRequest, text: str, status: int = 200, **more: Any) -> Reply:
    """Returns a chat completion of a text, whose `KEY` becomes the coded key."""
    said = text.replace(CODED, coded_key(received.json["messages"]))
    message = {"role": "assistant", "content": said}
    return Reply(status, json={"choices": [{"index": 0, "message": message}], **more})
