"""Finds the registered object of a reference in a call.

Owns the parameter in errors about a missing object or version.
"""

from collections.abc import Callable
from typing import Any, Final, assert_never

from app.domain.environments.environments import misspelt_environment
from app.domain.errors import InvalidRequest, NotFound
from app.domain.registry.references import NamedReference, RegisteredReference
from app.domain.registry.registered_objects import Noun, RegisteredVersion
from app.services.registry.registered_objects import RegistryService

_COMPARED: Final = 100
"""Number of registered names, the newest ones, that an unknown name is compared with."""


async def find_registered(
    reference: RegisteredReference, service: RegistryService, param: str
) -> RegisteredVersion:
    id_param = id_parameter(reference, service.noun, param)
    if isinstance(reference, NamedReference):
        return await _named(reference.id, service, param=id_param)
    newest = await _found(service.get, reference.id, None, param=id_param)
    if reference.version is None or reference.version == newest.version:
        return newest
    return await _found(service.get, reference.id, reference.version, param=f"{param}.version")


async def _named(name: str, service: RegistryService, *, param: str) -> RegisteredVersion:
    """Returns the object of a text that is its id or its name. The error about an unknown one names
    what it was probably meant for.
    """
    try:
        return await _found(service.get_named, name, None, param=param)
    except InvalidRequest as error:
        newest, _ = await service.page(after=None, limit=_COMPARED)
        meant = misspelt_environment(name, [str(each.definition.get("name")) for each in newest])
        if meant is None:
            raise
        message = f"{error.message}; {meant}"
        raise InvalidRequest(message, param=param, code=error.code) from error


def id_parameter(reference: RegisteredReference, noun: Noun, param: str) -> str:
    """Returns the parameter that has the id of a reference."""
    match noun:
        case Noun.CURRICULUM:
            return "curriculum"
        case Noun.TOOL | Noun.GRADER | Noun.ENVIRONMENT | Noun.RECIPE:
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
