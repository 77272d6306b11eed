"""Routes of an organization's projects, and of one project with its keys."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from fastapi.responses import RedirectResponse

from app.dashboard.administration.administrators import (
    LONGEST_NAME,
    MOST_DAYS,
    AdminForm,
    SignedInAdministrator,
    kept_s,
    sent_lifetime_s,
    sent_name,
)
from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import HEADERS, page

router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/projects")
_PAGE: Final = 50
_After = Annotated[str | None, Query(max_length=128)]


@router.get("")
async def projects_page(
    visitor: SignedInAdministrator, archived: bool = False, after: _After = None
) -> Response:
    """Lists the projects, oldest first; archived ones on request."""
    projects, more = await visitor.services.projects().page(
        archived=archived, after=after, limit=_PAGE
    )
    return await visitor.on_thread(
        lambda: page(
            "administration/projects.html",
            form_token=visitor.form_token,
            projects=projects,
            more=more,
            archived=archived,
            after=after,
            longest_name=LONGEST_NAME,
        )
    )


@router.post("")
async def create_project(visitor: SignedInAdministrator, form: AdminForm) -> Response:
    made = await visitor.services.projects().create(sent_name(form))
    return _to(f"/projects/{made.id}")


@router.get("/{project_id}")
async def project_page(
    project_id: str, visitor: SignedInAdministrator, after: _After = None
) -> Response:
    """Shows a project and its keys, oldest first."""
    project = await visitor.services.projects().get(project_id)
    keys, more = await visitor.services.project_keys(project_id).page(
        after=after, limit=_PAGE, usable=None
    )
    return await visitor.on_thread(
        lambda: page(
            "administration/project.html",
            form_token=visitor.form_token,
            project=project,
            keys=keys,
            more=more,
            after=after,
            longest_name=LONGEST_NAME,
            most_days=MOST_DAYS,
        )
    )


@router.post("/{project_id}/rename")
async def rename_project(
    project_id: str, visitor: SignedInAdministrator, form: AdminForm
) -> Response:
    await visitor.services.projects().rename(project_id, sent_name(form))
    return _to(f"/projects/{project_id}")


@router.post("/{project_id}/archive")
async def archive_project(
    project_id: str, visitor: SignedInAdministrator, _form: AdminForm
) -> Response:
    await visitor.services.projects().archive(project_id)
    return _to(f"/projects/{project_id}")


@router.post("/{project_id}/keys")
async def create_key(project_id: str, visitor: SignedInAdministrator, form: AdminForm) -> Response:
    """Creates a service account with its key, and shows the key, which no later page does."""
    account, key = await visitor.services.service_accounts(project_id).create(
        sent_name(form), with_key=True, lifetime_s=sent_lifetime_s(form)
    )
    if key is None:
        raise ValueError(f"{account.id} was made without its key")
    return await visitor.shown_key(
        key.value, name=account.name, back=f"/projects/{project_id}", label="To the project"
    )


@router.post("/{project_id}/keys/{key_id}/rotate")
async def rotate_key(
    project_id: str, key_id: str, visitor: SignedInAdministrator, form: AdminForm
) -> Response:
    """Makes a key in place of another one, and shows it, which no later page does."""
    key = await visitor.services.service_accounts(project_id).replace_key(
        key_id, keep_s=kept_s(form)
    )
    return await visitor.shown_key(
        key.value, name=key.row.name, back=f"/projects/{project_id}", label="To the project"
    )


@router.post("/{project_id}/keys/{key_id}/delete")
async def delete_key(
    project_id: str, key_id: str, visitor: SignedInAdministrator, _form: AdminForm
) -> Response:
    await visitor.services.project_keys(project_id).delete(key_id)
    return _to(f"/projects/{project_id}")


def _to(path: str) -> Response:
    return RedirectResponse(path, status_code=303, headers=dict(HEADERS))
