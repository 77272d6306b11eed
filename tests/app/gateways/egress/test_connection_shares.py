"""A project whose endpoints never answer has its share of the connections, and no more."""

import asyncio

import pytest

from app.kit import egress_client as client_module
from app.kit.egress import EgressFailure, EgressRequest, FailureKind, ProjectEgress
from app.kit.egress_client import OF_PROJECT
from tests.support.egress.egress_clients import client_for
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.patience import PATIENCE_S, until

TRIED = 80
"""Calls of each project, more than its share."""


async def test_calls_that_hang_leave_other_organizations_their_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What is left for others is their shares alone.
    monkeypatch.setattr(client_module, "MAX_CONNECTIONS", 192)

    def never(_: ReceivedRequest) -> Reply:
        return Reply(delay_s=3600)

    async with endpoint(never) as hanging, endpoint(lambda _: Reply(json={"a": 1})) as good:
        client = client_for(hanging, good)

        def post(organization: str, project: str, url: str, timeout_s: float) -> asyncio.Task[int]:
            async def status() -> int:
                egress = ProjectEgress(client, organization, project)
                reply = await egress.send(EgressRequest(url, {}, b"{}", timeout_s))
                return reply.status

            return asyncio.create_task(status())

        hung = [
            post("first", project, hanging.url(), 3600) for project in "abc" for _ in range(TRIED)
        ]
        await until(lambda: len(hanging.received) == 2 * OF_PROJECT)
        assert await post("second", "d", good.url(), PATIENCE_S) == 200
        assert len(hanging.received) == 2 * OF_PROJECT, "the share of an organization"
        with pytest.raises(EgressFailure) as late:
            await post("first", "a", good.url(), 0.2)
        assert late.value.kind is FailureKind.TIMEOUT
        assert str(late.value) == (
            "not sent within 0.2 s: other calls of this project or its organization had every "
            "connection"
        )
        for task in hung:
            task.cancel()
        await asyncio.gather(*hung, return_exceptions=True)
        assert await post("first", "a", good.url(), PATIENCE_S) == 200
        await client.aclose()
