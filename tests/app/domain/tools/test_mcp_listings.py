"""Conflicts between the tools of a job, each with a cure that works."""

from app.tools.mcp_listings import clashes
from app.tools.mcp_servers import McpResource, McpTool, reading_tool
from tests.support.cases import cases

RESOURCE = McpResource(uri="file:///a", name="A")
OWN = McpTool(name="read_docs", description="Reads.", input_schema_json="{}")


@cases(
    ("tool", "param", "cure"),
    [
        (reading_tool("docs", [RESOURCE]), "resources", "Give the server another label"),
        (OWN, "allowed_tools", "with 'allowed_tools'"),
    ],
    ids=["added", "listed"],
)
def test_a_clash_names_what_leaves_the_tool_out(tool: McpTool, param: str, cure: str) -> None:
    (fault,) = clashes([("docs", [tool])], ["read_docs"], most=128)
    assert fault.code == "duplicate_tool"
    assert fault.param.endswith(f"mcp_servers[0].{param}")
    assert cure in fault.message
