"""Reads what a pooled connection has left open."""

from sqlalchemy import text

from app.database import Database

LEFT = "SELECT current_setting('app.project', true), current_setting('app.key_id', true)"


async def pooled_settings(database: Database) -> list[str | None]:
    """Returns the settings that a transaction of no context finds on a pooled connection."""
    async with database.sessions() as session:
        return list((await session.execute(text(LEFT))).one())
