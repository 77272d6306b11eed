"""Looks up the definitions that the references of a create call name."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, assert_never

from app.curricula.curricula import CURRICULUM_SPLITS
from app.curricula.service import CurriculumService, inline_name
from app.database import Database
from app.files.row_files import Inspections, RowFiles
from app.graders.choice import GraderChoice
from app.graders.definitions import AutoGrader, read_grader
from app.graders.service import RegisteredGraderService
from app.jobs.jobs import NewJob
from app.jobs.requests import JobRequest
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound, WrongState
from app.tools.environments import FILE_PARAM, PARAM, AnyEnvironment, BuiltIn, read_environment
from app.tools.mcp_listings import ALL_SENT, SentServers, split_tools
from app.tools.references import (
    InlineCurriculum,
    RegisteredReference,
    ReinforcementBody,
    SentCurriculum,
    is_registered,
)
from app.tools.registry_service import RegistryService, find_registered, id_parameter
from app.tools.service import EnvironmentService, ToolService
from app.tools.tools import ToolSpec

if TYPE_CHECKING:
    from app.jobs.dataset_checks import EnvironmentTasks


class EnvironmentFiles:
    def __init__(
        self,
        database: Database,
        inspections: Inspections,
        *,
        row_files: RowFiles,
        tenant: Tenant,
    ) -> None:
        self._database = database
        self._inspections = inspections
        self._row_files = row_files
        self._tenant = tenant

    async def write(self, environment: BuiltIn, made: list[str]) -> dict[str, str]:
        """Returns the ids as `{"training_file": id, "validation_file": id}`, and adds each to
        `made` as it is written. Raises `InvalidRequest`.
        """
        tasks = await self._tasks(environment)
        rows = {"training": tasks.training, "validation": tasks.validation}
        files: dict[str, str] = {}
        for split in CURRICULUM_SPLITS:
            name = f"{environment.type}-{split}.jsonl"
            file = await self._row_files.write(rows[split], name)
            made.append(file.id)
            files[f"{split}_file"] = file.id
        return files

    async def _tasks(self, environment: BuiltIn) -> "EnvironmentTasks":
        from app.jobs.dataset_checks import tasks_of  # noqa: PLC0415 - for few calls

        if environment.problem_file is None:
            return await self._inspections.run(self._tenant, tasks_of, environment, None)
        key = await self._object_key(environment.problem_file)
        gone = InvalidRequest(
            f"The content of the environment's file {environment.problem_file} is gone: "
            "upload the file again.",
            param=FILE_PARAM,
            code="file_not_found",
        )
        async with self._inspections.copy(key, gone=gone) as path:
            return await self._inspections.run(self._tenant, tasks_of, environment, path)

    async def _object_key(self, file_id: str) -> str:
        try:
            async with self._database.tenant(self._tenant) as unit:
                row = await unit.files.get(file_id)
        except NotFound as error:
            message = f"The environment's file {file_id} does not exist."
            raise InvalidRequest(message, param=FILE_PARAM, code="file_not_found") from error
        return row.object_key


class GraderChoiceService:
    def __init__(self, database: Database, inspections: Inspections, tenant: Tenant) -> None:
        self._database = database
        self._inspections = inspections
        self._tenant = tenant

    async def choose(
        self,
        auto: AutoGrader,
        training_file: str,
        validation_file: str | None,
        *,
        response_format: Any,
    ) -> GraderChoice:
        """Returns the choice. Raises `InvalidRequest` if rows lack a key or a file cannot be
        read.
        """
        from app.jobs.grader_choice import (  # noqa: PLC0415 - a call without `auto` needs none
            choose_from_files,
        )

        training = await self._object_key(training_file, "training_file")
        validation = None
        if validation_file is not None:
            validation = await self._object_key(validation_file, "validation_file")
        async with self._inspections.copies((training, validation)) as paths:
            return await self._inspections.run(
                self._tenant, choose_from_files, *paths, auto, response_format
            )

    async def _object_key(self, file_id: str, param: str) -> str:
        try:
            async with self._database.tenant(self._tenant) as unit:
                row = await unit.files.get(file_id)
        except NotFound as error:
            message = f"{param} {file_id} does not exist."
            raise InvalidRequest(message, param=param, code="file_not_found") from error
        if row.purpose != "fine-tune":
            raise InvalidRequest(
                f"{param} {file_id} has purpose '{row.purpose}', but must have 'fine-tune'.",
                param=param,
                code="invalid_value",
            )
        return row.object_key


METHOD: Final = "method.reinforcement"


class ReferenceServices(Protocol):
    """Builds the services that references need; most calls have none and build none."""

    def tools(self) -> ToolService: ...

    def graders(self) -> RegisteredGraderService: ...

    def curricula(self) -> CurriculumService: ...

    def row_files(self) -> RowFiles: ...

    def environments(self) -> EnvironmentService: ...

    def grader_choices(self) -> GraderChoiceService: ...

    def environment_files(self) -> EnvironmentFiles: ...


class RegisteredDefinitions:
    def __init__(self, services: ReferenceServices) -> None:
        self.services = services

    async def definitions(self, tools: Sequence[Any], grader: Any) -> tuple[list[Any], Any]:
        """Returns the tools and the grader with each reference replaced by its definition."""
        return [
            await self.definition(tool, self.services.tools, f"{METHOD}.tools[{index}]")
            for index, tool in enumerate(tools)
        ], await self.definition(grader, self.services.graders, f"{METHOD}.grader")

    async def definition(self, part: Any, build: Callable[[], RegistryService], param: str) -> Any:
        """Returns the definition that a reference names, any other part as it is; `build` builds
        the service of its noun.
        """
        if not isinstance(part, RegisteredReference):
            return part
        service = build()
        registered = await find_registered(part, service, param)
        try:
            definition = await service.usable(registered)
        except WrongState as error:
            id_param = id_parameter(part, service.noun, param)
            raise WrongState(error.message, param=id_param) from error
        return {**definition, "id": registered.id, "version": registered.version}

    async def files(self, source: SentCurriculum, made: list[str]) -> dict[str, str]:
        """Returns the id of each file by its parameter; inline rows are written as files."""
        match source:
            case RegisteredReference():
                registered = await find_registered(source, self.services.curricula(), "curriculum")
                parts = {split: registered.definition.get(split) for split in CURRICULUM_SPLITS}
                return {f"{split}_file": part["file_id"] for split, part in parts.items() if part}
            case InlineCurriculum():
                return await self._written(source, made)
            case _:
                assert_never(source)

    async def _written(self, source: InlineCurriculum, made: list[str]) -> dict[str, str]:
        files, row_files = dict[str, str](), self.services.row_files()
        rows = {"training": source.training, "validation": source.validation}
        for split in CURRICULUM_SPLITS:
            if rows[split]:
                file = await row_files.write(rows[split], inline_name(split))
                made.append(file.id)
                files[f"{split}_file"] = file.id
        return files


class RegisteredReferences:
    def __init__(self, definitions: RegisteredDefinitions) -> None:
        self._definitions = definitions

    @asynccontextmanager
    async def resolved(self, request: JobRequest) -> AsyncIterator[NewJob]:
        """Yields a create call with each reference replaced by its definition.

        Tools and grader keep `id` and `version`; a curriculum becomes `training_file` and
        `validation_file`, and inline rows become files of the project, deleted again when the block
        fails. Raises `InvalidRequest` with the parameter, also for one of the block about an MCP
        server of a tool, which becomes one about the tool.
        """
        made: list[str] = []
        done = False
        try:
            new, servers = await self._new_job(request, made)
            try:
                yield new
            except InvalidRequest as fault:
                raise servers.error(fault) from fault
            done = True
        finally:
            if not done:
                await self._definitions.services.row_files().discard(made)

    async def _new_job(self, request: JobRequest, made: list[str]) -> tuple[NewJob, SentServers]:
        method = request.method
        match method:
            case ReinforcementBody():
                environment = await self._environment(method)
                tools, grader = await self._definitions.definitions(
                    method.tools, await asyncio.to_thread(_grader_of, method, environment)
                )
                sent = [ToolSpec.model_validate(tool) for tool in tools]
                specs, served = split_tools(sent, f"{METHOD}.tools", beside=method.mcp_servers)
                files = await self._both_files(request, made)
                training = request.required_files(*files)
                choice = await self._choice(grader, method, training, files[1])
                chosen = await asyncio.to_thread(
                    partial(read_grader, grader) if choice is None else choice.read
                )
                whole = method.with_definitions(specs, chosen, environment, served=served)
                servers = _servers_of(method, sent)
                return request.resolved(whole, files, choice), servers
            case SupervisedMethod() | DpoMethod():
                files = await self._both_files(request, made)
                return request.resolved(method, files, None), ALL_SENT
            case _:
                assert_never(method)

    async def _choice(
        self, grader: Any, method: ReinforcementBody, training: str, validation: str | None
    ) -> GraderChoice | None:
        """Returns the choice of `auto`, `None` for any other grader."""
        if not isinstance(grader, AutoGrader):
            return None
        return await self._definitions.services.grader_choices().choose(
            grader, training, validation, response_format=method.response_format
        )

    async def _both_files(
        self, request: JobRequest, made: list[str]
    ) -> tuple[str | None, str | None]:
        """Returns the files of training and validation."""
        if request.environment is not None and request.training_file is None:
            files = await self._definitions.services.environment_files().write(
                request.environment, made
            )
        elif request.curriculum is None:
            return request.training_file, request.validation_file
        else:
            files = await self._definitions.files(request.curriculum, made)
        return files.get("training_file"), files.get("validation_file")

    async def _environment(self, method: ReinforcementBody) -> AnyEnvironment | None:
        """Returns the definition of the call's environment."""
        found = await self._definitions.definition(
            method.environment, self._definitions.services.environments, PARAM
        )
        return None if found is None else read_environment(found)


def _servers_of(method: ReinforcementBody, tools: Sequence[ToolSpec]) -> SentServers:
    references = [is_registered(tool) for tool in method.tools]
    sent = [tool.model_dump(mode="json") for tool in tools]
    return SentServers.of(sent, references, sent=len(method.mcp_servers))


def _grader_of(method: ReinforcementBody, environment: AnyEnvironment | None) -> Any:
    """Returns the call's grader, or else its environment's."""
    if method.grader is None and environment is not None:
        return read_grader(environment.grader())
    return method.grader
