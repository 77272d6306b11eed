"""Clients of the guarded egress, with the servers that a test allows."""

import pytest

from app.kit.egress import EgressFailure, EgressPolicy, EgressReply, EgressRequest, FailureKind
from app.kit.egress_client import EgressClient
from tests.support.endpoints import EndpointServer
from tests.support.patience import PATIENCE_S


def client_for(*servers: EndpointServer, **kwargs: object) -> EgressClient:
    allowed = frozenset(server.host_port for server in servers)
    policy = EgressPolicy(allow_endpoints=allowed, allow_plain_http=True)
    return EgressClient(policy, **kwargs)  # type: ignore[arg-type]  # mypy cannot match a dict to the keywords


async def post(client: EgressClient, url: str, *, timeout_s: float = PATIENCE_S) -> EgressReply:
    return await client.send(EgressRequest(url, {"Authorization": "k"}, b"{}", timeout_s))


async def kind_of(client: EgressClient, url: str, *, timeout_s: float = PATIENCE_S) -> FailureKind:
    with pytest.raises(EgressFailure) as caught:
        await post(client, url, timeout_s=timeout_s)
    return caught.value.kind
