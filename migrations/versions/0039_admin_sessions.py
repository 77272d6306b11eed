"""Binds a session of the dashboard to a project, or to an organization for its admin keys.

Revision ID: 0039
Revises: 0038
"""

import sqlalchemy as sa
from alembic import op

from migrations.audited import AuditedChange, audit, stop_audit
from migrations.guards import OF_PROJECT, setting

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None
_TABLE = "dashboard_sessions"
_OWNER = f"ck_{_TABLE}_owner"
_ORGANIZATION = f"fk_{_TABLE}_organization_id_organizations"
_OF_OWNER = f"{OF_PROJECT} OR organization_id = {setting('organization')}"
_OF_VISITOR = f"id = {setting('dashboard_session')}"


def _signed(organization: str | None) -> tuple[AuditedChange, ...]:
    """Returns the changes of the table that are audited. The organization of an entry is that of
    the row's project, unless SQL names another.
    """
    own = {} if organization is None else {"organization": organization}
    return tuple(
        AuditedChange(
            *(_TABLE, "succeeded", on, noun),
            when="{row}.kind = 'session'",
            resource="split_part(actor, ' ', 2)",  # the id of the row is the hash of a secret
            **own,
        )
        for on, noun in (("INSERT", "'login'"), ("DELETE", "'logout'"))
    )


_OF_PROJECTS = _signed(None)
_OF_BOTH = _signed(f"coalesce({{row}}.organization_id, {_OF_PROJECTS[0].organization})")


def upgrade() -> None:
    op.add_column(_TABLE, sa.Column("organization_id", sa.Text(), nullable=True))
    op.alter_column(_TABLE, "project_id", nullable=True)
    op.create_foreign_key(op.f(_ORGANIZATION), _TABLE, "organizations", ["organization_id"], ["id"])
    op.create_index(op.f(f"ix_{_TABLE}_organization_id"), _TABLE, ["organization_id"])
    op.create_check_constraint(
        op.f(_OWNER), _TABLE, "(project_id IS NULL) <> (organization_id IS NULL)"
    )
    _limit_to(f"{_OF_OWNER} OR {_OF_VISITOR}", _OF_OWNER)
    _audit(_OF_PROJECTS, _OF_BOTH)


def downgrade() -> None:
    # The owner of the table is bound by its policies as well while these are forced.
    op.execute(f"ALTER TABLE {_TABLE} NO FORCE ROW LEVEL SECURITY")
    op.execute(f"DELETE FROM {_TABLE} WHERE project_id IS NULL")  # noqa: S608 - a constant
    op.execute(f"ALTER TABLE {_TABLE} FORCE ROW LEVEL SECURITY")
    _audit(_OF_BOTH, _OF_PROJECTS)
    _limit_to(f"{OF_PROJECT} OR {_OF_VISITOR}", OF_PROJECT)
    op.drop_constraint(op.f(_OWNER), _TABLE)
    op.drop_column(_TABLE, "organization_id")
    op.alter_column(_TABLE, "project_id", nullable=False)


def _limit_to(read: str, written: str) -> None:
    op.execute(f"ALTER POLICY tenant ON {_TABLE} USING ({read}) WITH CHECK ({written})")


def _audit(before: tuple[AuditedChange, ...], now: tuple[AuditedChange, ...]) -> None:
    for old, new in zip(before, now, strict=True):
        stop_audit(old)
        audit(new)
