"""Finds the registered object of a reference in a call.

Owns the parameter in errors about a missing object or version.
"""

from collections.abc import Callable
from typing import Any, assert_never

from app.domain.errors import InvalidRequest, NotFound
from app.domain.registry.references import NamedReference, RegisteredReference
from app.domain.registry.registered_objects import Noun, RegisteredVersion
from app.services.registry.registered_objects import RegistryService


async def find_registered(
    reference: RegisteredReference, service: RegistryService, param: str
) -> RegisteredVersion:
    get = service.get_named if isinstance(reference, NamedReference) else service.get
    id_param = id_parameter(reference, service.noun, param)
    newest = await _found(get, reference.id, None, param=id_param)
    if reference.version is None or reference.version == newest.version:
        return newest
    return await _found(service.get, reference.id, reference.version, param=f"{param}.version")


def id_parameter(reference: RegisteredReference, noun: Noun, param: str) -> str:
    """Returns the parameter that has the id of a reference."""
    match noun:
        case Noun.CURRICULUM:
            return "curriculum"
        case Noun.TOOL | Noun.GRADER | Noun.ENVIRONMENT:
            return param if isinstance(reference, NamedReference) else f"{param}.id"
        case _:
            assert_never(noun)


async def _found(
    get: Callable[..., Any], object_id: str, version: int | None, *, param: str
) -> RegisteredVersion:
    try:
        registered: RegisteredVersion = await get(object_id, version=version)
    except NotFound as error:
        raise InvalidRequest(error.message, param=param, code=error.code) from error
    return registered
