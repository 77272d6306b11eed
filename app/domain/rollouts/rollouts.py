"""One line of the ledger: a sample that was scored, or discarded with its reason, exactly once."""

from dataclasses import dataclass
from typing import Any

from app.domain.ids import Split


@dataclass(frozen=True, slots=True)
class RolloutRow:
    id: str
    project_id: str
    job_id: str
    split: Split
    step: int
    prompt_index: int
    sample_index: int
    attempt: int
    trace_id: str
    reward: float | None
    failure_class: str | None
    failure_message: str | None
    stop_reason: str | None
    policy_version: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    tool_calls: int
    components: dict[str, float]
    trace: dict[str, Any]
    started_at: float
    """Unix seconds."""
    finished_at: float
