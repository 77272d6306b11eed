"""Checks a create call without creating a job, and returns every fault at once.

Files are read in a separate process, so that a large one does not block the API's event loop.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from app.database import Database
from app.files.files import NOT_READY, not_ready
from app.files.row_files import Inspections
from app.graders.kinds.multi import MAX_CHILDREN
from app.jobs.call_checks import Pace, base_model, estimate_of, inspection_request, pace_of
from app.jobs.call_faults import call_issues, called_models, readable_method
from app.jobs.creation import JobCreationService
from app.jobs.grader_tries import ROWS, GraderTries
from app.jobs.method_parts import means_method, method_of, method_type
from app.jobs.preflight import DatasetReport, EndpointCheck, PreflightReport, issue_of
from app.jobs.probes import EndpointProbes, McpListings, first_addresses
from app.jobs.readable_calls import ReadableCalls
from app.jobs.requests import JobRequest
from app.kit.callers import Tenant
from app.kit.errors import NotFound, PreflightIssue
from app.kit.fields import FieldKind
from app.models.models import BaseModelSpec, base_of, is_tuned_name, student_named, unknown_model
from app.models.service import JudgeModels
from app.tools.definition_check import no_embeddings, unknown_judge
from app.tools.mcp_listings import ALL_SENT, SentServers


@dataclass(frozen=True, slots=True)
class PreflightPorts:
    endpoints: EndpointProbes
    inspections: Inspections
    tries: GraderTries
    mcp: McpListings
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
        """Checks a create call. `new` is `None` if the call cannot be parsed. `faults` come first
        in the report, which has no other error about their parameters. `servers` are the origins
        of its MCP servers.
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
        listed = await self._ports.mcp.check(method)
        endpoints, (dataset, in_files) = await asyncio.gather(
            self._ports.endpoints.ask(probed),
            self._inspect(body, keys, base, shared_tools=listed.functions),
        )
        issues += [*listed.issues, *in_files]
        reported = {one.param for one in issues if one.severity == "error"} | faulty
        issues += await self._tried(body, dataset, reported=reported)
        issues += [
            issue for _, found in endpoints for issue in found if issue.param not in reported
        ]
        return PreflightReport(
            model=None if base is None else base.name,
            method=method_type(body),
            dataset=dataset,
            endpoints=(
                *(check for check, _ in endpoints),
                *(_as_sent(check, servers) for check in listed.endpoints),
            ),
            estimate=estimate_of(new, base, dataset, pace=await self._pace(base)),
            issues=(*faults, *_others(map(servers.issue, issues[len(faults) :]), faulty=faulty)),
        )

    async def _tried(
        self,
        body: dict[str, Any],
        dataset: DatasetReport | None,
        *,
        reported: Collection[str | None],
    ) -> list[PreflightIssue]:
        method = await asyncio.to_thread(readable_method, body)
        if method is None or dataset is None:
            return []
        return await self._ports.tries.issues(method, dataset.sample_rows, reported=reported)

    async def _with_answering_model(self, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the call with the model that answers for the student it names."""
        name = body.get("model")
        student = student_named(name) if isinstance(name, str) else None
        if student is None:
            return body
        async with self._database.tenant(self._tenant) as unit:
            answering = await unit.students.answering_model(student)
        return body if answering is None else {**body, "model": answering}

    async def _unknown_start(self, body: dict[str, Any]) -> list[PreflightIssue]:
        """Checks a call that names a tuned model as its start."""
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
        embeddings = await self._missing_embeddings(method)
        return [
            *(issue_of(unknown_judge(name, param)) for param, name in judges if name not in known),
            *(issue_of(no_embeddings(param)) for param, _ in embeddings),
        ]

    async def _missing_embeddings(self, method: dict[str, Any]) -> list[tuple[str, str]]:
        """Returns the embeddings that the call needs and the installation lacks."""
        if self._ports.judges.has_embeddings:
            return []
        return await asyncio.to_thread(_called, method, FieldKind.EMBEDDING)

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
        if row.purpose != "fine-tune":
            message = f"{param} {file_id} has purpose '{row.purpose}', but must have 'fine-tune'."
            issues.append(PreflightIssue("error", "invalid_value", message, param))
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

    async def _pace(self, base: BaseModelSpec | None) -> Pace | None:
        if base is None:
            return None
        async with self._database.tenant(self._tenant) as unit:
            return pace_of(await unit.jobs.recent_usage(base.name))


def _called(method: dict[str, Any], kind: FieldKind) -> list[tuple[str, str]]:
    """Returns the first models of a kind. For a thread, as it reads the grader."""
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
        """Returns the report on the JSON of a call; no job is made. `new` is the call as a domain
        value, or `None` if it cannot be parsed, and `faults` are those of its parsing.
        """
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
