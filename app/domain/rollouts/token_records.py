"""The sampled tokens of a rollout as they are stored: their texts, log-probs and ratios. Pure.

A record is read on demand only: lists, exports and traces leave it out.
"""

from dataclasses import dataclass, fields
from typing import Final, Self

from app.domain.documents.json_object import Json

STORED_TOKENS: Final = 4096
"""Largest number of tokens of a rollout that are stored, its first ones."""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """The stored tokens of one turn; the lists are parallel."""

    texts: list[str]
    """They join to the decoded turn; the first token of a character that spans several has all of
    it.
    """
    log_probs: list[float | None]
    """Natural log of the sampler's probability at the sampling temperature; `None` if it was not
    finite.
    """
    ratios: list[float | None]
    """Trainer's probability at the token's training step by the sampler's; `None` for a token that
    was not trained.
    """


_LISTS: Final = tuple(field.name for field in fields(RecordedTurn))


@dataclass(frozen=True, slots=True)
class TokenRecord:
    turns: list[RecordedTurn]
    omitted: int
    """Number of sampled tokens beyond those that are stored."""

    def to_json(self) -> Json:
        turns = [{name: getattr(turn, name) for name in _LISTS} for turn in self.turns]
        return {"turns": turns, "omitted": self.omitted}

    @classmethod
    def of_json(cls, stored: Json) -> Self:
        return cls([RecordedTurn(**turn) for turn in stored["turns"]], stored["omitted"])
