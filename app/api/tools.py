"""Routes of registered tools."""

from fastapi import APIRouter, Request

from app.api.schemas.common import Deleted, Page
from app.api.schemas.registry import Version
from app.api.schemas.tools import CreateTool, RunToolTest, Tool, ToolTest, UpdateTool
from app.api.support.dependencies import After, Limit, Services
from app.api.support.errors import responses
from app.api.support.registry_pages import AfterVersion, objects_page, versions_page
from app.web.hang_up import unless_client_hangs_up

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
