"""Calls of the official client's methods for projects and keys, and those that are not served."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from openai import OpenAI

from app.database import Database as Store
from app.settings import Settings
from app.wiring import provisioning_service
from tests.support.contract.calls import Args, args
from tests.support.contract.service import Service

ROOTS = tuple(
    f"admin.organization.{name}" for name in ("projects", "admin_api_keys", "audit_logs", "usage")
)
NOT_SERVED = {
    f"admin.organization.projects.{name}": reason
    for name, reason in (
        ("certificates", "the operator's proxy ends TLS"),
        ("data_retention", "files expire as their owner says"),
        ("groups", "keys belong to projects and service accounts, not to persons"),
        ("hosted_tool_permissions", "there are no hosted tools"),
        ("model_permissions", "a checkpoint is shared by its own permissions"),
        ("rate_limits", "one limit for all projects, set by the operator"),
        ("roles", "keys belong to projects and service accounts, not to persons"),
        ("service_tier_settings", "there is one tier"),
        ("spend_alerts", "caps are set by job"),
        ("spend_limit", "caps are set by job"),
        ("users", "keys belong to projects and service accounts, not to persons"),
    )
} | {
    f"admin.organization.usage.{name}": "the service does nothing of the kind"
    for name in (
        *("audio_speeches", "audio_transcriptions", "code_interpreter_sessions", "decisions"),
        *("embeddings", "file_search_calls", "images", "moderations", "vector_stores"),
        "web_search_calls",
    )
}
_NUMBERS = count()
COUNT = 250


@dataclass(frozen=True, slots=True)
class Keys:
    """The admin keys of two organizations."""

    first: str
    second: str


async def admin_keys_of(settings: Settings) -> Keys:
    store = Store(settings.database_url, pool_size=1)
    try:
        provisioning = provisioning_service(settings, store)
        made = [
            await provisioning.provision(slug=slug, title=slug.title(), project_name="p")
            for slug in ("first", "second")
        ]
    finally:
        await store.dispose()
    return Keys(made[0].admin_key, made[1].admin_key)


def client_of(service: Service, admin_key: str) -> OpenAI:
    """Returns the client that an administrator has: without any project's key."""
    return service.client(admin_api_key=admin_key, key="")


def name() -> str:
    return f"made {next(_NUMBERS)}"


class OrganizationBuilder:
    """Makes projects and keys for the calls; each call changes or deletes its own."""

    def __init__(self, client: OpenAI) -> None:
        self.projects: Any = client.admin.organization.projects
        self.keys: Any = client.admin.organization.admin_api_keys

    def project(self) -> str:
        return str(self.projects.create(name=name()).id)

    def account(self) -> Args:
        project = self.project()
        made = self.projects.service_accounts.create(project, name=name())
        return args(made.id, project_id=project)

    def key(self) -> Args:
        project = self.account().named["project_id"]
        (key,) = self.projects.api_keys.list(project).data
        return args(key.id, project_id=project)

    def admin_key(self) -> str:
        return str(self.keys.create(name=name()).id)


def ending(made: Args) -> Args:
    return Args(made.positional, made.named | {"expires_in_seconds": 60})


def renamed(made: Args) -> Args:
    return Args(made.positional, made.named | {"name": name()})


CALLS: dict[str, Callable[[OrganizationBuilder], Args]] = {
    "projects.create": lambda _: args(name=name()),
    "projects.retrieve": lambda scene: args(scene.project()),
    "projects.update": lambda scene: args(scene.project(), name=name()),
    "projects.list": lambda scene: (scene.project(), args(limit=2))[1],
    "projects.archive": lambda scene: args(scene.project()),
    "projects.service_accounts.create": lambda scene: args(scene.project(), name=name()),
    "projects.service_accounts.retrieve": OrganizationBuilder.account,
    "projects.service_accounts.update": lambda scene: renamed(scene.account()),
    "projects.service_accounts.list": lambda scene: args(scene.account().named["project_id"]),
    "projects.service_accounts.delete": OrganizationBuilder.account,
    "projects.api_keys.retrieve": OrganizationBuilder.key,
    "projects.service_accounts.api_keys.create": lambda scene: renamed(scene.account()),
    "projects.api_keys.update": lambda scene: ending(scene.key()),
    "projects.api_keys.list": lambda scene: args(scene.key().named["project_id"]),
    "projects.api_keys.delete": OrganizationBuilder.key,
    "admin_api_keys.create": lambda _: args(name=name()),
    "admin_api_keys.retrieve": lambda scene: args(scene.admin_key()),
    "admin_api_keys.list": lambda _: args(limit=2),
    "admin_api_keys.delete": lambda scene: args(scene.admin_key()),
    "audit_logs.list": lambda scene: args(
        effective_at={"gte": 1},
        event_types=["project.created", "project.archived"],
        project_ids=[scene.project()],
        limit=2,
    ),
    "usage.completions": lambda scene: args(
        start_time=int(time.time()) - 86_400,
        bucket_width="1h",
        group_by=["project_id", "model"],
        project_ids=[scene.project()],
    ),
    "usage.costs": lambda _: args(start_time=int(time.time()), group_by=["line_item"]),
}


def copies(service: Service, table: str, source: str, **own: str) -> list[str]:
    """249 rows like one, three to a second; `own` gives more columns as SQL."""
    own = {"id": "left(one.id, 12) || lpad(n::text, 8, '0')"} | own
    pairs = ", ".join(f"'{column}', {value}" for column, value in own.items())
    columns = service.columns(table)
    service.execute(
        f"INSERT INTO {table} ({columns}) SELECT {columns} FROM (SELECT"
        f" (jsonb_populate_record(one, jsonb_build_object("
        f" 'created_at', one.created_at + (n / 3) * interval '1 second', {pairs}))).*"
        f" FROM {table} one, generate_series(3, %s + 1) n WHERE one.id = %s) copies",
        COUNT,
        source,
    )
    return [f"{source[:12]}{number:08}" for number in range(3, COUNT + 2)]


def every(page: Any) -> list[str]:
    return [row.id for row in page]
