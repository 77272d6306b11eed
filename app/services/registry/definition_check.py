"""Checks definitions that a customer sent against this installation: tools, graders, whole methods.

Owns the refusals that take a look-up: an address that this installation may not call, an unknown
judge, a measure that needs embeddings without a configured server. All others are those of
`app.preflight.definition_faults`. Finds them by type, so that new kinds of tools and graders are
checked too. Makes no calls. A definition may be as large as a body, so it is walked on a thread.
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
from app.domain.documents.walk import WalkedField
from app.domain.errors import EndpointRefused, InvalidRequest
from app.domain.faults.suggestions import NOWHERE, KeyHints
from app.domain.faults.unknown_keys import UnreadKey, unread
from app.domain.faults.values import refusal
from app.domain.graders.grader_model import GraderModel
from app.domain.students.students import PREFIX
from app.gateways.egress.egress import Egress
from app.gateways.inference.embeddings import NOT_CONFIGURED
from app.preflight.definition_faults import (
    NOT_ALLOWED,
    Definition,
    definition_faults,
    not_allowed,
)
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
    """Checks definitions with their paths, all look-ups within `CHECK_LIMIT_S`: a request may have
    an open transaction meanwhile, and a customer's name server may be slow for each of many names.
    """

    def walked() -> list[Definition]:
        found = [Definition.of(path, definition) for path, definition in definitions]
        refuse_faults(found, elsewhere=elsewhere, uncalled=uncalled)
        return found

    found = await asyncio.to_thread(walked)
    await look_up(found, egress=egress, models=models, uncalled=uncalled)
    return tuple(key for each in found for key in unread(each.fields, each.root, elsewhere))


def refuse_faults(
    definitions: Sequence[Definition], *, elsewhere: KeyHints, uncalled: Collection[str]
) -> None:
    """Raises `InvalidRequest` for the first fault that needs no look-up."""

    def is_called(_: str, field: WalkedField) -> bool:
        return field.path[0] not in uncalled

    for fault in definition_faults(definitions, elsewhere=elsewhere, called=is_called):
        raise fault


async def look_up(
    definitions: Sequence[Definition],
    *,
    egress: Egress,
    models: JudgeModels,
    uncalled: Collection[str],
) -> None:
    """Raises `InvalidRequest` for the first fault that only this installation knows."""
    try:
        async with asyncio.timeout(CHECK_LIMIT_S):
            for definition in definitions:
                unused = _unused(definition.value)
                for field in definition.fields:
                    if field.path[0] not in uncalled and not _is_unused(field, unused):
                        await _look_up(field, definition.root, egress=egress, models=models)
    except TimeoutError:
        raise InvalidRequest(
            f"The addresses could not be looked up within {CHECK_LIMIT_S:g} s.",
            param=definitions[0].root or None,
            code=NOT_ALLOWED,
        ) from None


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


async def _look_up(field: WalkedField, path: str, *, egress: Egress, models: JudgeModels) -> None:
    """Raises `InvalidRequest` for a fault that only this installation knows."""
    match field.mark:
        case AddressMark():
            try:
                await egress.check_url(field.mark.called(field.value))
            except EndpointRefused as error:
                raise not_allowed(
                    str(field.path[-1]), parameter(path, field.path), error
                ) from error
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
    if name.startswith(PREFIX):
        message = f"A student such as '{name}' is no judge: name the model that answers for it."
        return InvalidRequest(message, param=param, code="model_not_found")
    return InvalidRequest(
        f"The model '{name}' does not exist: name a model of this project, one that the operator "
        "configured as a judge, or one behind a 'base_url' that is sent with it.",
        param=param,
        code="model_not_found",
    )


def no_embeddings(param: str) -> InvalidRequest:
    return InvalidRequest(f"{NOT_CONFIGURED}.", param=param, code="embeddings_not_configured")
