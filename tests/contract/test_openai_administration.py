"""An organization administered with the unmodified official client.

Every method it has for projects and keys is called; the methods are found in the client. A method
that is not served is named with its reason, and answers 404. Then whole lives: keys change hands,
projects end, and another organization finds nothing.
"""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai import (
    AsyncOpenAI,
    AuthenticationError,
    BadRequestError,
    NotFoundError,
    OpenAI,
    PermissionDeniedError,
)
from openai.resources.admin.organization.projects.api_keys import APIKeys

from tests.support.contract.administration import (
    CALLS,
    NOT_SERVED,
    ROOTS,
    Keys,
    OrganizationBuilder,
    admin_keys_of,
    client_of,
    copies,
    every,
)
from tests.support.contract.calls import Args
from tests.support.contract.client_methods import assert_whole, found_methods, invoke, method_of
from tests.support.contract.service import ROW, Service

METHODS = sorted(found_methods(OpenAI(api_key="none"), ROOTS))
REFUSED = [
    path for path in METHODS if any(f"{path}.".startswith(f"{prefix}.") for prefix in NOT_SERVED)
]
OFFERED = [path for path in METHODS if path not in REFUSED]
needs_ends = pytest.mark.skipif(
    not hasattr(APIKeys, "update"), reason="this client has no method for the end of a key"
)


@pytest.fixture(scope="module")
def keys(service: Service) -> Keys:
    return asyncio.run(admin_keys_of(service.database.settings))


@pytest.fixture
def admin(service: Service, keys: Keys) -> OpenAI:
    return client_of(service, keys.first)


@pytest.fixture
def project(admin: OpenAI, request: pytest.FixtureRequest) -> str:
    return admin.admin.organization.projects.create(name=request.node.name).id


def call_of(path: str, client: OpenAI) -> Args:
    return CALLS[path.removeprefix("admin.organization.")](OrganizationBuilder(client))


def options(service: Service, keys: Keys) -> Any:
    return {
        "base_url": service.api.base_url,
        "api_key": service.api.key,
        "admin_api_key": keys.first,
    }


@pytest.fixture
def client(service: Service, keys: Keys) -> OpenAI:
    return OpenAI(**options(service, keys), http_client=service.http)


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
    service: Service, keys: Keys, client: OpenAI, path: str
) -> None:
    async with AsyncOpenAI(**options(service, keys)) as other:
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
        parameter.name: "x"
        for parameter in inspect.signature(method).parameters.values()
        if parameter.default is inspect.Parameter.empty
    }
    with pytest.raises(NotFoundError) as raised:
        method(**required)
    assert raised.value.type == "invalid_request_error"
    assert isinstance(raised.value.body, dict)
    assert set(raised.value.body) == {"message", "type", "param", "code"}
    assert (raised.value.request_id or "").startswith("req_")


def test_two_hundred_and_fifty_rows_of_each_list(
    service: Service, admin: OpenAI, project: str
) -> None:
    organization = admin.admin.organization
    account = organization.projects.service_accounts.create(project, name="ci")
    assert account.api_key is not None
    key = account.api_key.id
    fresh = "left(md5(n::text || one.id), 16)"
    accounts = copies(service, "service_accounts", account.id)
    keys = copies(service, "api_keys", key, key_id=fresh)
    named = "one.name || n"
    projects = copies(service, "projects", project, name=named)
    admin_key = organization.admin_api_keys.create(name="one").id
    admin_keys = copies(service, "api_keys", admin_key, key_id=fresh)
    lists: list[tuple[Callable[..., Any], list[str]]] = [
        (
            lambda **query: organization.projects.service_accounts.list(project, **query),
            [account.id, *accounts],
        ),
        (lambda **query: organization.projects.api_keys.list(project, **query), [key, *keys]),
        (organization.projects.list, [project, *projects]),
        (organization.admin_api_keys.list, [admin_key, *admin_keys]),
    ]
    for call, wanted in lists:
        for limit in (7, 100):
            found = every(call(limit=limit))
            assert len(found) == len(set(found))
            assert [found_id for found_id in found if found_id in set(wanted)] == wanted
        assert len(call().data) == 20
    down = every(organization.admin_api_keys.list(order="desc", limit=50))
    assert down == every(organization.admin_api_keys.list(order="asc", limit=50))[::-1]
    page = organization.admin_api_keys.list(limit=5)
    raw = organization.admin_api_keys.with_raw_response.list(limit=5).parse()
    assert every(raw)[:5] == [row.id for row in page.data]
    assert page.has_more is True
    service.execute("DELETE FROM api_keys WHERE id = ANY(%s)", [*keys, *admin_keys])
    service.execute("DELETE FROM service_accounts WHERE id = ANY(%s)", accounts)
    service.execute("DELETE FROM projects WHERE id = ANY(%s)", projects)


@needs_ends
def test_a_key_is_exchanged_without_a_gap(service: Service, admin: OpenAI, project: str) -> None:
    projects = admin.admin.organization.projects
    account = projects.service_accounts.create(project, name="ci", expires_in_seconds=3600)
    assert account.api_key is not None
    old = service.client(key=account.api_key.value)
    file = old.files.create(file=ROW * 12, purpose="fine-tune")
    new_key = projects.service_accounts.api_keys.create(account.id, project_id=project, name="2")
    new = service.client(key=new_key.value)
    assert new.files.retrieve(file.id).id == old.files.retrieve(file.id).id
    listed = projects.api_keys.list(project).data
    assert [row.name for row in listed] == ["ci", "2"]
    assert all(row.last_used_at is not None for row in listed)
    owners = [row.owner.service_account for row in listed]
    assert [owner.id for owner in owners if owner is not None] == [account.id, account.id]
    assert projects.api_keys.delete(account.api_key.id, project_id=project).deleted
    with pytest.raises(AuthenticationError) as refused:
        old.files.retrieve(file.id)
    assert refused.value.code == "invalid_api_key"
    assert new.files.retrieve(file.id).id == file.id
    assert projects.service_accounts.delete(account.id, project_id=project).deleted
    with pytest.raises(AuthenticationError):
        new.files.retrieve(file.id)


def test_an_archived_project_ends_for_its_clients(
    service: Service, admin: OpenAI, project: str, method: dict[str, Any]
) -> None:
    projects = admin.admin.organization.projects
    account = projects.service_accounts.create(project, name="ci")
    assert account.api_key is not None
    client = service.client(key=account.api_key.value)
    file = client.files.create(file=ROW * 12, purpose="fine-tune")
    create: Any = client.fine_tuning.jobs.create
    job = create(model="tiny-agent", training_file=file.id, validation_file=file.id, method=method)
    archived = projects.archive(project)
    assert (archived.status, archived.id) == ("archived", project)
    assert archived.archived_at is not None
    with pytest.raises(AuthenticationError) as refused:
        client.fine_tuning.jobs.retrieve(job.id)
    assert refused.value.code == "not_authorized_invalid_project"
    assert project not in every(projects.list(limit=100))
    assert project in every(projects.list(limit=100, include_archived=True))
    assert projects.archive(project) == archived
    with pytest.raises(BadRequestError) as refused_name:
        projects.update(project, name="back")
    assert refused_name.value.code == "project_archived"


@needs_ends
def test_the_other_organization_finds_nothing(
    service: Service, keys: Keys, admin: OpenAI, project: str
) -> None:
    account = admin.admin.organization.projects.service_accounts.create(project, name="ci")
    assert account.api_key is not None
    key = account.api_key.id
    theirs = client_of(service, keys.second).admin.organization
    calls: list[Callable[[], Any]] = [
        lambda: theirs.projects.retrieve(project),
        lambda: theirs.projects.update(project, name="x"),
        lambda: theirs.projects.archive(project),
        lambda: theirs.projects.api_keys.list(project),
        lambda: theirs.projects.api_keys.retrieve(key, project_id=project),
        lambda: theirs.projects.api_keys.update(key, project_id=project, expires_in_seconds=1),
        lambda: theirs.projects.api_keys.delete(key, project_id=project),
        lambda: theirs.projects.service_accounts.create(project, name="x"),
        lambda: theirs.projects.service_accounts.delete(account.id, project_id=project),
        lambda: theirs.projects.service_accounts.api_keys.create(account.id, project_id=project),
        lambda: theirs.admin_api_keys.delete(
            admin.admin.organization.admin_api_keys.list().data[0].id
        ),
    ]
    for call in calls:
        with pytest.raises(NotFoundError):
            call()
    assert project not in every(theirs.projects.list(include_archived=True))
    assert admin.admin.organization.projects.retrieve(project).status == "active"


def test_no_key_of_a_project_opens_the_administration(service: Service) -> None:
    wrong = client_of(service, service.api.key).admin.organization
    for call in (wrong.projects.list, wrong.admin_api_keys.list):
        with pytest.raises(PermissionDeniedError) as refused:
            call()
        assert refused.value.code == "permission_denied"
    with pytest.raises(PermissionDeniedError):
        wrong.admin_api_keys.create(name="x")


def test_an_admin_key_passes_itself_on(service: Service, keys: Keys) -> None:
    first = client_of(service, keys.second).admin.organization
    made = first.admin_api_keys.create(name="successor", expires_in_seconds=60)
    second = client_of(service, made.value).admin.organization
    shown = second.admin_api_keys.retrieve(made.id)
    assert made.value not in str(shown)
    assert shown.redacted_value.endswith(made.value[-12:-8])
    assert shown.last_used_at is not None
    assert shown.expires_at == made.expires_at
    assert first.admin_api_keys.delete(made.id).deleted
    with pytest.raises(AuthenticationError):
        second.projects.list()


def test_what_stands_beside_projects_and_keys_answers_404(admin: OpenAI, project: str) -> None:
    organization = admin.admin.organization
    calls: list[Callable[[], Any]] = [
        organization.users.list,
        organization.invites.list,
        organization.roles.list,
        organization.groups.list,
        organization.certificates.list,
        lambda: organization.usage.images(start_time=0),
        lambda: organization.projects.rate_limits.list_rate_limits(project),
        lambda: organization.projects.users.list(project),
    ]
    for call in calls:
        with pytest.raises(NotFoundError) as missing:
            call()
        assert missing.value.type == "invalid_request_error"


async def test_a_project_works_under_the_asynchronous_client(service: Service, keys: Keys) -> None:
    async with AsyncOpenAI(
        base_url=service.api.base_url, admin_api_key=keys.first, api_key=""
    ) as client:
        projects = client.admin.organization.projects
        made = await projects.create(name="by the asynchronous client")
        assert made.id in [row.id async for row in projects.list(limit=3)]
        account = await projects.service_accounts.create(made.id, name="ci")
        assert account.api_key is not None
        [key] = [row async for row in projects.api_keys.list(made.id)]
        assert key.id == account.api_key.id
        assert (await projects.archive(made.id)).status == "archived"
