"""The routes that registered objects of every noun have: list, retrieve, versions, delete."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path

from app.http.dependencies import After, Limit, Services
from app.http.error_replies import responses
from app.kit.schemas import Deleted, Page, object_page, page_with_cursors
from app.tools.registry import RegisteredVersion
from app.tools.schemas import AfterVersion, RegisteredObject, Version
from app.wiring import Factory

Shown = TypeVar("Shown", bound=RegisteredObject)


def add_registry_routes(
    router: APIRouter,
    shown: type[Shown],
    of: Callable[[RegisteredVersion], Shown],
    service: Callable[[Factory], Any],
    update: Callable[..., Awaitable[Shown]],
    *,
    nouns: tuple[str, str, str],
    deleting: str = " with all its versions. Jobs keep the definition that they were made with.",
) -> None:
    """Adds `update` and the others. `nouns`: the noun alone, with article, and in the plural."""
    noun, one, many = nouns
    title, path, known = noun.title(), f"/{{{noun}_id}}", responses(404)
    ObjectId = Annotated[str, Path(alias=f"{noun}_id")]

    @router.get("", name=f"list_{many}", operation_id=f"list{many.title()}", responses=responses())
    async def listed(services: Services, after: After = None, limit: Limit = 20) -> Page[shown]:  # type: ignore[valid-type]  # of the noun
        """Lists objects, newest first, each in its newest version."""
        found, has_more = await service(services).page(after=after, limit=limit)
        return object_page(list(map(of, found)), has_more=has_more)

    @router.get(
        path,
        name=f"get_{noun}",
        operation_id=f"retrieve{title}",
        responses=known,
        description=f"Returns {one}, in its newest version unless `version` is sent.",
    )
    async def get(object_id: ObjectId, services: Services, version: Version = None) -> shown:  # type: ignore[valid-type]  # of the noun
        return of(await service(services).get(object_id, version=version))

    @router.get(
        f"{path}/versions",
        name=f"list_{noun}_versions",
        operation_id=f"list{title}Versions",
        responses=known,
    )
    async def versions(
        object_id: ObjectId, services: Services, after: AfterVersion = None, limit: Limit = 20
    ) -> Page[shown]:  # type: ignore[valid-type]  # of the noun
        """Lists versions, newest first."""
        found, has_more = await service(services).versions(object_id, before=after, limit=limit)
        # Versions of one object have one id, so their numbers are the cursors.
        numbers = [str(version.version) for version in found]
        return page_with_cursors(list(map(of, found)), numbers, has_more=has_more)

    router.post(path, operation_id=f"update{title}", responses=known)(update)

    @router.delete(
        path,
        name=f"delete_{noun}",
        operation_id=f"delete{title}",
        responses=known,
        description=f"Deletes {one}{deleting}",
    )
    async def delete(object_id: ObjectId, services: Services) -> Deleted:
        await service(services).delete(object_id)
        return Deleted(id=object_id, object=noun, deleted=True)
