"""Checks a create call without creating a job, and returns every fault at once. Files are read in
a separate process, so that a large one does not block the event loop.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from pydantic import ValidationError

from app.curricula.curricula import CURRICULUM_SPLITS
from app.database import Database
from app.files.files import NOT_READY, TRAINING, not_ready, wrong_purpose
from app.files.row_files import Inspections
from app.graders.choice import GraderChoice
from app.graders.kinds.multi import MAX_CHILDREN
from app.jobs.call_checks import (
    Pace,
    base_model,
    call_issues,
    called_models,
    estimate_of,
    inspection_request,
    pace_of,
    readable_method,
)
from app.jobs.creation import METHOD, JobCreationService, RegisteredReferences
from app.jobs.jobs import JobRequest
from app.jobs.methods import means_method, method_of, method_type, reinforcement_of
from app.jobs.preflight import DatasetReport, EndpointCheck, PreflightReport, issue_of
from app.jobs.probes import ROWS, EndpointProbes, GraderTries, first_addresses
from app.jobs.reinforcement import MAX_TOOLS
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound, PreflightIssue
from app.kit.fields import FieldKind, value_of
from app.models.models import BaseModelSpec, base_of, is_tuned_name, student_named, unknown_model
from app.models.service import JudgeModels
from app.tools.definition_check import no_embeddings, unknown_judge
from app.tools.environments import built_in
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
    """Returns a part as a reference if it is a valid one, else unchanged."""
    try:
        return read(sent) or sent
    except ValidationError:
        return sent


def with_servers(inner: dict[str, Any], tools: list[Any], root: str) -> dict[str, Any]:
    """Splits tools at `root` from MCP servers. Raises `InvalidRequest` for equal labels."""
    own, served = by_server(tools)
    if not served:
        return {**inner, "tools": tools}
    sent = inner.get("mcp_servers")
    before = sent if isinstance(sent, list) else []
    labels = [value_of(server, LABEL) for server in before]
    for fault in label_clashes(tools, root, beside=labels):
        raise fault
    return {**inner, "tools": own, "mcp_servers": [*before, *served]}


@dataclass(frozen=True, slots=True)
class ReadableCall:
    body: dict[str, Any]
    grader_choice: GraderChoice | None
    fault: InvalidRequest | None
    warnings: tuple[PreflightIssue, ...] = ()
    servers: SentServers = ALL_SENT


class ReadableCalls:
    def __init__(self, references: RegisteredReferences) -> None:
        self._references = references

    @asynccontextmanager
    async def readable(
        self, body: dict[str, Any], request: JobRequest | None
    ) -> AsyncIterator[ReadableCall]:
        """Yields, for a read-only block, the call with its references resolved, or as sent with the
        first error. Files that were written for the block are deleted. Invalid references are
        unchanged: parsing reports them. `request` is `None` if the call cannot be parsed.
        """
        made: list[str] = []
        try:
            try:
                resolved, servers = await self._readable(body, made)
            except InvalidRequest as error:
                call = ReadableCall(body, None, error)
            else:
                call = ReadableCall(resolved, None, None, servers=servers)
                if request is not None and request.curriculum is not None:
                    files = (resolved.get(f"{split}_file") for split in CURRICULUM_SPLITS)
                    try:
                        request.required_files(*files)
                    except InvalidRequest as error:
                        call = replace(call, fault=error)
            yield await self._with_choice(call)
        finally:
            await self._references.discard(made)

    async def _with_choice(self, call: ReadableCall) -> ReadableCall:
        from app.jobs.dataset_checks import auto_of, choice_warnings, with_grader  # noqa: PLC0415 - a create call needs none

        auto = auto_of(call.body)
        training, validation = (call.body.get(f"{split}_file") for split in CURRICULUM_SPLITS)
        if auto is None or not isinstance(training, str):
            return call
        response_format = reinforcement_of(method_of(call.body)).get("response_format")
        try:
            choice = await self._references.choose(
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
        sent = None if named else body.get("curriculum")
        source: SentCurriculum | None = None
        with suppress(ValidationError):  # parsing reports it
            source = None if sent is None else read_curriculum(sent)
        if source is not None:
            resolved.update(await self._references.files(source, made))
        return await self._with_environment(resolved, made), servers

    async def _with_environment(self, body: dict[str, Any], made: list[str]) -> dict[str, Any]:
        from app.jobs.dataset_checks import environment_of, with_environment_grader  # noqa: PLC0415 - a create call needs none

        environment = environment_of(body)
        if environment is None:
            return body
        body = with_environment_grader(body, environment)
        source = built_in(environment)
        if source is None or any(
            body.get(name) is not None for name in ("training_file", "validation_file")
        ):
            return body
        return {**body, **await self._references.environment_files(source, made)}

    async def _readable_method(self, inner: dict[str, Any]) -> tuple[dict[str, Any], SentServers]:
        sent = inner.get("tools")
        listed = sent if isinstance(sent, list) and len(sent) <= MAX_TOOLS else None
        named = [reference_or(tool, read_tool_reference) for tool in listed or ()]
        tools, grader = await self._references.definitions(
            named, reference_or(inner.get("grader"), read_grader_reference)
        )
        environment = await self._references.environment(
            reference_or(inner.get("environment"), read_environment_reference)
        )
        inner = inner if environment is None else {**inner, "environment": environment}
        resolved = {**inner} if listed is None else with_servers(inner, tools, f"{METHOD}.tools")
        references = [is_registered(tool) for tool in named]
        own = inner.get("mcp_servers")
        servers = SentServers.of(tools, references, sent=len(own) if isinstance(own, list) else 0)
        return (resolved if grader is None else {**resolved, "grader": grader}), servers


@dataclass(frozen=True, slots=True)
class PreflightPorts:
    probes: EndpointProbes
    inspections: Inspections
    tries: GraderTries
    judges: JudgeModels
    base_models: tuple[BaseModelSpec, ...]


class PreflightService:
    def __init__(self, database: Database, ports: PreflightPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def check(
        self,
        body: dict[str, Any],
        new: JobRequest | None,
        faults: Sequence[PreflightIssue],
        *,
        servers: SentServers = ALL_SENT,
    ) -> PreflightReport:
        """`new` is `None` if the call cannot be parsed. `faults` come first in the report, which
        has no other error about their parameters. `servers` are the origins of MCP servers.
        """
        body = await self._with_answering_model(body)
        issues = list(faults)
        faulty = {fault.param for fault in faults if fault.severity == "error"}
        base = base_model(body, self._ports.base_models, issues)
        issues += await self._unknown_start(body)
        method = method_of(body)
        reported = {issue.param for issue in issues}
        issues += await asyncio.to_thread(call_issues, body, base, reported=reported)
        issues += await self._missing_models(method)
        keys = [
            await self._object_key(body, param, issues)
            for param in ("training_file", "validation_file")
        ]
        probed = await asyncio.to_thread(first_addresses, method, issues)
        listed = await self._ports.probes.listed(method)
        endpoints, (dataset, in_files) = await asyncio.gather(
            self._ports.probes.ask(probed),
            self._inspect(body, keys, base, shared_tools=listed.functions),
        )
        issues += [*listed.issues, *in_files]
        reported = {one.param for one in issues if one.severity == "error"} | faulty
        issues += [one for _, found in endpoints for one in found if one.param not in reported]
        reported |= {one.param for _, found in endpoints for one in found}
        readable = await asyncio.to_thread(readable_method, body)
        if readable is not None and dataset is not None:
            issues += await self._ports.tries.issues(
                readable, dataset.sample_rows, reported=reported
            )
        pace: Pace | None = None
        if base is not None:
            async with self._database.tenant(self._tenant) as unit:
                pace = pace_of(await unit.jobs.recent_usage(base.name))
        return PreflightReport(
            model=None if base is None else base.name,
            method=method_type(body),
            dataset=dataset,
            endpoints=(
                *(check for check, _ in endpoints),
                *(_as_sent(check, servers) for check in listed.endpoints),
            ),
            estimate=estimate_of(new, base, dataset, pace=pace),
            issues=(*faults, *_others(map(servers.issue, issues[len(faults) :]), faulty=faulty)),
        )

    async def _with_answering_model(self, body: dict[str, Any]) -> dict[str, Any]:
        name = body.get("model")
        student = student_named(name) if isinstance(name, str) else None
        if student is None:
            return body
        async with self._database.tenant(self._tenant) as unit:
            version = await unit.students.answering(student)
        return body if version is None else {**body, "model": version.model}

    async def _unknown_start(self, body: dict[str, Any]) -> list[PreflightIssue]:
        name = body.get("model")
        if not isinstance(name, str) or not is_tuned_name(name):
            return []
        if base_of(self._ports.base_models, name) is None:
            return []  # reported already
        async with self._database.tenant(self._tenant) as unit:
            if await unit.models.get(name) is not None:
                return []
        message = unknown_model(name, self._ports.base_models)
        return [PreflightIssue("error", "model_not_available", message, "model")]

    async def _missing_models(self, method: dict[str, Any]) -> list[PreflightIssue]:
        judges = await asyncio.to_thread(_called, method, FieldKind.JUDGE)
        models = self._ports.judges
        known = {name for name in {name for _, name in judges} if await models.knows(name)}
        embeddings = list[tuple[str, str]]()
        if not models.has_embeddings:
            embeddings = await asyncio.to_thread(_called, method, FieldKind.EMBEDDING)
        return [
            *(issue_of(unknown_judge(name, param)) for param, name in judges if name not in known),
            *(issue_of(no_embeddings(param)) for param, _ in embeddings),
        ]

    async def _object_key(
        self, body: dict[str, Any], param: str, issues: list[PreflightIssue]
    ) -> str | None:
        file_id = body.get(param)
        if not isinstance(file_id, str):
            return None
        try:
            async with self._database.tenant(self._tenant) as unit:
                row = await unit.files.get(file_id)
        except NotFound:
            message = f"{param} {file_id} does not exist."
            issues.append(PreflightIssue("error", "file_not_found", message, param))
            return None
        if row.status == NOT_READY:
            issues.append(issue_of(not_ready(file_id, param)))
            return None
        if row.purpose != TRAINING:
            issues.append(issue_of(wrong_purpose(file_id, row.purpose, param)))
            return None
        return row.object_key

    async def _inspect(
        self,
        body: dict[str, Any],
        keys: list[str | None],
        base: BaseModelSpec | None,
        *,
        shared_tools: tuple[dict[str, Any], ...],
    ) -> tuple[DatasetReport | None, tuple[PreflightIssue, ...]]:
        from app.jobs.dataset_checks import inspect  # noqa: PLC0415 - tokenizers and templates

        if keys == [None, None] or not means_method(body):
            return None, ()
        async with self._ports.inspections.copies(keys) as (training, validation):
            # On a thread: reading a grader may compute the cost of a large schema.
            request = await asyncio.to_thread(
                inspection_request,
                body,
                base,
                training=training,
                validation=validation,
                sample_rows=ROWS,
                shared_tools=shared_tools,
            )
            report = await self._ports.inspections.run(self._tenant, inspect, request)
        return report, report.issues


def _called(method: dict[str, Any], kind: FieldKind) -> list[tuple[str, str]]:
    return list(islice(called_models(method, kind), MAX_CHILDREN))


def _as_sent(check: EndpointCheck, servers: SentServers) -> EndpointCheck:
    param, detail = servers.as_sent(check.param, check.detail or "")
    return replace(check, param=param or check.param, detail=detail if check.detail else None)


def _others(issues: Iterable[PreflightIssue], *, faulty: set[str | None]) -> list[PreflightIssue]:
    """Drops errors about parameters that already have one; errors of rows have a line."""
    return [
        issue
        for issue in issues
        if issue.severity == "warning" or issue.line is not None or issue.param not in faulty
    ]


@dataclass(frozen=True, slots=True)
class CallCheck:
    readable: ReadableCalls
    creation: JobCreationService
    preflight: PreflightService

    async def report(
        self, body: dict[str, Any], new: JobRequest | None, faults: Sequence[PreflightIssue]
    ) -> PreflightReport:
        async with self.readable.readable(body, new) as call:
            refusal = call.fault
            if new is not None:
                new = new.with_grader(call.grader_choice)
                if refusal is None:
                    refusal = await self.creation.refusal(new.with_files(call.body))
            known = {fault.param for fault in faults if new is None}
            found = [] if refusal is None or refusal.param in known else [issue_of(refusal)]
            # The first error is the one that a create call answers with.
            issues = [*faults, *found] if new is None else [*found, *faults]
            report = await self.preflight.check(
                call.body, new, [*issues, *call.warnings], servers=call.servers
            )
            return replace(report, grader_choice=call.grader_choice)
