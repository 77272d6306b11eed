"""Makes the schema of the first release.

Revision ID: 0001
Revises:
"""

from pathlib import Path

from alembic import op

import migrations.initial
from migrations.audited import audit
from migrations.initial.access import limit_access, make_roles
from migrations.initial.audited_changes import AUDITED
from migrations.initial.curve_blocks import make_curve_blocks
from migrations.initial.queues import make_queues

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TEXTS = Path(migrations.initial.__file__).parent
_DROP_ALL = """
    DO $$ DECLARE command text; BEGIN
        FOR command IN
            SELECT format('DROP TABLE %s CASCADE', oid::regclass) FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
              AND relname <> 'alembic_version'
            UNION ALL
            SELECT format('DROP FUNCTION %s', oid::regprocedure) FROM pg_proc
            WHERE pronamespace = 'public'::regnamespace AND proowner = current_user::regrole
        LOOP EXECUTE command; END LOOP;
    END $$
"""


def upgrade() -> None:
    make_roles()
    _execute("functions.sql")
    _execute("tables.sql")
    make_queues()
    make_curve_blocks()
    limit_access()
    for change in AUDITED:
        audit(change)


def downgrade() -> None:
    """For development. Drops every table of the schema `public` with its rows."""
    op.execute(_DROP_ALL)


def _execute(name: str) -> None:
    # The driver takes a text of several statements only without parameters, and as bytes.
    op.get_bind().connection.cursor().execute((_TEXTS / name).read_bytes())
