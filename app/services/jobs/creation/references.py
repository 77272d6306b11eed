"""Replaces references in a create call by their definitions, and `auto` by a grader.

Owns the resolution of tools, grader, curriculum and built-in environment. A resolved call is
self-contained: it has the unsealed secrets, which are sealed again for the job, and no later
version or deletion of a registered object changes the job. Must not know the other parts of a
create call.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, assert_never

from app.domain.environments.environments import PARAM, AnyEnvironment, read_environment
from app.domain.errors import InvalidRequest
from app.domain.graders.auto import AutoGrader
from app.domain.graders.choice.choice import GraderChoice
from app.domain.graders.graders import read_grader
from app.domain.jobs.creation.requests import JobRequest
from app.domain.jobs.jobs import NewJob
from app.domain.methods.supervised import DpoMethod, SupervisedMethod
from app.domain.registry.references import ReinforcementBody, is_registered
from app.domain.tools.sent_servers import ALL_SENT, SentServers
from app.domain.tools.served_tools import split_tools
from app.domain.tools.tools import ToolSpec
from app.services.jobs.creation.definitions import METHOD, RegisteredDefinitions


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
