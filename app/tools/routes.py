"""Routes of registered tools."""

import asyncio

from fastapi import APIRouter, Request

from app.curricula.schemas import GeneratedScenarios, GenerateScenarios
from app.http.dependencies import After, Limit, Services
from app.http.error_replies import responses
from app.http.requests import unless_client_hangs_up
from app.kit.schemas import Deleted, Page, object_page
from app.tools.environment_schemas import (
    CreateEnvironment,
    Environment,
    EnvironmentTestResult,
    RunEnvironmentTest,
    UpdateEnvironment,
)
from app.tools.registry_pages import AfterVersion, objects_page, versions_page
from app.tools.schemas import (
    CreateTool,
    ImportMcpServerTools,
    McpServerTest,
    RunMcpServerTest,
    RunToolTest,
    Tool,
    ToolTest,
    UpdateTool,
    Version,
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

router = APIRouter(prefix="/v1/tools", tags=["Tools"])


@router.post("", operation_id="createTool", responses=responses())
async def create_tool(body: CreateTool, services: Services) -> Tool:
    """Registers a tool, as version 1."""
    sent = body.model_dump(exclude_unset=True)
    return Tool.of(await services.tools().create(sent))


@router.get("", operation_id="listTools", responses=responses())
async def list_tools(services: Services, after: After = None, limit: Limit = 20) -> Page[Tool]:
    """Lists objects, newest first, each in its newest version."""
    return objects_page(Tool.of, await services.tools().page(after=after, limit=limit))


@router.get("/{tool_id}", operation_id="retrieveTool", responses=responses(404))
async def get_tool(tool_id: str, services: Services, version: Version = None) -> Tool:
    """Returns a tool, in its newest version unless `version` is sent."""
    return Tool.of(await services.tools().get(tool_id, version=version))


@router.get("/{tool_id}/versions", operation_id="listToolVersions", responses=responses(404))
async def list_tool_versions(
    tool_id: str, services: Services, after: AfterVersion = None, limit: Limit = 20
) -> Page[Tool]:
    """Lists versions, newest first."""
    found = await services.tools().versions(tool_id, before=after, limit=limit)
    return versions_page(Tool.of, found)


@router.post("/{tool_id}", operation_id="updateTool", responses=responses(404))
async def update_tool(tool_id: str, body: UpdateTool, services: Services) -> Tool:
    """Makes a new version; jobs and earlier versions do not change."""
    sent = body.model_dump(exclude_unset=True)
    return Tool.of(await services.tools().update(tool_id, sent))


@router.delete("/{tool_id}", operation_id="deleteTool", responses=responses(404))
async def delete_tool(tool_id: str, services: Services) -> Deleted:
    """Deletes a tool with all its versions. Jobs keep the definition that they were made with."""
    await services.tools().delete(tool_id)
    return Deleted(id=tool_id, object="tool", deleted=True)


@router.post("/{tool_id}/test", operation_id="testTool", responses=responses(404))
async def run_tool_test(
    request: Request, tool_id: str, services: Services, body: RunToolTest | None = None
) -> ToolTest:
    """Calls the tool's endpoint, for at most a minute, and checks each answer."""
    work = services.tools().test(tool_id, (body or RunToolTest()).to_plan())
    return ToolTest.of(await unless_client_hangs_up(request, work))


environments_router = APIRouter(prefix="/v1/environments", tags=["Environments"])


@environments_router.post("", operation_id="createEnvironment", responses=responses())
async def create_environment(body: CreateEnvironment, services: Services) -> Environment:
    """Registers an environment, as version 1."""
    unread = unread_keys(body, Environment)
    return Environment.of(await services.environments().create(body.known_keys()), unread)


@environments_router.get("", operation_id="listEnvironments", responses=responses())
async def list_environments(
    services: Services, after: After = None, limit: Limit = 20
) -> Page[Environment]:
    """Lists objects, newest first, each in its newest version."""
    return objects_page(
        Environment.of, await services.environments().page(after=after, limit=limit)
    )


@environments_router.get(
    "/{environment_id}", operation_id="retrieveEnvironment", responses=responses(404)
)
async def get_environment(
    environment_id: str, services: Services, version: Version = None
) -> Environment:
    """Returns an environment, in its newest version unless `version` is sent."""
    return Environment.of(await services.environments().get(environment_id, version=version))


@environments_router.get(
    "/{environment_id}/versions", operation_id="listEnvironmentVersions", responses=responses(404)
)
async def list_environment_versions(
    environment_id: str, services: Services, after: AfterVersion = None, limit: Limit = 20
) -> Page[Environment]:
    """Lists versions, newest first."""
    found = await services.environments().versions(environment_id, before=after, limit=limit)
    return versions_page(Environment.of, found)


@environments_router.post(
    "/{environment_id}", operation_id="updateEnvironment", responses=responses(404)
)
async def update_environment(
    environment_id: str, body: UpdateEnvironment, services: Services
) -> Environment:
    """Makes a new version; jobs and earlier versions do not change."""
    unread = unread_keys(body, Environment)
    changed = await services.environments().update(environment_id, body.known_keys())
    return Environment.of(changed, unread)


@environments_router.delete(
    "/{environment_id}", operation_id="deleteEnvironment", responses=responses(404)
)
async def delete_environment(environment_id: str, services: Services) -> Deleted:
    """Deletes an environment with all its versions. Jobs keep the definition that they were made
    with.
    """
    await services.environments().delete(environment_id)
    return Deleted(id=environment_id, object="environment", deleted=True)


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
    work = services.environments().test(environment_id, (body or RunEnvironmentTest()).to_plan())
    return EnvironmentTestResult.of(await unless_client_hangs_up(request, work))


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
    return ToolRun(
        id=trial.function_call_id,
        call_id=trial.call_id,
        output=outcome.output,
        error=outcome.error,
        attempts=outcome.attempts,
        latency_s=outcome.latency_s,
    )


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
    work = services.mcp_tests().test(body.server, body.to_plan())
    return McpServerTest.of(await unless_client_hangs_up(request, work))


@trials_router.post("/scenarios/generate", operation_id="generateScenarios", responses=responses())
async def generate_scenarios(
    body: GenerateScenarios, request: Request, services: Services
) -> GeneratedScenarios:
    """Has a model write tasks for an agent with the given tools, and returns them as the rows of a
    curriculum. Nothing is stored.
    """
    work = services.trials().write_scenarios(body.to_plan())
    return GeneratedScenarios.of(await unless_client_hangs_up(request, work))
