"""References in a create call, replaced by the definitions that they name, and `auto` by a grader.

Owns the resolution of tools, grader, curriculum and built-in environment. A resolved call is whole:
it has real secrets, so the create path seals them for the job, and no later version or deletion of
a registered object changes the job. Must not know the other parts of a create call.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

from app.domain.environments.environments import (
    PARAM,
    AnyEnvironment,
    built_in,
    read_environment,
)
from app.domain.errors import InvalidRequest, WrongState
from app.domain.graders.auto import AutoGrader
from app.domain.graders.choice import GraderChoice
from app.domain.graders.graders import read_grader
from app.domain.jobs.jobs import NewJob
from app.domain.jobs.requests import JobRequest, required_files
from app.domain.methods.reinforcement import MAX_TOOLS
from app.domain.methods.supervised import DpoMethod, SupervisedMethod
from app.domain.preflight_issues import PreflightIssue
from app.domain.registry.curricula import CURRICULUM_PARTS
from app.domain.registry.references import (
    CurriculumSource,
    InlineCurriculum,
    RegisteredReference,
    ReinforcementBody,
    read_environment_reference,
    read_grader_reference,
    read_tool_reference,
)
from app.domain.tools.served_tools import split_tools
from app.domain.tools.tools import ToolSpec
from app.services.jobs.environment_files import EnvironmentFiles
from app.services.jobs.grader_choices import GraderChoiceService
from app.services.jobs.readable_parts import (
    missing_file,
    readable_source,
    reference_or,
    with_servers,
)
from app.services.registry.curricula import CurriculumService, inline_name
from app.services.registry.environments import EnvironmentService
from app.services.registry.graders import RegisteredGraderService
from app.services.registry.lookups import find_registered, id_place
from app.services.registry.registered_objects import RegistryService
from app.services.registry.tools import ToolService

_METHOD: Final = "method.reinforcement"


@dataclass(frozen=True, slots=True)
class ReferencePorts:
    tools: ToolService
    graders: RegisteredGraderService
    curricula: CurriculumService
    choices: GraderChoiceService
    environments: EnvironmentFiles
    registered_environments: EnvironmentService


@dataclass(frozen=True, slots=True)
class ReadableCall:
    """The JSON of a call with its references resolved, as far as they can be."""

    body: dict[str, Any]
    grader_choice: GraderChoice | None
    fault: InvalidRequest | None
    """The first reference or choice that is refused."""
    warnings: tuple[PreflightIssue, ...] = ()
    """Parts of `auto` that the choice does not use."""


class RegisteredReferences:
    def __init__(self, ports: ReferencePorts) -> None:
        self._ports = ports

    @asynccontextmanager
    async def resolved(self, request: JobRequest) -> AsyncIterator[NewJob]:
        """Yields a create call with each reference replaced by its definition.

        Tools and grader keep `id` and `version`; a curriculum becomes `training_file` and
        `validation_file`, and inline rows become files of the project, deleted again when the
        block fails. Raises `InvalidRequest` naming the parameter.
        """
        made: list[str] = []
        done = False
        try:
            yield await self._new_job(request, made)
            done = True
        finally:
            if not done:
                await self._ports.curricula.discard(made)

    @asynccontextmanager
    async def readable(
        self, body: dict[str, Any], request: JobRequest | None
    ) -> AsyncIterator[ReadableCall]:
        """Yields, for a block of work that only looks, the JSON of a call with its references
        resolved, or as sent and the first reference that cannot be. Files that were written for it
        are deleted.

        Wrong references stay as they are: reading the call names them. `request` is the call in
        domain words, or `None` where it cannot be read.
        """
        made: list[str] = []
        try:
            fault: InvalidRequest | None = None
            try:
                resolved = await self._readable(body, made)
            except InvalidRequest as error:
                resolved, fault = body, error
            else:
                fault = missing_file(request, resolved)
            yield await self._with_choice(ReadableCall(resolved, None, fault))
        finally:
            await self._ports.curricula.discard(made)

    async def _new_job(self, request: JobRequest, made: list[str]) -> NewJob:
        method = request.method
        match method:
            case ReinforcementBody():
                environment = await self._environment(method)
                tools, grader = await self._definitions(
                    method.tools, _grader_of(method, environment)
                )
                specs, served = split_tools(
                    [ToolSpec.model_validate(tool) for tool in tools], f"{_METHOD}.tools"
                )
                files = await self._both_files(request, made)
                choice = await self._choice(grader, method, files)
                chosen = read_grader(grader) if choice is None else choice.read()
                whole = method.with_definitions(specs, chosen, environment, served=served)
                return request.resolved(whole, files, choice)
            case SupervisedMethod() | DpoMethod():
                return request.resolved(method, await self._both_files(request, made), None)
            case _:
                assert_never(method)

    async def _choice(
        self, grader: Any, method: ReinforcementBody, files: tuple[str | None, str | None]
    ) -> GraderChoice | None:
        """Returns the choice of `auto`, `None` for any other grader."""
        if not isinstance(grader, AutoGrader):
            return None
        return await self._ports.choices.choose(
            grader,
            required_files(method, *files),
            files[1],
            response_format=method.response_format,
        )

    async def _with_choice(self, call: ReadableCall) -> ReadableCall:
        """Returns the call with a grader in place of `auto`, or with the reason for none."""
        from app.preflight.grader_choice import (  # noqa: PLC0415 - a create call needs none
            auto_of,
            choice_warnings,
            reinforcement_of,
            with_grader,
        )

        auto = auto_of(call.body)
        training, validation = (call.body.get(f"{split}_file") for split in CURRICULUM_PARTS)
        if auto is None or not isinstance(training, str):
            return call
        response_format = reinforcement_of(call.body).get("response_format")
        try:
            choice = await self._ports.choices.choose(
                auto,
                training,
                validation if isinstance(validation, str) else None,
                response_format=response_format,
            )
        except InvalidRequest as error:
            return replace(call, fault=call.fault or error)
        return replace(
            call,
            body=with_grader(call.body, choice),
            grader_choice=choice,
            warnings=tuple(choice_warnings(choice)),
        )

    async def _both_files(
        self, request: JobRequest, made: list[str]
    ) -> tuple[str | None, str | None]:
        """Returns the files of training and validation."""
        if request.environment is not None and request.training_file is None:
            files = await self._ports.environments.write(request.environment, made)
        elif request.curriculum is None:
            return request.training_file, request.validation_file
        else:
            files = await self._files(request.curriculum, made)
        return files.get("training_file"), files.get("validation_file")

    async def _environment(self, method: ReinforcementBody) -> AnyEnvironment | None:
        """Returns the definition of the call's environment."""
        found = await self._definition(
            method.environment, self._ports.registered_environments, PARAM
        )
        return None if found is None else read_environment(found)

    async def _definitions(self, tools: Sequence[Any], grader: Any) -> tuple[list[Any], Any]:
        """Returns the tools and the grader with a definition in place of each reference."""
        return [
            await self._definition(tool, self._ports.tools, f"{_METHOD}.tools[{index}]")
            for index, tool in enumerate(tools)
        ], await self._definition(grader, self._ports.graders, f"{_METHOD}.grader")

    async def _definition(self, part: Any, service: RegistryService, param: str) -> Any:
        if not isinstance(part, RegisteredReference):
            return part
        registered = await find_registered(part, service, param)
        try:
            definition = await service.usable(registered)
        except WrongState as error:
            place = id_place(part, service.noun, param)
            raise WrongState(error.message, param=place) from error
        return {**definition, "id": registered.id, "version": registered.version}

    async def _files(self, source: CurriculumSource, made: list[str]) -> dict[str, str]:
        """Returns the id of each file by its parameter; inline rows are written as files."""
        match source:
            case RegisteredReference():
                registered = await find_registered(source, self._ports.curricula, "curriculum")
                parts = {split: registered.definition.get(split) for split in CURRICULUM_PARTS}
                return {f"{split}_file": part["file_id"] for split, part in parts.items() if part}
            case InlineCurriculum():
                return await self._written(source, made)
            case _:
                assert_never(source)

    async def _written(self, source: InlineCurriculum, made: list[str]) -> dict[str, str]:
        files: dict[str, str] = {}
        rows = {"training": source.training, "validation": source.validation}
        for split in CURRICULUM_PARTS:
            if rows[split]:
                file = await self._ports.curricula.write(rows[split], inline_name(split))
                made.append(file.id)
                files[f"{split}_file"] = file.id
        return files

    async def _readable(self, body: dict[str, Any], made: list[str]) -> dict[str, Any]:
        resolved = {**body}
        method = body.get("method")
        inner = method.get("reinforcement") if isinstance(method, dict) else None
        if isinstance(method, dict) and isinstance(inner, dict):
            resolved["method"] = {**method, "reinforcement": await self._readable_method(inner)}
        named = any(body.get(f"{split}_file") is not None for split in CURRICULUM_PARTS)
        source = None if named else readable_source(body.get("curriculum"))
        if source is not None:
            resolved.update(await self._files(source, made))
        return await self._with_environment(resolved, made)

    async def _with_environment(self, body: dict[str, Any], made: list[str]) -> dict[str, Any]:
        """Returns the JSON of a call with the environment's grader and the files of its tasks."""
        from app.preflight.environment_tasks import (  # noqa: PLC0415 - a create call needs none
            environment_of,
            with_environment_grader,
        )

        environment = environment_of(body)
        if environment is None:
            return body
        body = with_environment_grader(body, environment)
        source = built_in(environment)
        if source is None or any(
            body.get(name) is not None for name in ("training_file", "validation_file")
        ):
            return body
        return {**body, **await self._ports.environments.write(source, made)}

    async def _readable_method(self, inner: dict[str, Any]) -> dict[str, Any]:
        sent = inner.get("tools")
        listed = sent if isinstance(sent, list) and len(sent) <= MAX_TOOLS else None
        tools, grader = await self._definitions(
            [reference_or(tool, read_tool_reference) for tool in listed or ()],
            reference_or(inner.get("grader"), read_grader_reference),
        )
        environment = await self._definition(
            reference_or(inner.get("environment"), read_environment_reference),
            self._ports.registered_environments,
            PARAM,
        )
        inner = inner if environment is None else {**inner, "environment": environment}
        resolved = {**inner} if listed is None else with_servers(inner, tools)
        return resolved if grader is None else {**resolved, "grader": grader}


def _grader_of(method: ReinforcementBody, environment: AnyEnvironment | None) -> Any:
    """Returns the call's grader, else the one of its environment."""
    if method.grader is None and environment is not None:
        return read_grader(environment.grader())
    return method.grader
