"""A tuned model: the name that a tenant calls, and its adapter."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TunedModel:
    name: str
    project_id: str
    job_id: str
    base_model: str
    engine_name: str
    """The engine's name for the adapter: unguessable, never reused, never shown to a client."""
    object_key: str
    step: int
    created_at: int
    reasoning_effort: str | None = None
    """The effort it was trained with; `None` for the base model's own default."""
