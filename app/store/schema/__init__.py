"""Tables, one file per noun, no behaviour. Importing this room registers every one of them."""

from app.store.schema import (
    checkpoints,
    eval_items,
    eval_runs,
    evals,
    events,
    files,
    fine_tuning_jobs,
    journal,
    keys,
    metrics,
    models,
    permissions,
    projects,
    registry,
    reports,
    rollouts,
    uploads,
)
from app.store.schema.base import Base

__all__ = [
    "Base",
    "checkpoints",
    "eval_items",
    "eval_runs",
    "evals",
    "events",
    "files",
    "fine_tuning_jobs",
    "journal",
    "keys",
    "metrics",
    "models",
    "permissions",
    "projects",
    "registry",
    "reports",
    "rollouts",
    "uploads",
]
