"""Reinforcement learning as a training method. Imports no torch, so that a faulty file is reported
at once. A thread imports the training module, which takes seconds, while the files are checked.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final

from app.files.datasets import Overlap
from app.jobs.methods import StoredMethod
from app.jobs.reinforcement import (
    MAX_TOOLS,
    ReinforcementMethod,
    resolve_hyperparameters,
    resolved_options,
)
from app.jobs.response_formats import named_effort
from app.jobs.stop_options import ReinforcementStopOptions, StopOptions
from app.jobs.stop_rules import ObjectiveCurves, reward_of
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner
from app.kit.errors import RunFailed
from app.tools.mcp_listings import clashes, functions_of
from app.tools.mcp_servers import McpListing
from workers.methods.reinforcement.rows import Plan, RowFile, load_rows
from workers.methods.reinforcement.step_summary import ReinforcementStepReport
from workers.runs.context import RunContext
from workers.runs.method import CheckStop, TrainingResult
from workers.runs.opening import file_warnings, training_file, validation_file
from workers.runs.reporter import Reporter

LISTING_LIMIT_S: Final = 120.0
"""Deadline of the listing of a server, all pages with their retries."""


async def new_listings(
    context: RunContext, method: ReinforcementMethod
) -> Mapping[int, McpListing]:
    """Lists the servers whose tools the job does not have yet. Raises `RunFailed`."""
    unlisted = [index for index, server in enumerate(method.mcp_servers) if server.listing is None]
    if not unlisted:
        return {}
    from app.tools.mcp_discovery import list_job_tools  # noqa: PLC0415 - its library takes a second

    egress = context.settings.egress
    endpoints = EndpointPool(
        context.egress,
        timeout_s=min(LISTING_LIMIT_S, egress.call_timeout_s),
        max_retries=egress.max_retries,
    )
    signer = CallSigner(*context.settings.secret_keys, project_id=context.job.project_id)
    found = await asyncio.gather(
        *(
            list_job_tools(
                method.mcp_servers[index], index, endpoints, signer, within_s=LISTING_LIMIT_S
            )
            for index in unlisted
        )
    )
    for one in found:
        for fault in one.faults:
            raise RunFailed(fault.message, code=fault.code, param=fault.param)
    listings = {
        index: one.listing for index, one in zip(unlisted, found, strict=True) if one.listing
    }
    tools = [
        (server.server_label, () if server.listing is None else server.listing.tools)
        for server in with_listings(method, listings).mcp_servers
    ]
    for fault in clashes(tools, (tool.name for tool in method.tools), most=MAX_TOOLS):
        raise RunFailed(fault.message, code=fault.code, param=fault.param)
    return listings


def with_listings(
    method: ReinforcementMethod, listings: Mapping[int, McpListing]
) -> ReinforcementMethod:
    servers = tuple(
        server.model_copy(update={"listing": listings[index]}) if index in listings else server
        for index, server in enumerate(method.mcp_servers)
    )
    return method.model_copy(update={"mcp_servers": servers})


@dataclass(frozen=True, slots=True)
class PreparedReinforcement:
    context: RunContext
    method: ReinforcementMethod
    plan: Plan
    train_rows: RowFile
    valid_rows: RowFile
    loading: asyncio.Task[None]
    file_warnings: Sequence[str] = ()
    warnings: Sequence[str] = ()
    listings: Mapping[int, McpListing] = field(default_factory=dict)
    """New listings by the position of the MCP server; later runs read them in the job."""

    @property
    def total_steps(self) -> int:
        return self.plan.total_steps

    @property
    def overlap(self) -> Overlap:
        return self.train_rows.prompts.overlap(self.valid_rows.prompts)

    @property
    def resolved_method(self) -> StoredMethod:
        stored, hyperparameters = self.context.job.method, self.plan.hyperparameters
        return stored.with_options(
            resolved_options(stored.options, hyperparameters, self.context.base_model)
        )

    async def train(self, reporter: Reporter, *, check_stop: CheckStop) -> TrainingResult:
        await self.loading
        if self.listings:  # each later run offers the same tools
            await self.context.in_unit(lambda unit: unit.jobs.record_listings(self.listings))
        from workers.methods.reinforcement.training import train  # noqa: PLC0415 - imports torch; loaded by now

        return await train(
            self.context,
            self.method,
            self.plan,
            rows=(self.train_rows, self.valid_rows),
            reporter=reporter,
            check_stop=check_stop,
        )


class ReinforcementTraining:
    def __init__(self, context: RunContext, method: ReinforcementMethod) -> None:
        self._context = context
        self._method = method
        self.report = ReinforcementStepReport(
            method.grader, start_model=None if context.start is None else context.job.model
        )

    @property
    def stop_options(self) -> StopOptions:
        return self._method.stop or ReinforcementStopOptions()

    @property
    def watched(self) -> ObjectiveCurves:
        return reward_of(self._method.grader)

    @property
    def trained_effort(self) -> str | None:
        return named_effort(self._method.hyperparameters.reasoning_effort)

    async def prepare(self) -> PreparedReinforcement:
        loading = asyncio.create_task(
            asyncio.to_thread(import_module, "workers.methods.reinforcement.training")
        )
        listings = await new_listings(self._context, self._method)
        method = with_listings(self._method, listings)
        training = await training_file(self._context)
        train_rows = await load_rows(training, method)
        held_out = await validation_file(self._context)
        if held_out is None:
            raise RunFailed(
                "A validation file is required for reinforcement fine-tuning.",
                code="missing_required_parameter",
                param="validation_file",
            )
        valid_rows = await load_rows(held_out, method)
        hyperparameters = resolve_hyperparameters(
            method, train_rows=len(train_rows), base_model=self._context.base_model
        )
        plan = Plan(hyperparameters, len(train_rows))
        warnings = await file_warnings(
            self._context, training, held_out, shared_tools=tuple(functions_of(listings.values()))
        )
        is_validated = self._context.files_validated
        return PreparedReinforcement(
            self._context,
            method,
            plan,
            train_rows,
            valid_rows,
            loading,
            file_warnings=[] if is_validated else warnings,
            warnings=warnings if is_validated else [],
            listings=listings,
        )
