"""Seal or redact secrets that earlier versions stored in clear.

Runs the walk for free-form JSON over the methods of jobs, registered versions and evals. With
AGENT_RFT_SECRET_KEY set, a found secret moves into the row's sealed envelope, and a run that needs
it goes on. Without the key, or where an envelope cannot be opened, the value is redacted in place
and is lost: a job, tool or grader whose URL held a secret in its query has to be made again. The
copy of a job's grader in its eval is only redacted, since the job seals the secret. Row-level
security does not bind the owning role within this transaction. No downgrade brings the clear text
back.

Revision ID: 0013
Revises: 0012
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from app.domain.secrets.free_form import secrets_in
from app.domain.secrets.owner_labels import (
    by_pointer,
    criteria_by_pointer,
    owners_of_grader,
    owners_of_method,
    owners_of_tool,
)
from app.domain.secrets.pointers import pointer, put
from app.domain.secrets.urls import REDACTED
from app.gateways.secrets import SecretBox, SecretsUnreadable
from app.settings import HostSettings

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_TABLES = ("fine_tuning_jobs", "registered_versions", "evals")
_JOBS = sa.table(
    "fine_tuning_jobs",
    sa.column("id"),
    sa.column("project_id"),
    sa.column("method", JSONB),
    sa.column("secrets", sa.LargeBinary),
)
_VERSIONS = sa.table(
    "registered_versions",
    sa.column("object_id"),
    sa.column("version"),
    sa.column("project_id"),
    sa.column("definition", JSONB),
    sa.column("secrets", sa.LargeBinary),
)
_EVALS = sa.table(
    "evals",
    sa.column("id"),
    sa.column("project_id"),
    sa.column("job_id"),
    sa.column("testing_criteria", JSONB),
    sa.column("secrets", sa.LargeBinary),
)


def upgrade() -> None:
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    box = _box()
    _jobs(op.get_bind(), box)
    _registered(op.get_bind(), box)
    _evals(op.get_bind(), box)
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    """Rows stay as they are: earlier versions read them, without the values that are sealed now."""


def _box() -> SecretBox | None:
    key = HostSettings().secret_key
    return None if key is None else SecretBox(key.get_secret_value())


def _jobs(connection: sa.Connection, box: SecretBox | None) -> None:
    for row in connection.execute(sa.select(_JOBS)).all():
        envelope = _Envelope(box, row.secrets, row.project_id, row.id)
        found = _redact(row.method)
        if found is None:
            continue
        known = envelope.opened()
        sealed = row.secrets
        if known is not None:
            known = by_pointer(known, owners_of_method(row.method))
            sealed = envelope.seal({**known, **found[1]})
        connection.execute(
            sa.update(_JOBS)
            .where(_JOBS.c.project_id == row.project_id, _JOBS.c.id == row.id)
            .values(method=found[0], secrets=sealed)
        )


def _registered(connection: sa.Connection, box: SecretBox | None) -> None:
    for row in connection.execute(sa.select(_VERSIONS)).all():
        envelope = _Envelope(
            box, row.secrets, row.project_id, f"{row.object_id}/versions/{row.version}"
        )
        found = _redact(row.definition)
        if found is None:
            continue
        owners = owners_of_tool if row.object_id.startswith("tool_") else owners_of_grader
        known = envelope.opened()
        sealed = row.secrets
        if known is not None:
            known = by_pointer(known, owners(row.definition))
            sealed = envelope.seal({**known, **found[1]})
        connection.execute(
            sa.update(_VERSIONS)
            .where(
                _VERSIONS.c.project_id == row.project_id,
                _VERSIONS.c.object_id == row.object_id,
                _VERSIONS.c.version == row.version,
            )
            .values(definition=found[0], secrets=sealed)
        )


def _evals(connection: sa.Connection, box: SecretBox | None) -> None:
    for row in connection.execute(sa.select(_EVALS)).all():
        envelope = _Envelope(box, row.secrets, row.project_id, row.id)
        found = _redact(row.testing_criteria)
        if found is None:
            continue
        known = envelope.opened()
        sealed = row.secrets
        if known is not None and row.job_id is None:
            known = criteria_by_pointer(known, row.testing_criteria)
            sealed = envelope.seal({**known, **found[1]})
        connection.execute(
            sa.update(_EVALS)
            .where(_EVALS.c.project_id == row.project_id, _EVALS.c.id == row.id)
            .values(testing_criteria=found[0], secrets=sealed)
        )


@dataclass(frozen=True, slots=True)
class _Envelope:
    """The sealed part of one row."""

    box: SecretBox | None
    sealed: bytes | None
    project_id: str
    row_id: str

    def opened(self) -> dict[str, Any] | None:
        """The secrets that are sealed already; `None` where no key opens them."""
        if self.box is None:
            return None
        if self.sealed is None:
            return {}
        try:
            return self.box.open(self.sealed, project_id=self.project_id, job_id=self.row_id)
        except SecretsUnreadable:
            return None

    def seal(self, secrets: dict[str, Any]) -> bytes | None:
        if self.box is None:
            return None
        return self.box.seal(secrets, project_id=self.project_id, job_id=self.row_id)


def _redact(document: Any) -> tuple[Any, dict[str, Any]] | None:
    """A redacted copy and the secrets by JSON pointer; `None` when there is nothing to do."""
    found = [one for one in secrets_in(document, ()) if one[1] not in (one[2], REDACTED)]
    if not found:
        return None
    copy = deepcopy(document)
    for path, _, shown in found:
        put(copy, pointer(path), shown)
    return copy, {pointer(path): value for path, value, _ in found}
