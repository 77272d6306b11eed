"""Judges for tests, which end their answers with the object that a question asks for."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.graders.judge import JudgeQuestion, JudgeReply

KEY = "KEY"
"""Stands for the coded key in an answer."""
_CODED = re.compile(r'\{"(result_[0-9a-f]{10})": ')


def coded_key(messages: list[Mapping[str, Any]]) -> str:
    """Returns the key that a judge is asked for."""
    return _CODED.findall(messages[0]["content"])[-1]


def verdict(messages: list[Mapping[str, Any]], value: Any, reasons: str = "") -> str:
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
        return replace(reply, text=reply.text.replace(KEY, coded_key(question.messages)))

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
