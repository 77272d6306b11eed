"""Routes of trial runs, which call a grader, tool or MCP server once, as training does, and of the
scenarios that a model writes.
"""

import asyncio

from fastapi import APIRouter, Request

from app.api.schemas.common import Page, object_page
from app.api.schemas.mcp_servers import (
    ImportMcpServerTools,
    McpServerTest,
    RunMcpServerTest,
)
from app.api.schemas.registry import warnings_of
from app.api.schemas.scenarios import GeneratedScenarios, GenerateScenarios
from app.api.schemas.tool_trials import RunToolRequest, ToolRun
from app.api.schemas.tools import Tool
from app.api.schemas.trials import (
    GraderRun,
    RunGraderRequest,
    ValidatedGrader,
    ValidateGraderRequest,
)
from app.api.support.dependencies import Services
from app.api.support.errors import responses
from app.web.hang_up import unless_client_hangs_up

router = APIRouter(prefix="/v1/fine_tuning/alpha", tags=["Fine-tuning"])


@router.post("/graders/run", operation_id="runGrader", responses=responses())
async def run_grader(body: RunGraderRequest, request: Request, services: Services) -> GraderRun:
    """Grades one answer, without a job."""
    # `auto` parses texts of the item, which may be as long as the body.
    grader, choice = await asyncio.to_thread(body.to_grader)
    await services.trials().check_keys(grader)
    work = services.trials().run_grader(
        grader,
        model_sample=body.model_sample,
        sample=None if body.sample is None else body.sample.sent(),
        item=body.item or {},
        trace_id=body.trace_id,
    )
    trial = await unless_client_hangs_up(request, work)
    return GraderRun.of(grader, trial.result, trial.elapsed_s, choice=choice)


@router.post("/graders/validate", operation_id="validateGrader", responses=responses())
async def validate_grader(body: ValidateGraderRequest, services: Services) -> ValidatedGrader:
    """Checks a grader's definition without running it."""
    await services.trials().check_keys(body.grader)
    shown, unused = await services.trials().validate_grader(body.grader)
    return ValidatedGrader(grader=shown, warnings=warnings_of([], unused))


@router.post("/tool/run", operation_id="runTool", responses=responses())
async def run_tool(body: RunToolRequest, request: Request, services: Services) -> ToolRun:
    """Calls a tool once, as training would."""
    trial = body.to_trial()
    outcome = await unless_client_hangs_up(request, services.trials().run_tool(trial))
    return ToolRun(
        id=trial.function_call_id,
        call_id=trial.call_id,
        output=outcome.output,
        error=outcome.error,
        attempts=outcome.attempts,
        latency_s=outcome.latency_s,
    )


@router.post("/mcp_servers/import", operation_id="importMcpServerTools", responses=responses())
async def import_mcp_tools(
    body: ImportMcpServerTools, request: Request, services: Services
) -> Page[Tool]:
    """Lists an MCP server and registers each tool that a job would offer: all of them, or none."""
    work = services.mcp_import().save(body.server, metadata=body.metadata)
    made = await unless_client_hangs_up(request, work)
    return object_page([Tool.of(tool) for tool in made], has_more=False)


@router.post("/mcp_servers/test", operation_id="testMcpServer", responses=responses())
async def run_mcp_server_test(
    body: RunMcpServerTest, request: Request, services: Services
) -> McpServerTest:
    """Lists an MCP server as a job would, calls the named tool, and checks each answer."""
    work = services.mcp_tests().test(body.server, body.to_plan())
    return McpServerTest.of(await unless_client_hangs_up(request, work))


@router.post("/scenarios/generate", operation_id="generateScenarios", responses=responses())
async def generate_scenarios(
    body: GenerateScenarios, request: Request, services: Services
) -> GeneratedScenarios:
    """Has a model write tasks for an agent with the given tools, and returns them as the rows of a
    curriculum. Nothing is stored.
    """
    work = services.trials().write_scenarios(body.to_plan())
    return GeneratedScenarios.of(await unless_client_hangs_up(request, work))
