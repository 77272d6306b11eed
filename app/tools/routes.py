"""Routes of registered tools."""

import asyncio

from fastapi import APIRouter, Request

from app.curricula.scenarios import GenerateScenarios
from app.curricula.schemas import GeneratedScenarios
from app.http.dependencies import Services
from app.http.error_replies import responses
from app.http.requests import unless_client_hangs_up
from app.kit.schemas import Page, object_page
from app.tools.registry_routes import add_registry_routes
from app.tools.schemas import (
    CreateEnvironment,
    CreateTool,
    Environment,
    EnvironmentTestResult,
    ImportMcpServerTools,
    McpServerTest,
    RunEnvironmentTest,
    RunMcpServerTest,
    RunToolTest,
    Tool,
    ToolTest,
    UpdateEnvironment,
    UpdateTool,
    unread_keys,
    warnings_of,
)
from app.tools.trial_schemas import (
    GraderRun,
    RunGraderRequest,
    RunToolRequest,
    ToolRun,
    ValidatedGrader,
    ValidateGraderRequest,
)
from app.wiring import Factory

router = APIRouter(prefix="/v1/tools", tags=["Tools"])


@router.post("", operation_id="createTool", responses=responses())
async def create_tool(body: CreateTool, services: Services) -> Tool:
    """Registers a tool, as version 1."""
    sent = body.model_dump(exclude_unset=True)
    return Tool.of(await services.tools().create(sent))


async def update_tool(tool_id: str, body: UpdateTool, services: Services) -> Tool:
    """Makes a new version; jobs and earlier versions do not change."""
    sent = body.model_dump(exclude_unset=True)
    return Tool.of(await services.tools().update(tool_id, sent))


add_registry_routes(
    router, Tool, Tool.of, Factory.tools, update_tool, nouns=("tool", "a tool", "tools")
)


@router.post("/{tool_id}/test", operation_id="testTool", responses=responses(404))
async def run_tool_test(
    request: Request, tool_id: str, services: Services, body: RunToolTest | None = None
) -> ToolTest:
    """Calls the tool's endpoint, for at most a minute, and checks each answer."""
    work = services.tools().test(tool_id, body or RunToolTest())
    return await unless_client_hangs_up(request, work)


environments_router = APIRouter(prefix="/v1/environments", tags=["Environments"])


@environments_router.post("", operation_id="createEnvironment", responses=responses())
async def create_environment(body: CreateEnvironment, services: Services) -> Environment:
    """Registers an environment, as version 1."""
    unread = unread_keys(body, Environment)
    return Environment.of(await services.environments().create(body.known_keys()), unread)


async def update_environment(
    environment_id: str, body: UpdateEnvironment, services: Services
) -> Environment:
    """Makes a new version; jobs and earlier versions do not change."""
    unread = unread_keys(body, Environment)
    changed = await services.environments().update(environment_id, body.known_keys())
    return Environment.of(changed, unread)


add_registry_routes(
    environments_router,
    Environment,
    Environment.of,
    Factory.environments,
    update_environment,
    nouns=("environment", "an environment", "environments"),
    deleting=" with all its versions. Jobs keep the definition that they were made\nwith.",
)


@environments_router.post(
    "/{environment_id}/test", operation_id="testEnvironment", responses=responses(404)
)
async def run_environment_test(
    request: Request,
    environment_id: str,
    services: Services,
    body: RunEnvironmentTest | None = None,
) -> EnvironmentTestResult:
    """Plays an episode of one turn, in four calls of ten seconds at most, and checks it."""
    work = services.environments().test(environment_id, body or RunEnvironmentTest())
    return await unless_client_hangs_up(request, work)


trials_router = APIRouter(prefix="/v1/fine_tuning/alpha", tags=["Fine-tuning"])


@trials_router.post("/graders/run", operation_id="runGrader", responses=responses())
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


@trials_router.post("/graders/validate", operation_id="validateGrader", responses=responses())
async def validate_grader(body: ValidateGraderRequest, services: Services) -> ValidatedGrader:
    """Checks a grader's definition without running it."""
    await services.trials().check_keys(body.grader)
    shown, unused = await services.trials().validate_grader(body.grader)
    return ValidatedGrader(grader=shown, warnings=warnings_of([], unused))


@trials_router.post("/tool/run", operation_id="runTool", responses=responses())
async def run_tool(body: RunToolRequest, request: Request, services: Services) -> ToolRun:
    """Calls a tool once, as training would."""
    trial = body.to_trial()
    outcome = await unless_client_hangs_up(request, services.trials().run_tool(trial))
    return ToolRun.read(outcome, id=trial.function_call_id, call_id=trial.call_id)


@trials_router.post(
    "/mcp_servers/import", operation_id="importMcpServerTools", responses=responses()
)
async def import_mcp_tools(
    body: ImportMcpServerTools, request: Request, services: Services
) -> Page[Tool]:
    """Lists an MCP server and registers each tool that a job would offer: all of them, or none."""
    work = services.mcp_import().save(body.server, metadata=body.metadata)
    made = await unless_client_hangs_up(request, work)
    return object_page([Tool.of(tool) for tool in made], has_more=False)


@trials_router.post("/mcp_servers/test", operation_id="testMcpServer", responses=responses())
async def run_mcp_server_test(
    body: RunMcpServerTest, request: Request, services: Services
) -> McpServerTest:
    """Lists an MCP server as a job would, calls the named tool, and checks each answer."""
    return await unless_client_hangs_up(request, services.mcp_tests().test(body))


@trials_router.post("/scenarios/generate", operation_id="generateScenarios", responses=responses())
async def generate_scenarios(
    body: GenerateScenarios, request: Request, services: Services
) -> GeneratedScenarios:
    """Has a model write tasks for an agent with the given tools, and returns them as the rows of a
    curriculum. Nothing is stored.
    """
    work = services.trials().write_scenarios(body)
    return GeneratedScenarios.of(await unless_client_hangs_up(request, work))
