"""Seals the whole URLs of webhook endpoints, and leaves their shown form in the row.

With AGENT_RFT_SECRET_KEY set, the whole URL moves into the endpoint's envelope and deliveries
continue. Without the key, or where an envelope cannot be opened, the query values, fragment and
user information of the URL are redacted in place and are lost: deliveries fail with `url_lost`
until the endpoint is updated with its whole URL. URLs without such parts stay as they are.
Row-level security does not bind the owning role within this transaction. No downgrade brings the
clear text back.

Revision ID: 0015
Revises: 0014
"""

import sqlalchemy as sa
from alembic import op

from app.kit.sealing import SecretBox, SecretsUnreadable
from app.kit.secret_echoes import shown_url
from app.settings import HostSettings

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_ENDPOINTS = sa.table(
    "webhook_endpoints",
    sa.column("id"),
    sa.column("project_id"),
    sa.column("url"),
    sa.column("secrets", sa.LargeBinary),
)


def upgrade() -> None:
    op.execute("ALTER TABLE webhook_endpoints NO FORCE ROW LEVEL SECURITY")
    connection = op.get_bind()
    key = HostSettings().secret_key
    box = None if key is None else SecretBox(key.get_secret_value())
    for row in connection.execute(sa.select(_ENDPOINTS)).all():
        shown = shown_url(row.url)
        if shown == row.url:
            continue
        sealed = None if box is None else _with_url(box, row)
        values = {"url": shown} if sealed is None else {"url": shown, "secrets": sealed}
        connection.execute(
            sa.update(_ENDPOINTS)
            .where(_ENDPOINTS.c.project_id == row.project_id, _ENDPOINTS.c.id == row.id)
            .values(values)
        )
    op.execute("ALTER TABLE webhook_endpoints FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    """Changes no rows: earlier versions would call the shown form of a URL with a secret."""


def _with_url(box: SecretBox, row: sa.Row[tuple[str, str, str, bytes]]) -> bytes | None:
    """Returns the envelope with the whole URL added; `None` if no key opens it."""
    try:
        opened = box.open(row.secrets, project_id=row.project_id, row_id=row.id)
    except SecretsUnreadable:
        return None
    return box.seal({**opened, "url": row.url}, project_id=row.project_id, row_id=row.id)
