"""The attempts of one question to a judge: the second request, and the tokens of all answers.

A judge that answers in more than JSON, or without a readable score, is asked once more. Words may
quote the judged answer, and a fault would be a way for an answer to lose its bad scores. Must not
know servers or the content of answers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from app.gateways.inference.judges import JudgeQuestion, JudgeReply
from app.grading.scorer import ScoreFault, TokenUsage

ATTEMPTS: Final = 2
"""Largest number of requests of one question."""


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


def repeated_question(question: JudgeQuestion, fault: str, attempt: int) -> JudgeQuestion:
    """Returns the question with the fault of an earlier answer in its first message. The answer is
    not repeated: a judge would take the quotations in it for its own words.
    """
    first, *others = question.messages
    again = f"An earlier answer could not be used: {fault}. Answer with the JSON object alone."
    return replace(
        question,
        messages=[{**first, "content": f"{first['content']}\n\n{again}"}, *others],
        call_id=f"{question.call_id}_again{attempt}",
    )
