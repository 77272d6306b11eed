"""Gives keys scopes, and shows them in the audit log. A key without any may do what it could.

Revision ID: 0002
Revises: 0001
"""

from collections.abc import Iterable

from alembic import op

from migrations.audited import AuditedChange, audit
from migrations.initial.audited_changes import AUDITED

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_OWN = "{row}.organization_id"
_AUDITED = (
    AuditedChange(
        *("api_keys", "created", "INSERT", "'api_key'"),
        details="jsonb_build_object('name', {row}.name, 'kind', {row}.kind, 'service_account_id',"
        " {row}.service_account_id, 'scopes', {row}.scopes)",
        organization=_OWN,
    ),
    AuditedChange(
        *("api_keys", "updated", "UPDATE OF name, expires_at, scopes", "'api_key'"),
        when="(OLD.name, OLD.expires_at, OLD.scopes)"
        " IS DISTINCT FROM (NEW.name, NEW.expires_at, NEW.scopes)",
        details="jsonb_build_object('name', {row}.name,"
        " 'expires_at', extract(epoch FROM {row}.expires_at)::bigint, 'scopes', {row}.scopes)",
        organization=_OWN,
    ),
)
_BEFORE = [change for change in AUDITED if change.name in {each.name for each in _AUDITED}]


def upgrade() -> None:
    op.execute(
        "ALTER TABLE api_keys ADD COLUMN scopes text[]"
        " CONSTRAINT ck_api_keys_scopes CHECK (cardinality(scopes) > 0)"
    )
    _audit(_AUDITED)


def downgrade() -> None:
    _audit(_BEFORE)
    op.execute("ALTER TABLE api_keys DROP COLUMN scopes")


def _audit(changes: Iterable[AuditedChange]) -> None:
    for change in changes:
        op.execute(f"DROP FUNCTION {change.name}() CASCADE")  # with its trigger
        audit(change)
