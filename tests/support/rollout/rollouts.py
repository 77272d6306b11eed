"""Builds the parts of rollouts in tests: rows, tools, a client to scripted endpoints."""

from typing import Any

from app.files.datasets import DatasetRow
from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner
from app.kit.ids import SampleKey
from app.rollouts.tool_formats import ParsedToolCall
from app.tools.tools import ToolOutcome, ToolSpec
from tests.support.endpoints import EndpointServer
from workers.environments.tool_environment import HttpTools, ToolEnvironment
from workers.journal import Journal
from workers.rollout.environment import AssistantTurn, RolloutTools, ToolReply

SECRET_KEY = "a service secret key of 32 bytes and more"
KEY = SampleKey("ftjob-1", "train", 2, 5, 1)


def egress_to(*servers: EndpointServer) -> EgressClient:
    allowed = frozenset(server.host_port for server in servers)
    return EgressClient(EgressPolicy(allowed, allow_plain_http=True))


def schema(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def row(*names: str, question: str = "What is it?", **extras: Any) -> DatasetRow:
    messages = [{"role": "user", "content": question}]
    tools = [schema(name, q="string") for name in names]
    item = {"messages": messages, "tools": tools, **extras}
    return DatasetRow(index=5, messages=messages, tools=tools, item=item)


def pool(egress: Any, *, timeout_s: float = 5.0, **kwargs: Any) -> EndpointPool:
    kwargs.setdefault("jitter", lambda: 0.01)
    return EndpointPool(egress, timeout_s=timeout_s, max_retries=3, **kwargs)


def caller(endpoints: EndpointPool, urls: dict[str, str], **extra: Any) -> HttpTools:
    signer = CallSigner(SECRET_KEY, project_id="proj_a")
    tools = tuple(
        ToolSpec.model_validate({"name": name, "server_url": url, **extra})
        for name, url in urls.items()
    )
    return HttpTools(endpoints, signer, tools)


async def call_once(
    tools: RolloutTools, call: ParsedToolCall, schemas: list[dict[str, Any]], *, journal: Journal
) -> ToolOutcome:
    """Runs the call as the first of a rollout on a row that offers `schemas`."""
    environment = ToolEnvironment(tools)
    example = DatasetRow(index=5, messages=[], tools=schemas, item={})
    await environment.reset(example, KEY, journal=journal)
    (reply,) = (await environment.step(AssistantTurn(0, "", (call,)))).replies
    assert isinstance(reply, ToolReply)
    return reply.outcome
