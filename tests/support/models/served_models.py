"""Asks a served model through the public API, and compares its answer with a text by token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from openai import OpenAI

TOP = 20
"""Tokens whose log-probs the API lists beside the sampled one."""


@dataclass(frozen=True, slots=True)
class FollowedText:
    """The part of a text that the model's most probable answer shows."""

    matched: int
    """Tokens that the answer begins with."""
    tokens: int
    """Tokens of the whole text."""
    logprob: float
    """Log-prob of the matched tokens, and of the next one where the API lists it: the whole text is
    at most as probable.
    """

    @property
    def most_matching(self) -> int:
        """Number of tokens that could be the most probable one: all but the first that is not."""
        return self.tokens if self.matched == self.tokens else self.tokens - 1


def follow_text(
    client: OpenAI,
    model: str,
    messages: Sequence[dict[str, Any]],
    *,
    text: Sequence[str],
    tools: Sequence[dict[str, Any]] = (),
) -> FollowedText:
    """`text` is the text's tokens in words, its end included."""
    body: Any = {"tools": list(tools)} if tools else {}
    reply = client.chat.completions.create(
        model=model,
        messages=list(messages),  # type: ignore[arg-type]  # a plain dict is sent where the client has a typed one
        temperature=0,
        max_completion_tokens=len(text),
        logprobs=True,
        top_logprobs=TOP,
        **body,
    )
    logprobs = reply.choices[0].logprobs
    answer = [] if logprobs is None else logprobs.content or []
    matched, total = 0, 0.0
    for token, written in zip(text, answer, strict=False):
        if written.token != token:
            total += next((top.logprob for top in written.top_logprobs if top.token == token), 0.0)
            break
        matched, total = matched + 1, total + written.logprob
    return FollowedText(matched, len(text), total)
