"""The service answers under the names that the operator lists, and probes under every name."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from app.settings import HostName
from tests.support.api.application import Api

LISTED = ("rft.example.com", "*.lab.test", "::1")


OWN = ("rft.example.com", "RFT.example.com:8443", "a.b.lab.test", "[::1]:8000")
OTHER = (
    *("lab.test", "notlab.test", "rft.example.com.evil.test", "evil.test#rft.example.com"),
    *("evil.test", "[", ""),
)


async def test_requests_under_another_name_are_refused(api: Api) -> None:
    transport: Any = api.http._transport
    context = transport.app.state.context
    context.settings = context.settings.model_copy(update={"accepted_hosts": LISTED})
    for host in (*OWN, *OTHER):
        for path in ("/v1/models", "/docs/reference/", "/openapi.json"):
            reply = await api.call("GET", path, headers={"Host": host})
            assert reply.status_code == (200 if host in OWN else 400), (host, path)
            if host in OTHER:
                error = reply.json()["error"]
                assert (error["param"], error["code"]) == ("host", "host_not_accepted")
                assert reply.headers["x-request-id"].startswith("req_")
        assert (await api.call("GET", "/healthz", headers={"Host": host})).status_code == 200


async def test_without_a_list_every_name_is_taken(api: Api) -> None:
    reply = await api.call("GET", "/v1/models", headers={"Host": "evil.test"})
    assert reply.status_code == 200


@pytest.mark.parametrize("name", ["rft.example.com:8000", "https://rft.example.com", "*", ""])
def test_a_name_that_no_header_has_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(HostName).validate_python(name)
