"""The protocol of a judge that compares the rollouts of one group with each other.

Owns the request and its bytes. Must not know trajectories, jobs or journals: a judge sees
conversations in Chat Completions form.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from app.grading.scorer import GradeRequest, ScoreFault, ScoreResult


@dataclass(frozen=True, slots=True)
class GroupGradeRequest:
    """The rollouts of one prompt, to be scored relative to each other."""

    conversations: tuple[list[dict[str, Any]], ...]
    """The messages of each rollout, the prompt included; the prompt is the same for all."""
    tools: list[dict[str, Any]]
    """Schemas of the tools that the row offers."""
    item: dict[str, Any]
    """The dataset row, in the form that per-sample graders receive."""
    trace_id: str
    call_id: str
    """Stable over retries and replays, so that the receiver can drop duplicates."""
    rollouts: tuple[GradeRequest, ...] = ()
    """The rollouts in the form of per-sample graders, in the same order."""

    def encode(self) -> bytes:
        """Returns the content as ASCII JSON; equal bytes mean equal requests."""
        content = {
            "conversations": self.conversations,
            "tools": self.tools,
            "item": self.item,
            "samples": [rollout.sample for rollout in self.rollouts],
        }
        return json.dumps(content, separators=(",", ":")).encode()


class GroupJudge(Protocol):
    async def judge(self, request: GroupGradeRequest) -> Sequence[ScoreResult | ScoreFault]:
        """Returns one finite score for each conversation, in their order, or the fault of a
        conversation without a score. Raises `ScoreFault` for the whole group.
        """
        ...
