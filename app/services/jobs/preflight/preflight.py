"""Checks a create call without creating a job, and returns every fault at once.

Owns the list of checks and the order of their issues. Files are read in a separate process, so that
a large one does not block the API's event loop. Must not know HTTP routes.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from app.domain.accounts.tenants import Tenant
from app.domain.data.files import NOT_READY, not_ready
from app.domain.documents.walk import FieldKind
from app.domain.errors import NotFound
from app.domain.faults.issues import PreflightIssue
from app.domain.graders.kinds.multi import MAX_CHILDREN
from app.domain.jobs.creation.preflight import (
    DatasetReport,
    EndpointCheck,
    PreflightReport,
    issue_of,
)
from app.domain.jobs.creation.requests import JobRequest
from app.domain.models.models import BaseModelSpec, base_of, is_tuned_name, unknown_model
from app.domain.students.students import student_named
from app.domain.tools.sent_servers import ALL_SENT, SentServers
from app.preflight.addresses import called_models
from app.preflight.call import base_model, estimate_of, inspection_request
from app.preflight.call_faults import call_issues, readable_method
from app.preflight.estimate import Pace, pace_of
from app.preflight.method_parts import means_method, method_of, method_type
from app.services.files.inspections import Inspections
from app.services.jobs.preflight.endpoint_probes import EndpointProbes, first_addresses
from app.services.jobs.preflight.grader_tries import ROWS, GraderTries
from app.services.jobs.preflight.mcp_listings import McpListings
from app.services.models.judge_models import JudgeModels
from app.services.registry.definition_check import no_embeddings, unknown_judge
from app.store.database import Database


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
        from app.preflight.dataset import inspect  # noqa: PLC0415 - tokenizers and templates

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
