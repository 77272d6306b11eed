"""Organizations with a project and keys, as `agent-rft up` provisions them. What a process has made
once it copies into the next empty database, since nothing but the time of its rows depends on it.
"""

from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from app.accounts.service import ProvisionedKeys
from app.database import Database as Store
from app.settings import Settings
from app.wiring import provisioning_service
from tests.support.stack import Database

_TABLES = ("organizations", "projects", "api_keys", "audit_logs")
_ROWS = f"SELECT {', '.join(f'(SELECT jsonb_agg({each}) FROM {each})' for each in _TABLES)}"
_COUNT = f"SELECT {' + '.join(f'(SELECT count(*) FROM {each})' for each in _TABLES)}"
_COPIES = ", ".join(
    f"""copied_{each} AS (
        INSERT INTO {each} OVERRIDING SYSTEM VALUE
        SELECT * FROM jsonb_populate_recordset(NULL::{each}, %s)
    )"""
    for each in _TABLES
)
_COPY = f"WITH {_COPIES} SELECT setval('audit_logs_seq_seq', %s)"


@dataclass(frozen=True, slots=True)
class _Made:
    keys: list[ProvisionedKeys]
    rows: list[Any] = field(repr=False)

    @property
    def last_event(self) -> int:
        return max(int(each["seq"]) for each in self.rows[-1])


_MADE: dict[tuple[bytes, tuple[str, ...]], _Made] = {}


async def provisioned(database: Database, settings: Settings, *slugs: str) -> list[ProvisionedKeys]:
    """Returns the keys of an organization of each slug."""
    if database.connection.execute(_COUNT).fetchone() != (0,):
        return await _provision(settings, slugs)
    which = (settings.key_hmac, slugs)
    made = _MADE.get(which)
    if made is None:
        keys = await _provision(settings, slugs)
        rows = database.connection.execute(_ROWS).fetchone()
        assert rows is not None
        _MADE[which] = _Made(keys, list(rows))
        return keys
    with database.connection.transaction():
        database.connection.execute("SET LOCAL session_replication_role = replica")  # in any order
        values = [*map(Jsonb, made.rows), made.last_event]
        database.connection.execute(_COPY, values, prepare=True)
    return made.keys


async def _provision(settings: Settings, slugs: tuple[str, ...]) -> list[ProvisionedKeys]:
    store = Store(settings.database_url, pool_size=1)
    service = provisioning_service(settings, store)
    keys = [
        await service.provision(slug=slug, title=slug.title(), project_name="p") for slug in slugs
    ]
    await store.dispose()
    return keys
