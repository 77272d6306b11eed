"""Parses the valid parts of a call; a part that cannot be parsed stays as sent."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from app.curricula.curricula import CURRICULUM_SPLITS
from app.graders.choice import GraderChoice
from app.jobs.references import METHOD, RegisteredDefinitions
from app.jobs.reinforcement import MAX_TOOLS
from app.jobs.requests import JobRequest
from app.kit.errors import InvalidRequest, PreflightIssue
from app.kit.fields import value_of
from app.tools.environments import PARAM, built_in
from app.tools.mcp_listings import ALL_SENT, SentServers, by_server, label_clashes
from app.tools.references import (
    RegisteredReference,
    SentCurriculum,
    is_registered,
    read_curriculum,
    read_environment_reference,
    read_grader_reference,
    read_tool_reference,
)
from app.tools.tools import LABEL


def reference_or(sent: Any, read: Callable[[Any], RegisteredReference | None]) -> Any:
    """Returns a part as a reference if it is a valid one; definitions and faulty parts are
    unchanged.
    """
    try:
        return read(sent) or sent
    except ValidationError:
        return sent


def with_servers(inner: dict[str, Any], tools: list[Any], root: str) -> dict[str, Any]:
    """Returns the JSON of a method with these tools, whose parameter is `root`; tools of MCP
    servers become entries of `mcp_servers`. Raises `InvalidRequest` for servers that share a label.
    """
    own, served = by_server(tools)
    if not served:
        return {**inner, "tools": tools}
    sent = inner.get("mcp_servers")
    before = sent if isinstance(sent, list) else []
    labels = [value_of(server, LABEL) for server in before]
    for fault in label_clashes(tools, root, beside=labels):
        raise fault
    return {**inner, "tools": own, "mcp_servers": [*before, *served]}


def missing_file(request: JobRequest | None, resolved: dict[str, Any]) -> InvalidRequest | None:
    """Returns the fault of a curriculum that lacks a file which the method needs."""
    if request is None or request.curriculum is None:
        return None
    training, validation = (resolved.get(f"{split}_file") for split in CURRICULUM_SPLITS)
    try:
        request.required_files(training, validation)
    except InvalidRequest as error:
        return error
    return None


def readable_source(sent: Any) -> SentCurriculum | None:
    if sent is None:
        return None
    try:
        return read_curriculum(sent)
    except ValidationError:
        return None


@dataclass(frozen=True, slots=True)
class ReadableCall:
    """The JSON of a call with its references resolved, as far as they can be."""

    body: dict[str, Any]
    grader_choice: GraderChoice | None
    fault: InvalidRequest | None
    """The error of the first refused reference or choice."""
    warnings: tuple[PreflightIssue, ...] = ()
    """Warnings about options of `auto` that the choice does not use."""
    servers: SentServers = ALL_SENT
    """The origins of its MCP servers."""


class ReadableCalls:
    def __init__(self, definitions: RegisteredDefinitions) -> None:
        self._definitions = definitions

    @asynccontextmanager
    async def readable(
        self, body: dict[str, Any], request: JobRequest | None
    ) -> AsyncIterator[ReadableCall]:
        """Yields, for a read-only block, the JSON of a call with its references resolved, or as
        sent together with the first error. Files that were written for the block are deleted.

        Invalid references are unchanged and reported when the call is parsed. `request` is the call
        as a domain value, or `None` if it cannot be parsed.
        """
        made: list[str] = []
        try:
            try:
                resolved, servers = await self._readable(body, made)
            except InvalidRequest as error:
                call = ReadableCall(body, None, error)
            else:
                fault = missing_file(request, resolved)
                call = ReadableCall(resolved, None, fault, servers=servers)
            yield await self._with_choice(call)
        finally:
            await self._definitions.services.row_files().discard(made)

    async def _with_choice(self, call: ReadableCall) -> ReadableCall:
        """Returns the call with the chosen grader instead of `auto`, or with the reason why there
        is none.
        """
        from app.jobs.grader_choice import (  # noqa: PLC0415 - a create call needs none
            auto_of,
            choice_warnings,
            with_grader,
        )
        from app.jobs.method_parts import (  # noqa: PLC0415 - a create call needs none
            method_of,
            reinforcement_of,
        )

        auto = auto_of(call.body)
        training, validation = (call.body.get(f"{split}_file") for split in CURRICULUM_SPLITS)
        if auto is None or not isinstance(training, str):
            return call
        response_format = reinforcement_of(method_of(call.body)).get("response_format")
        try:
            choice = await self._definitions.services.grader_choices().choose(
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

    async def _readable(
        self, body: dict[str, Any], made: list[str]
    ) -> tuple[dict[str, Any], SentServers]:
        resolved, servers = {**body}, ALL_SENT
        method = body.get("method")
        inner = method.get("reinforcement") if isinstance(method, dict) else None
        if isinstance(method, dict) and isinstance(inner, dict):
            readable, servers = await self._readable_method(inner)
            resolved["method"] = {**method, "reinforcement": readable}
        named = any(body.get(f"{split}_file") is not None for split in CURRICULUM_SPLITS)
        source = None if named else readable_source(body.get("curriculum"))
        if source is not None:
            resolved.update(await self._definitions.files(source, made))
        return await self._with_environment(resolved, made), servers

    async def _with_environment(self, body: dict[str, Any], made: list[str]) -> dict[str, Any]:
        """Returns the JSON of a call with the environment's grader and the files of its tasks."""
        from app.jobs.dataset_checks import (  # noqa: PLC0415 - a create call needs none
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
        return {**body, **await self._definitions.services.environment_files().write(source, made)}

    async def _readable_method(self, inner: dict[str, Any]) -> tuple[dict[str, Any], SentServers]:
        sent = inner.get("tools")
        listed = sent if isinstance(sent, list) and len(sent) <= MAX_TOOLS else None
        named = [reference_or(tool, read_tool_reference) for tool in listed or ()]
        tools, grader = await self._definitions.definitions(
            named, reference_or(inner.get("grader"), read_grader_reference)
        )
        environment = await self._definitions.definition(
            reference_or(inner.get("environment"), read_environment_reference),
            self._definitions.services.environments,
            PARAM,
        )
        inner = inner if environment is None else {**inner, "environment": environment}
        resolved = {**inner} if listed is None else with_servers(inner, tools, f"{METHOD}.tools")
        references = [is_registered(tool) for tool in named]
        own = inner.get("mcp_servers")
        servers = SentServers.of(tools, references, sent=len(own) if isinstance(own, list) else 0)
        return (resolved if grader is None else {**resolved, "grader": grader}), servers
