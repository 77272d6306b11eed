"""Checks a definition with its addresses and judges, for create calls and registries."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Final, TypeVar, assert_never

from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import override

from app.database import Database
from app.graders.embeddings import NOT_CONFIGURED
from app.graders.grader_model import GraderModel
from app.jobs.method_faults import NOT_ALLOWED, Definition, definition_faults, not_allowed
from app.kit.callers import Tenant
from app.kit.egress import Egress
from app.kit.errors import EndpointRefused, InvalidRequest
from app.kit.faults import NOWHERE, KeyHints, UnreadKey, refusal, unread
from app.kit.fields import (
    AddressMark,
    EmbeddingMark,
    JudgeMark,
    Path,
    SecretMark,
    TemplateMark,
    WalkedField,
    parameter,
)
from app.kit.slots import ProjectSlots
from app.models.models import STUDENT_PREFIX
from app.models.service import JudgeModels
from app.tools.registry import SERVICE_KEYS, LabelChanges, RegisteredVersion
from app.tools.registry_service import RegistryPorts, RegistryService


class RegisteredEndpointService(RegistryService):
    url_key: ClassVar[str]
    """Key of the endpoint's address. Without it and a name there is no object."""

    @override
    def __init__(
        self,
        database: Database,
        ports: RegistryPorts,
        tenant: Tenant,
        *,
        secret_keys: tuple[str, ...],
        call_timeout_s: float,
        slots: ProjectSlots,
        models: JudgeModels,
    ) -> None:
        super().__init__(database, ports, tenant)
        self._models = models
        self._secret_keys = secret_keys
        self._call_timeout_s = call_timeout_s
        self._slots = slots

    async def create(self, values: dict[str, Any]) -> RegisteredVersion:
        definition = self._definition(values)
        self._check_name(definition["name"])
        return await self._insert(definition["name"], definition, metadata=values.get("metadata"))

    async def update(self, object_id: str, changes: dict[str, Any]) -> RegisteredVersion:
        """Inserts a new version: keys that are not sent stay, a null removes an optional one. With
        a new address, or lost secrets, the redacted definition is the start: what is not sent anew
        is refused by name.
        """
        before = await self.get(object_id)
        required = ("name", self.url_key)
        kept = {k: v for k, v in changes.items() if k not in required or v is not None}
        earlier = {} if self.url_key in kept else await self._earlier(before)
        definition = self._definition({**(earlier or before.definition), **kept})
        if definition["name"] != before.name:
            self._check_name(definition["name"])
        labels = LabelChanges(definition["name"], changes.get("metadata"), "metadata" in changes)
        return await self._append(before, definition, labels)

    def _check_name(self, name: str) -> None:
        """Raises `InvalidRequest` for a name that the object may not have."""

    def _definition(self, values: dict[str, Any]) -> dict[str, Any]:
        return {
            key: value
            for key, value in values.items()
            if value is not None and key not in SERVICE_KEYS and key != "metadata"
        }


CHECK_LIMIT_S: Final = 20.0
_Read = TypeVar("_Read")


def read_definition(models: TypeAdapter[_Read], definition: dict[str, Any], root: str) -> _Read:
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
    """Returns the unknown keys. Raises `InvalidRequest` with the parameter at fault below `path`.
    Addresses and judges below `uncalled`, and judges of unused parts, are not checked.
    """
    return await check_definitions(
        [(path, definition)], egress=egress, models=models, uncalled=uncalled, elsewhere=elsewhere
    )


async def check_definitions(
    definitions: Sequence[tuple[str, BaseModel]],
    *,
    egress: Egress,
    models: JudgeModels,
    uncalled: Collection[str] = (),
    elsewhere: KeyHints = NOWHERE,
) -> tuple[UnreadKey, ...]:
    """Checks definitions by path, all look-ups within `CHECK_LIMIT_S`."""

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
    inner = getattr(definition, "grader", None)
    beginning: Path = () if inner is None else ("grader",)
    grader = definition if inner is None else inner
    names = grader.unused_parts if isinstance(grader, GraderModel) else ()
    return frozenset((*beginning, "graders", name) for name in names)


def _is_unused(field: WalkedField, unused: frozenset[Path]) -> bool:
    is_asked = isinstance(field.mark, JudgeMark | EmbeddingMark)
    return is_asked and any(field.path[: len(part)] == part for part in unused)


async def _look_up(field: WalkedField, path: str, *, egress: Egress, models: JudgeModels) -> None:
    param = parameter(path, field.path)
    match field.mark:
        case AddressMark():
            try:
                await egress.check_url(field.mark.called(field.value))
            except EndpointRefused as error:
                raise not_allowed(str(field.path[-1]), param, error) from error
        case JudgeMark():
            if not await models.knows(field.value):
                raise unknown_judge(field.value, param)
        case EmbeddingMark():
            if not models.has_embeddings:
                raise no_embeddings(param)
        case SecretMark() | TemplateMark() | None:
            pass
        case _:
            assert_never(field.mark)


def unknown_judge(name: str, param: str) -> InvalidRequest:
    if name.startswith(STUDENT_PREFIX):
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
