"""`agent-rft keys`: creates the development organization, project and keys."""

import asyncio
import json
from dataclasses import asdict

from app.factory import provisioning_service
from app.settings import Settings, load_settings
from app.store.database import Database

DEVELOPMENT_SLUG = "development"


def bootstrap() -> None:
    """Prints one JSON object with `api_key` and `admin_key`; neither can be displayed again."""
    print(json.dumps(asyncio.run(_bootstrap(load_settings()))))


async def _bootstrap(settings: Settings) -> dict[str, str]:
    database = Database(settings.database_url, pool_size=1)
    try:
        provisioned = await provisioning_service(settings, database).provision(
            slug=DEVELOPMENT_SLUG, title="Development", project_name="default"
        )
        return asdict(provisioned)
    finally:
        await database.dispose()
