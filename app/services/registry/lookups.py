"""Finds the registered object of a reference in a call.

Owns the parameter in errors about a missing object or version.
"""

from collections.abc import Callable
from typing import Any, assert_never

from app.domain.errors import InvalidRequest, NotFound
from app.domain.registry.references import RegisteredReference
from app.domain.registry.registered_objects import Noun, Registered
from app.services.registry.registered_objects import RegistryService


async def find_registered(
    reference: RegisteredReference, service: RegistryService, param: str
) -> Registered:
    match service.noun:
        case Noun.CURRICULUM:
            id_param = "curriculum"
        case Noun.TOOL | Noun.GRADER | Noun.ENVIRONMENT:
            id_param = f"{param}.id"
        case _:
            assert_never(service.noun)
    newest = await _found(service.get, reference.id, None, param=id_param)
    if reference.version is None or reference.version == newest.version:
        return newest
    return await _found(service.get, reference.id, reference.version, param=f"{param}.version")


async def _found(
    get: Callable[..., Any], object_id: str, version: int | None, *, param: str
) -> Registered:
    try:
        registered: Registered = await get(object_id, version=version)
    except NotFound as error:
        raise InvalidRequest(error.message, param=param, code=error.code) from error
    return registered
