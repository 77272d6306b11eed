"""Redacts credentials in the data sources of eval runs, and drops unknown keys of integrations.

Earlier versions stored both as they were sent. Nothing reads a credential in either, so nothing is
sealed and no secret key is needed. The rows of `file_content` are the customer's data, and the
texts of messages are prompts: both stay as they are. Row-level security does not bind the owning
role within this transaction. No downgrade brings the clear text back.

Revision ID: 0020
Revises: 0019
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from app.kit.fields import Path, pointer, replace_at
from app.kit.secret_finding import Found, secrets_in
from app.kit.secrets import secret_name_class

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_TABLES: Final = ("eval_runs", "fine_tuning_jobs")
_RUNS: Final = sa.table(
    "eval_runs", sa.column("id"), sa.column("project_id"), sa.column("data_source", JSONB)
)
_JOBS: Final = sa.table(
    "fine_tuning_jobs", sa.column("id"), sa.column("project_id"), sa.column("integrations", JSONB)
)
_PLAIN: Final = frozenset({"type", "model", "item_reference", "role", "text"})
_INTEGRATION: Final = frozenset({"type", "wandb"})
_WANDB: Final = frozenset({"project", "name", "entity", "tags"})


def upgrade() -> None:
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    _runs(op.get_bind())
    _jobs(op.get_bind())
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    """Changes no rows: earlier versions can read them."""


def _runs(connection: sa.Connection) -> None:
    keys = connection.execute(sa.select(_RUNS.c.project_id, _RUNS.c.id)).all()
    for project_id, run_id in keys:
        this = sa.and_(_RUNS.c.project_id == project_id, _RUNS.c.id == run_id)
        sent = connection.execute(sa.select(_RUNS.c.data_source).where(this)).scalar_one()
        found = list(_in_source(sent))
        if not found:
            continue
        shown = deepcopy(sent)
        for path, _, text in found:
            replace_at(shown, pointer(path), text)
        connection.execute(sa.update(_RUNS).where(this).values(data_source=shown))


def _jobs(connection: sa.Connection) -> None:
    sent = sa.select(_JOBS).where(sa.func.jsonb_array_length(_JOBS.c.integrations) > 0)
    for row in connection.execute(sent).all():
        kept = [_known(one) for one in row.integrations]
        if kept != row.integrations:
            connection.execute(
                sa.update(_JOBS)
                .where(_JOBS.c.project_id == row.project_id, _JOBS.c.id == row.id)
                .values(integrations=kept)
            )


def _known(integration: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in integration.items() if key in _INTEGRATION}
    if isinstance(wandb := kept.get("wandb"), dict):
        kept["wandb"] = {key: value for key, value in wandb.items() if key in _WANDB}
    return kept


def _in_source(source: dict[str, Any]) -> Iterator[Found]:
    for key, value in source.items():
        if key == "source" and isinstance(value, dict):
            rows = "content" if value.get("type") == "file_content" else "id"
            for name, below in value.items():
                if name != rows:
                    yield from _below(name, below, (key, name))
        elif key == "input_messages":
            yield from _in_messages(value, (key,))
        else:
            yield from _below(key, value, (key,))


def _in_messages(value: Any, path: Path) -> Iterator[Found]:
    """The template: its roles and texts are no secrets."""
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _in_messages(one, (*path, number))
    elif isinstance(value, dict):
        for key, below in value.items():
            if key in {"template", "content"}:
                yield from _in_messages(below, (*path, key))
            else:
                yield from _below(key, below, (*path, key))


def _below(key: str, value: Any, path: Path) -> Iterator[Found]:
    if key not in _PLAIN or not isinstance(value, str):
        yield from secrets_in(value, path, credential=secret_name_class(key))
