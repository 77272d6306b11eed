"""Checks definitions that a customer sent against this installation: tools, graders, whole methods.

Owns nine refusals: too many sealed values or too long a key, an unknown key with an object, a
template's placeholder in single braces, a value `[redacted]`, a python grader that can never grade,
an address that may not be called, too many credentials for one address, an unknown judge, a measure
that needs embeddings without a configured server. Finds them by type, so that new kinds of tools
and graders are checked too. Makes no calls. A definition may be as large as a body, so it is walked
on a thread.
"""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, Final, TypeVar, assert_never

from pydantic import BaseModel, TypeAdapter, ValidationError

from app.domain.documents.fields import (
    AddressMark,
    EmbeddingMark,
    JudgeMark,
    SecretMark,
    TemplateMark,
)
from app.domain.documents.pointers import Path, parameter
from app.domain.documents.walk import WalkedField, headers_of, walk_fields
from app.domain.errors import EndpointRefused, InvalidRequest, refused_value
from app.domain.faults.suggestions import NOWHERE, KeyHints
from app.domain.faults.unknown_keys import UnreadKey, unknown_key_error, unread
from app.domain.faults.values import refusal
from app.domain.graders.grader_model import GraderModel
from app.domain.graders.source_faults import source_faults
from app.domain.graders.template_faults import template_fault
from app.domain.secrets.bounds import bound_faults
from app.domain.secrets.echoes import MAX_CREDENTIALS, credentials_of
from app.domain.secrets.placeholders import refuse_placeholders
from app.gateways.egress.egress import Egress
from app.gateways.egress.headers import check_headers
from app.gateways.inference.embeddings import NOT_CONFIGURED
from app.services.models.judge_models import JudgeModels

CHECK_LIMIT_S: Final = 20.0
_Read = TypeVar("_Read")


def read_definition(models: TypeAdapter[_Read], definition: dict[str, Any], root: str) -> _Read:
    """Validates a definition at the parameter `root`. Raises `InvalidRequest` at the first
    fault.
    """
    try:
        return models.validate_python(definition)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise refusal(parameter(root, fault["loc"]), [fault]) from error


async def check_definition(
    definition: BaseModel,
    path: str,
    *,
    egress: Egress,
    models: JudgeModels,
    uncalled: Collection[str] = (),
    elsewhere: KeyHints = NOWHERE,
) -> tuple[UnreadKey, ...]:
    """Returns the unknown keys. Raises `InvalidRequest` with the parameter at fault, at any depth
    below `path`. Addresses and judges below the fields in `uncalled` are not checked, nor are
    judges and embeddings of unused parts of a `multi` grader.
    """
    return await check_definitions(
        [(path, definition)],
        egress=egress,
        models=models,
        uncalled=uncalled,
        elsewhere=elsewhere,
    )


async def check_definitions(
    definitions: Sequence[tuple[str, BaseModel]],
    *,
    egress: Egress,
    models: JudgeModels,
    uncalled: Collection[str] = (),
    elsewhere: KeyHints = NOWHERE,
) -> tuple[UnreadKey, ...]:
    """Checks definitions with their paths, all within `CHECK_LIMIT_S`: a request may have an open
    transaction meanwhile, and a customer's name server may be slow for each of many names.
    """
    walked = await asyncio.to_thread(_walked, definitions, elsewhere)
    unused = {path: _unused(definition) for path, definition in definitions}
    try:
        async with asyncio.timeout(CHECK_LIMIT_S):
            for path, field in walked:
                if field.path[0] in uncalled or _is_unused(field, unused[path]):
                    continue
                await _check_field(field, path, egress=egress, models=models)
    except TimeoutError:
        raise InvalidRequest(
            f"The addresses could not be looked up within {CHECK_LIMIT_S:g} s.",
            param=definitions[0][0] or None,
            code="endpoint_not_allowed",
        ) from None
    return tuple(key for path, field in walked for key in unread([field], path, elsewhere))


def _unused(definition: BaseModel) -> frozenset[Path]:
    """Returns the paths of the unused graders below a grader or a method."""
    inner = getattr(definition, "grader", None)
    beginning: Path = () if inner is None else ("grader",)
    grader = definition if inner is None else inner
    names = grader.unused_parts if isinstance(grader, GraderModel) else ()
    return frozenset((*beginning, "graders", name) for name in names)


def _is_unused(field: WalkedField, unused: frozenset[Path]) -> bool:
    match field.mark:
        case JudgeMark() | EmbeddingMark():
            return any(field.path[: len(part)] == part for part in unused)
        case AddressMark() | SecretMark() | TemplateMark() | None:
            return False
        case _:
            assert_never(field.mark)


def _walked(
    definitions: Sequence[tuple[str, BaseModel]], elsewhere: KeyHints
) -> list[tuple[str, WalkedField]]:
    """Returns all fields of the definitions. Raises `InvalidRequest` for faults that need no
    look-up.
    """
    walked = [
        (path, field)
        for path, definition in definitions
        for field in walk_fields(type(definition), definition)
    ]
    for fault in bound_faults(walked):
        raise fault
    for path, field in walked:
        wrong = unknown_key_error(field, path, elsewhere) or template_fault(field, path)
        if wrong is not None:
            raise wrong
    for path, definition in definitions:
        refuse_placeholders(definition, root=path)
    for fault in source_faults(definitions):
        raise fault
    return walked


async def _check_field(
    field: WalkedField, path: str, *, egress: Egress, models: JudgeModels
) -> None:
    match field.mark:
        case AddressMark():
            await _check_address(
                field.mark.called(field.value),
                headers_of(field),
                egress=egress,
                owner=parameter(path, field.path[:-1]),
                field=str(field.path[-1]),
            )
        case JudgeMark():
            if not await models.knows(field.value):
                raise unknown_judge(field.value, parameter(path, field.path))
        case EmbeddingMark():
            if not models.has_embeddings:
                raise no_embeddings(parameter(path, field.path))
        case SecretMark() | TemplateMark() | None:
            pass
        case _:
            assert_never(field.mark)


def unknown_judge(name: str, param: str) -> InvalidRequest:
    return InvalidRequest(
        f"The model '{name}' does not exist: name a model of this project, one that the operator "
        "configured as a judge, or one behind a 'base_url' that is sent with it.",
        param=param,
        code="model_not_found",
    )


def no_embeddings(param: str) -> InvalidRequest:
    return InvalidRequest(f"{NOT_CONFIGURED}.", param=param, code="embeddings_not_configured")


async def _check_address(
    url: str, headers: dict[str, Any] | None, *, egress: Egress, owner: str, field: str
) -> None:
    """Raises `InvalidRequest` at `owner.field` or `owner.headers`: `endpoint_not_allowed`, or
    `invalid_value` for too many credentials.
    """
    prefix = f"{owner}." if owner else ""
    try:
        await egress.check_url(url)
    except EndpointRefused as error:
        raise _not_allowed(field, f"{prefix}{field}", error) from error
    try:
        check_headers(headers or {})
    except EndpointRefused as error:
        raise _not_allowed("headers", f"{prefix}headers", error) from error
    if len(credentials_of(headers or {}, url)) > MAX_CREDENTIALS:
        raise refused_value(
            f"{prefix}headers",
            f"with the query of the address, they hold more than {MAX_CREDENTIALS} different "
            "credentials; send fewer",
        )


def _not_allowed(field: str, param: str, error: EndpointRefused) -> InvalidRequest:
    return InvalidRequest(
        f"{field} is not allowed: {error}", param=param, code="endpoint_not_allowed"
    )
