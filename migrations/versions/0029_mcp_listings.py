"""Gives the listings of MCP servers a column of their own; a job's method keeps summaries.

Revision ID: 0029
Revises: 0028
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_SERVERS = "jsonb_array_elements(method #> '{reinforcement,mcp_servers}') WITH ORDINALITY"
_SUMMARY = """
    jsonb_build_object(
        'protocol_version', server #> '{listing,protocol_version}',
        'tool_count', jsonb_array_length(server #> '{listing,tools}'),
        'tool_names', coalesce(
            jsonb_path_query_array(server, '$.listing.tools[0 to 9].name'), '[]'::jsonb))
"""
_OUT = f"""
    UPDATE fine_tuning_jobs SET
        mcp_listings = (
            SELECT jsonb_object_agg((number - 1)::text, server -> 'listing')
            FROM {_SERVERS} AS each (server, number) WHERE server ? 'listing'),
        method = jsonb_set(method, '{{reinforcement,mcp_servers}}', (
            SELECT jsonb_agg(
                CASE WHEN server ? 'listing'
                THEN (server - 'listing') || jsonb_build_object('listing_summary', {_SUMMARY})
                ELSE server END ORDER BY number)
            FROM {_SERVERS} AS each (server, number)))
    WHERE jsonb_path_exists(method, '$.reinforcement.mcp_servers[*].listing')
"""  # noqa: S608 - constants
_BACK = f"""
    UPDATE fine_tuning_jobs SET
        method = jsonb_set(method, '{{reinforcement,mcp_servers}}', (
            SELECT jsonb_agg(
                CASE WHEN mcp_listings ? (number - 1)::text
                THEN (server - 'listing_summary')
                    || jsonb_build_object('listing', mcp_listings -> (number - 1)::text)
                ELSE server END ORDER BY number)
            FROM {_SERVERS} AS each (server, number)))
    WHERE mcp_listings IS NOT NULL
"""  # noqa: S608 - constants


def upgrade() -> None:
    op.add_column("fine_tuning_jobs", sa.Column("mcp_listings", JSONB(), nullable=True))
    _of_all_tenants(_OUT)


def downgrade() -> None:
    _of_all_tenants(_BACK)
    op.drop_column("fine_tuning_jobs", "mcp_listings")


def _of_all_tenants(statement: str) -> None:
    op.execute("ALTER TABLE fine_tuning_jobs NO FORCE ROW LEVEL SECURITY")
    op.execute(statement)
    op.execute("ALTER TABLE fine_tuning_jobs FORCE ROW LEVEL SECURITY")
