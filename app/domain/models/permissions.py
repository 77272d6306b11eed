"""A checkpoint permission: one other project of the organization that may call a tuned model."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckpointPermission:
    id: str
    model_name: str
    project_id: str
    """The project that may call the model; the owner is the tenant whose row this is."""
    created_at: int
