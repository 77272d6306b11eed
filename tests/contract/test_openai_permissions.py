"""Checkpoint permissions with the official client: sharing is real, and so is taking it back."""

from typing import Any

import pytest
from openai import BadRequestError, NotFoundError, OpenAI, PermissionDeniedError

from tests.support.contract.service import Service
from tests.support.contract.siblings import SiblingProject

MODEL = "ft:tiny-agent-2026-11-23:first:shared:abcd1234"
SLASHED = "ft:hub/base:first::slash123:ckpt-step-3"


@pytest.fixture
def shared(service: Service, job: Any) -> Any:
    """A tuned model of the first project, new for each test."""
    name = f"{MODEL}-{job.id[-8:]}"
    service.add_tuned_model(job.id, name, f"adapter-{job.id[-8:]}")
    return name


def names(client: OpenAI) -> set[str]:
    return {model.id for model in client.models.list()}


def ask(client: OpenAI, model: str) -> Any:
    return client.chat.completions.create(model=model, messages=[{"role": "user", "content": "hi"}])


def test_a_shared_model_is_listed_and_called_until_it_is_revoked(
    service: Service, sibling: SiblingProject, shared: str
) -> None:
    owner, other = service.client(), service.client(key=sibling.key)
    assert shared not in names(other)
    with pytest.raises(NotFoundError):
        ask(other, shared)
    permissions = owner.fine_tuning.checkpoints.permissions
    (granted,) = permissions.create(shared, project_ids=[sibling.project_id]).data
    assert granted.id.startswith("cp_")
    assert (granted.object, granted.project_id) == ("checkpoint.permission", sibling.project_id)
    assert shared in names(other)
    assert other.models.retrieve(shared).id == shared
    reply = ask(other, shared)
    assert reply.model == shared
    assert reply.choices[0].message.content
    gone = permissions.delete(granted.id, fine_tuned_model_checkpoint=shared)
    assert (gone.id, gone.deleted, gone.object) == (granted.id, True, "checkpoint.permission")
    assert shared not in names(other)
    with pytest.raises(NotFoundError) as missing:
        ask(other, shared)
    assert missing.value.code == "model_not_found"
    with pytest.raises(NotFoundError):
        permissions.delete(granted.id, fine_tuned_model_checkpoint=shared)


def test_whom_it_is_shared_with_may_neither_pass_it_on_nor_delete_it(
    service: Service, sibling: SiblingProject, shared: str
) -> None:
    owner, other = service.client(), service.client(key=sibling.key)
    granted = owner.fine_tuning.checkpoints.permissions.create(
        shared, project_ids=[sibling.project_id]
    ).data[0]
    theirs = other.fine_tuning.checkpoints.permissions
    with pytest.raises(NotFoundError):
        theirs.create(shared, project_ids=[sibling.project_id])
    with pytest.raises(NotFoundError):
        list(theirs.list(shared))
    with pytest.raises(NotFoundError):
        theirs.delete(granted.id, fine_tuned_model_checkpoint=shared)
    with pytest.raises(PermissionDeniedError):
        other.models.delete(shared)
    assert ask(other, shared).model == shared
    owner.models.delete(shared)
    assert shared not in names(other)
    with pytest.raises(NotFoundError):
        owner.fine_tuning.checkpoints.permissions.create(shared, project_ids=[sibling.project_id])


def test_an_admin_key_shares_models_of_its_own_organization_only(
    service: Service, sibling: SiblingProject, shared: str
) -> None:
    admin, other = service.client(key=sibling.admin_key), service.client(key=sibling.key)
    permissions = admin.fine_tuning.checkpoints.permissions
    granted = permissions.create(shared, project_ids=[sibling.project_id]).data[0]
    assert shared in names(other)
    assert [row.id for row in permissions.list(shared)] == [granted.id]
    permissions.delete(granted.id, fine_tuned_model_checkpoint=shared)
    assert shared not in names(other)
    with pytest.raises(NotFoundError):
        permissions.create(MODEL + "-absent", project_ids=[sibling.project_id])
    stranger = service.client(key=service.api.other_key).fine_tuning.checkpoints.permissions
    with pytest.raises(NotFoundError):
        stranger.create(shared, project_ids=[sibling.project_id])


def test_a_project_outside_the_organization_is_refused_and_nothing_is_granted(
    service: Service, sibling: SiblingProject, shared: str
) -> None:
    permissions = service.client().fine_tuning.checkpoints.permissions
    foreign = service.project_of(service.api.other_key)
    for target in (foreign, "proj_none"):
        with pytest.raises(BadRequestError) as refused:
            permissions.create(shared, project_ids=[sibling.project_id, target])
        assert (refused.value.code, refused.value.param) == ("project_not_found", "project_ids")
    assert list(permissions.list(shared)) == []
    for bad in ([], [""]):
        with pytest.raises(BadRequestError):
            permissions.create(shared, project_ids=bad)


def test_lists_page_by_last_id_in_both_orders(
    service: Service, sibling: SiblingProject, shared: str
) -> None:
    targets = service.add_projects(sibling.project_id, 23)
    permissions = service.client().fine_tuning.checkpoints.permissions
    created = permissions.create(shared, project_ids=targets)
    assert [row.project_id for row in created.data] == targets
    again = permissions.create(shared, project_ids=targets[:1]).data[0]
    assert again.id == created.data[0].id, "granting twice makes no second row"
    ids = [row.id for row in created.data]
    assert [row.id for row in permissions.list(shared, order="ascending")] == ids
    assert [row.id for row in permissions.list(shared, limit=7)] == ids[::-1]
    only = permissions.list(shared, project_id=targets[4])
    assert [row.id for row in only] == [ids[4]]
    with pytest.deprecated_call():
        page = permissions.retrieve(shared, limit=2)  # type: ignore[deprecated]  # still called
    assert (page.has_more, page.first_id, page.last_id) == (True, ids[-1], ids[-2])
    with pytest.raises(BadRequestError):
        permissions.list(shared, after="cp_none")


def test_a_name_with_a_slash_reaches_its_model(
    service: Service, sibling: SiblingProject, job: Any
) -> None:
    service.add_tuned_model(job.id, SLASHED, "adapter-slash")
    permissions = service.client().fine_tuning.checkpoints.permissions
    granted = permissions.create(SLASHED, project_ids=[sibling.project_id]).data[0]
    assert [row.id for row in permissions.list(SLASHED)] == [granted.id]
    assert permissions.delete(granted.id, fine_tuned_model_checkpoint=SLASHED).deleted


async def test_the_asynchronous_client_too(
    service: Service, sibling: SiblingProject, shared: str
) -> None:
    async with service.async_client() as client:
        permissions = client.fine_tuning.checkpoints.permissions
        created = [
            row async for row in permissions.create(shared, project_ids=[sibling.project_id])
        ]
        listed = [row async for row in permissions.list(shared)]
        assert [row.id for row in listed] == [row.id for row in created]
        gone = await permissions.delete(created[0].id, fine_tuned_model_checkpoint=shared)
        assert gone.deleted
