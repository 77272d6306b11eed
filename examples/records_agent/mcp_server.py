"""The example agent's two tools as an MCP server.

Owns the protocol side: the tools are listed with their schemas, and a mistake of the model is a
result with `isError`. Run it as `python -m examples.records_agent.mcp_server --port 0`; it prints
{"url": …} once it listens. A job names it in `method.reinforcement.mcp_servers`, and its rows need
no `tools`. It needs the package `mcp`.
"""

from __future__ import annotations

import argparse
import json
import socket
from typing import Any

import uvicorn
from mcp.server import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from examples.records_agent.records import STORE_SEED, Catalogue, build_catalogue
from examples.records_agent.tools import ERROR, SCHEMAS, call_tool


def build_server(catalogue: Catalogue) -> Server[Any]:
    """The catalogue never changes, so the server needs no session and no state."""

    async def list_tools(_: Any, __: PaginatedRequestParams | None) -> ListToolsResult:
        functions = [schema["function"] for schema in SCHEMAS]
        return ListToolsResult(
            tools=[
                Tool(
                    name=function["name"],
                    description=function["description"],
                    input_schema=function["parameters"],
                )
                for function in functions
            ]
        )

    async def call(_: Any, params: CallToolRequestParams) -> CallToolResult:
        # The rollout's id is in `_meta` as "agent-rft/rollout-id", for servers that keep state.
        output = call_tool(catalogue, params.name, json.dumps(params.arguments or {}))
        return CallToolResult(content=[TextContent(text=output)], is_error=output.startswith(ERROR))

    return Server("records", on_list_tools=list_tools, on_call_tool=call)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8901)
    parser.add_argument("--store-seed", type=int, default=STORE_SEED)
    options = parser.parse_args()
    server = build_server(build_catalogue(options.store_seed))
    with socket.create_server((options.host, options.port)) as listener:
        port = listener.getsockname()[1]
        print(json.dumps({"url": f"http://{options.host}:{port}/mcp"}), flush=True)
        application = server.streamable_http_app(json_response=True, stateless_http=True)
        uvicorn.Server(uvicorn.Config(application, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
