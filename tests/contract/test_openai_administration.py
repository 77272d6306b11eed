"""Every method the unmodified client has for projects and keys of an organization.

The methods are found in the client. What is not served is named with its reason, and answers 404.
"""

import inspect
from collections.abc import Callable
from itertools import count
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from app.main import create_app
from tests.contract.calls import Args, args
from tests.contract.conftest import Service
from tests.contract.test_openai_methods import assert_whole, found_methods, invoke, method_of
from tests.contract.test_openai_permissions import Sibling
from tests.contract.test_openai_permissions import sibling as sibling  # noqa: PLC0414 - a fixture

SERVED = "/v1/organization/projects" in create_app().openapi()["paths"]
pytestmark = pytest.mark.skipif(not SERVED, reason="THE ADMINISTRATION IS NOT SERVED, NOT TESTED")

ROOTS = ("admin.organization.projects", "admin.organization.admin_api_keys")
NOT_SERVED = {
    f"admin.organization.projects.{name}": reason
    for name, reason in (
        ("certificates", "the operator's proxy ends TLS"),
        ("data_retention", "files expire as their owner says"),
        ("groups", "keys belong to projects and service accounts, not to persons"),
        ("hosted_tool_permissions", "there are no hosted tools"),
        ("model_permissions", "a checkpoint is shared by its own permissions"),
        ("rate_limits", "one limit for all projects, set by the operator"),
        ("roles", "keys belong to projects and service accounts, not to persons"),
        ("service_tier_settings", "there is one tier"),
        ("spend_alerts", "caps are set by job"),
        ("spend_limit", "caps are set by job"),
        ("users", "keys belong to projects and service accounts, not to persons"),
    )
}
METHODS = sorted(found_methods(OpenAI(api_key="none"), ROOTS))
REFUSED = [path for path in METHODS if any(path.startswith(f"{one}.") for one in NOT_SERVED)]
OFFERED = [path for path in METHODS if path not in REFUSED]
_NUMBERS = count()


def name() -> str:
    return f"made {next(_NUMBERS)}"


class Organization:
    """What the calls name; each gives something of its own to change or delete."""

    def __init__(self, client: OpenAI) -> None:
        self.projects: Any = client.admin.organization.projects
        self.keys: Any = client.admin.organization.admin_api_keys

    def project(self) -> str:
        return str(self.projects.create(name=name()).id)

    def account(self) -> Args:
        project = self.project()
        made = self.projects.service_accounts.create(project, name=name())
        return args(made.id, project_id=project)

    def key(self) -> Args:
        project = self.account().named["project_id"]
        (key,) = self.projects.api_keys.list(project).data
        return args(key.id, project_id=project)

    def admin_key(self) -> str:
        return str(self.keys.create(name=name()).id)


def ending(made: Args) -> Args:
    return Args(made.positional, made.named | {"expires_in_seconds": 60})


def renamed(made: Args) -> Args:
    return Args(made.positional, made.named | {"name": name()})


CALLS: dict[str, Callable[[Organization], Args]] = {
    "projects.create": lambda _: args(name=name()),
    "projects.retrieve": lambda one: args(one.project()),
    "projects.update": lambda one: args(one.project(), name=name()),
    "projects.list": lambda one: (one.project(), args(limit=2))[1],
    "projects.archive": lambda one: args(one.project()),
    "projects.service_accounts.create": lambda one: args(one.project(), name=name()),
    "projects.service_accounts.retrieve": Organization.account,
    "projects.service_accounts.update": lambda one: renamed(one.account()),
    "projects.service_accounts.list": lambda one: args(one.account().named["project_id"]),
    "projects.service_accounts.delete": Organization.account,
    "projects.api_keys.retrieve": Organization.key,
    "projects.service_accounts.api_keys.create": lambda one: renamed(one.account()),
    "projects.api_keys.update": lambda one: ending(one.key()),
    "projects.api_keys.list": lambda one: args(one.key().named["project_id"]),
    "projects.api_keys.delete": Organization.key,
    "admin_api_keys.create": lambda _: args(name=name()),
    "admin_api_keys.retrieve": lambda one: args(one.admin_key()),
    "admin_api_keys.list": lambda _: args(limit=2),
    "admin_api_keys.delete": lambda one: args(one.admin_key()),
}


def call_of(path: str, client: OpenAI) -> Args:
    return CALLS[path.removeprefix("admin.organization.")](Organization(client))


def options(service: Service, sibling: Sibling) -> Any:
    return {
        "base_url": service.api.base_url,
        "api_key": service.api.key,
        "admin_api_key": sibling.admin_key,
    }


@pytest.fixture
def client(service: Service, sibling: Sibling) -> OpenAI:
    return OpenAI(**options(service, sibling))


def test_every_method_has_a_call_or_a_reason() -> None:
    served = {f"admin.organization.{path}" for path in CALLS}
    assert [path for path in OFFERED if path not in served] == []
    if openai.__version__.startswith("3."):
        assert sorted(served) == OFFERED


@pytest.mark.parametrize("path", OFFERED)
def test_it_is_called(client: OpenAI, path: str) -> None:
    assert_whole(invoke(method_of(client, path), call_of(path, client)), path)


@pytest.mark.parametrize("path", OFFERED)
async def test_it_is_called_by_the_async_client(
    service: Service, sibling: Sibling, client: OpenAI, path: str
) -> None:
    async with AsyncOpenAI(**options(service, sibling)) as other:
        assert_whole(await invoke(method_of(other, path), call_of(path, client)), path)


@pytest.mark.parametrize("view", ["with_raw_response", "with_streaming_response"])
@pytest.mark.parametrize("path", OFFERED)
def test_its_answer_is_read(client: OpenAI, path: str, view: str) -> None:
    answer = invoke(method_of(client, path, view), call_of(path, client))
    if view == "with_raw_response":
        assert answer.headers["x-request-id"].startswith("req_")
        assert_whole(answer.parse(), path)
        return
    with answer as reply:
        assert reply.headers["x-request-id"].startswith("req_")
        assert_whole(reply.parse(), path)


@pytest.mark.parametrize("path", REFUSED)
def test_what_is_not_served_answers_404(client: OpenAI, path: str) -> None:
    method = method_of(client, path)
    required = {
        one.name: "x"
        for one in inspect.signature(method).parameters.values()
        if one.default is inspect.Parameter.empty
    }
    with pytest.raises(openai.NotFoundError) as raised:
        method(**required)
    assert isinstance(raised.value.body, dict)
    assert set(raised.value.body) == {"message", "type", "param", "code"}
    assert (raised.value.request_id or "").startswith("req_")


def test_a_projects_key_administers_nothing(service: Service) -> None:
    wrong = OpenAI(base_url=service.api.base_url, admin_api_key=service.api.key, max_retries=0)
    with pytest.raises(openai.PermissionDeniedError):
        wrong.admin.organization.projects.list()
