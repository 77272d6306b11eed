"""The attempts of one question to a judge: the second request, and the tokens of all answers.

A judge whose answer has no readable score is asked once more, with the fault. Without this, words
beside a judge's JSON would be a way for an answer to lose its bad scores. Must not know servers or
the content of answers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from app.gateways.inference.judges import JudgeQuestion, JudgeReply
from app.grading.scorer import ScoreFault, TokenUsage

ATTEMPTS: Final = 2
"""Largest number of requests of one question."""
_REPEATED: Final = 8_000
"""Number of final characters of an answer that the second request repeats."""
_NO_TEXT: Final = "(no text)"
"""Stands for an empty answer: many servers refuse an empty message."""


@dataclass(slots=True)
class QuestionCost:
    """The tokens and the time of the answers to a question."""

    usage: TokenUsage = field(default_factory=TokenUsage)
    elapsed_s: float = 0.0

    def add(self, reply: JudgeReply) -> None:
        self.usage += usage_of(reply)
        self.elapsed_s += reply.latency_s

    @contextmanager
    def charging(self, model: str) -> Iterator[None]:
        """Adds the tokens of these answers to a fault."""
        try:
            yield
        except ScoreFault as fault:
            total = fault.token_usage.get(model, TokenUsage()) + self.usage
            if total != TokenUsage():
                fault.spent = {"": {model: total}}
                fault.sampled_model_name = model
            raise


def usage_of(reply: JudgeReply) -> TokenUsage:
    return TokenUsage(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens, calls=1)


def repeated_question(
    question: JudgeQuestion, answer: str, fault: str, attempt: int
) -> JudgeQuestion:
    """Returns the question with the answer that has no readable score, and its fault."""
    more = [
        {"role": "assistant", "content": answer[-_REPEATED:].strip() or _NO_TEXT},
        {
            "role": "user",
            "content": f"This answer cannot be used: {fault}. Answer again with the JSON alone, "
            "whole, without words before or after it.",
        },
    ]
    return replace(
        question,
        messages=[*question.messages, *more],
        call_id=f"{question.call_id}_again{attempt}",
    )
