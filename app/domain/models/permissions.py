"""A checkpoint permission: one other project of the organization that may call a tuned model."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckpointPermission:
    id: str
    model_name: str
    project_id: str
    """The project that may call the model; the row's tenant is the owner."""
    created_at: int
