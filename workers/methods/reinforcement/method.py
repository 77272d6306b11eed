"""Reinforcement learning as a method. Imports no torch, so a faulty file is reported at once."""

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import Final

from app.jobs.reinforcement import (
    MAX_TOOLS,
    ReinforcementMethod,
    resolve_hyperparameters,
    resolved_options,
)
from app.jobs.response_formats import named_effort
from app.jobs.stop_options import ReinforcementStopOptions
from app.jobs.stop_rules import reward_of
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner
from app.kit.errors import RunFailed
from app.tools.mcp_listings import clashes, functions_of
from app.tools.mcp_servers import McpListing
from workers.methods.reinforcement.rows import Plan, load_rows
from workers.methods.reinforcement.step_summary import ReinforcementStepReport
from workers.runs.context import RunContext
from workers.runs.method import CheckStop, Method, PreparedRun, TrainingResult
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


def reinforcement_training(context: RunContext, method: ReinforcementMethod) -> Method:
    start_model = None if context.start is None else context.job.model
    return Method(
        report=ReinforcementStepReport(method.grader, start_model=start_model),
        stop_options=method.stop or ReinforcementStopOptions(),
        watched=reward_of(method.grader),
        prepare=lambda: _prepared(context, method),
        trained_effort=named_effort(method.hyperparameters.reasoning_effort),
    )


async def _prepared(context: RunContext, given: ReinforcementMethod) -> PreparedRun:
    loading = asyncio.create_task(
        asyncio.to_thread(import_module, "workers.methods.reinforcement.training")
    )
    listings = await new_listings(context, given)
    method = with_listings(given, listings)
    training = await training_file(context)
    train_rows = await load_rows(training, method)
    held_out = await validation_file(context)
    if held_out is None:
        raise RunFailed(
            "A validation file is required for reinforcement fine-tuning.",
            code="missing_required_parameter",
            param="validation_file",
        )
    valid_rows = await load_rows(held_out, method)
    hyperparameters = resolve_hyperparameters(
        method, train_rows=len(train_rows), base_model=context.base_model
    )
    plan = Plan(hyperparameters, len(train_rows), train_rows.slices)
    warnings = await file_warnings(
        context, training, held_out, shared_tools=tuple(functions_of(listings.values()))
    )

    async def train_prepared(reporter: Reporter, check_stop: CheckStop) -> TrainingResult:
        await loading
        if listings:  # each later run offers the same tools
            await context.in_unit(lambda unit: unit.jobs.record_listings(listings))
        from workers.methods.reinforcement.training import train  # noqa: PLC0415 - imports torch; loaded by now

        rows = (train_rows, valid_rows)
        return await train(
            context, method, plan, rows=rows, reporter=reporter, check_stop=check_stop
        )

    is_validated, stored = context.files_validated, context.job.method
    return PreparedRun(
        plan.total_steps,
        stored.with_options(resolved_options(stored.options, hyperparameters, context.base_model)),
        train_prepared,
        file_warnings=[] if is_validated else warnings,
        overlap=train_rows.prompts.overlap(valid_rows.prompts),
        warnings=warnings if is_validated else [],
    )
