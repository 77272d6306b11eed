"""Pages of administrators: projects, keys, admin keys; and the page of usage."""

import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response

from app.accounts.accounts import KeyTerms, named_scopes
from app.accounts.usage import Amounts, UsageGrouping, UsageKind, UsageQuery
from app.http.requests import text_of
from app.kit.callers import ALL_SCOPES, AdminPrincipal, Scope
from app.kit.errors import InvalidRequest, PermissionDenied
from app.pages.rendering import redirect
from app.pages.visitors import (
    After,
    PageRoute,
    Person,
    SignedIn,
    counted_request,
    form_of,
    signed_in,
)
from app.wiring import Administration, context_of, usage_service

LONGEST_NAME: Final = 256
_DAY_S: Final = 24 * 3600
MOST_DAYS: Final = 365


class Administrator(Person[Administration]):
    async def shown_key(self, value: str, *, name: str, back: str, label: str) -> Response:
        return await self.page(
            "administration/new_key.html", value=value, key_name=name, back=back, label=label
        )


async def _administrator(request: Request) -> AsyncIterator[Administrator]:
    owner = await signed_in(request)
    if not isinstance(owner.principal, AdminPrincipal):
        raise PermissionDenied(
            "This page is for administrators: sign in with an admin key of the organization."
        )
    async with counted_request(request, owner.principal):
        yield Administrator(owner, Administration(context_of(request.app), owner.principal))


async def _form(request: Request, administrator: "SignedInAdministrator") -> Mapping[str, str]:
    return await form_of(request, administrator.owner)


def sent_name(form: Mapping[str, str]) -> str:
    name = text_of(form, "name", longest=LONGEST_NAME).strip()
    if not name:
        raise InvalidRequest("Enter a name.", param="name")
    return name


def sent_lifetime_s(form: Mapping[str, str]) -> int | None:
    sent = form.get("days", "").strip()
    if not sent:
        return None
    if not (sent.isascii() and sent.isdecimal()) or not 1 <= int(sent[:9]) <= MOST_DAYS:
        raise InvalidRequest(f"The days must be a number from 1 to {MOST_DAYS}.", param="days")
    return int(sent) * _DAY_S


def sent_scopes(form: Mapping[str, str]) -> tuple[Scope, ...] | None:
    return named_scopes([scope for scope in ALL_SCOPES if form.get(f"scope_{scope}")])


def kept_s(form: Mapping[str, str]) -> int:
    return _DAY_S if form.get("keep_old") else 0


SignedInAdministrator = Annotated[Administrator, Depends(_administrator)]
AdminForm = Annotated[Mapping[str, str], Depends(_form)]


router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/projects")
_PAGE: Final = 50


@router.get("")
async def projects_page(
    visitor: SignedInAdministrator, archived: bool = False, after: After = None
) -> Response:
    projects, more = await visitor.services.projects().page(
        archived=archived, after=after, limit=_PAGE
    )
    return await visitor.page(
        "administration/projects.html",
        projects=projects,
        more=more,
        archived=archived,
        after=after,
        longest_name=LONGEST_NAME,
    )


@router.post("")
async def create_project(visitor: SignedInAdministrator, form: AdminForm) -> Response:
    made = await visitor.services.projects().create(sent_name(form))
    return redirect(f"/projects/{made.id}")


@router.get("/{project_id}")
async def project_page(
    project_id: str, visitor: SignedInAdministrator, after: After = None
) -> Response:
    project = await visitor.services.projects().get(project_id)
    keys, more = await visitor.services.project_keys(project_id).page(
        after=after, limit=_PAGE, usable=None
    )
    return await visitor.page(
        "administration/project.html",
        project=project,
        keys=keys,
        more=more,
        after=after,
        longest_name=LONGEST_NAME,
        most_days=MOST_DAYS,
        scopes=ALL_SCOPES,
    )


@router.post("/{project_id}/rename")
async def rename_project(
    project_id: str, visitor: SignedInAdministrator, form: AdminForm
) -> Response:
    await visitor.services.projects().rename(project_id, sent_name(form))
    return redirect(f"/projects/{project_id}")


@router.post("/{project_id}/archive")
async def archive_project(
    project_id: str, visitor: SignedInAdministrator, _form: AdminForm
) -> Response:
    await visitor.services.projects().archive(project_id)
    return redirect(f"/projects/{project_id}")


@router.post("/{project_id}/keys")
async def create_key(project_id: str, visitor: SignedInAdministrator, form: AdminForm) -> Response:
    account, key = await visitor.services.service_accounts(project_id).create(
        sent_name(form), KeyTerms(sent_lifetime_s(form), sent_scopes(form))
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
    return redirect(f"/projects/{project_id}")


admin_keys_router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/admin-keys")
_HERE: Final = "/admin-keys"
_LABEL: Final = "To the admin keys"


@admin_keys_router.get("")
async def admin_keys_page(visitor: SignedInAdministrator, after: After = None) -> Response:
    keys, more = await visitor.services.admin_keys().page(
        after=after, limit=_PAGE, descending=False
    )
    return await visitor.page(
        "administration/admin_keys.html",
        keys=keys,
        more=more,
        after=after,
        own_id=visitor.owner.principal.key_id,
        longest_name=LONGEST_NAME,
        most_days=MOST_DAYS,
    )


@admin_keys_router.post("")
async def create_admin_key(visitor: SignedInAdministrator, form: AdminForm) -> Response:
    owned, value = await visitor.services.admin_keys().create(
        sent_name(form), lifetime_s=sent_lifetime_s(form)
    )
    return await visitor.shown_key(value, name=owned.key.name, back=_HERE, label=_LABEL)


@admin_keys_router.post("/{key_id}/rotate")
async def rotate_admin_key(
    key_id: str, visitor: SignedInAdministrator, form: AdminForm
) -> Response:
    owned, value = await visitor.services.admin_keys().replace(key_id, keep_s=kept_s(form))
    return await visitor.shown_key(value, name=owned.key.name, back=_HERE, label=_LABEL)


@admin_keys_router.post("/{key_id}/delete")
async def delete_admin_key(
    key_id: str, visitor: SignedInAdministrator, _form: AdminForm
) -> Response:
    await visitor.services.admin_keys().delete(key_id)
    return redirect(_HERE)


usage_router = APIRouter(include_in_schema=False, route_class=PageRoute)
_DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class UsageLine:
    day_s: int
    name: str
    """The model, or the job of a run."""
    amounts: Amounts


@usage_router.get("/usage")
async def usage_page(request: Request, visitor: SignedIn) -> Response:
    service = usage_service(context_of(request.app), visitor.owner.tenant)
    end = (int(time.time()) // _DAY_S + 1) * _DAY_S

    async def lines(kind: UsageKind, group: UsageGrouping) -> list[UsageLine]:
        start = end - _DAYS * _DAY_S
        query = UsageQuery(kind, start, end, group_by=(group,), in_money=True)
        found = await service.page(query, page=None, limit=_DAYS)
        return [
            UsageLine(bucket.start_s, str(getattr(sums, group)), sums.amounts)
            for bucket in reversed(found.buckets)
            for sums in bucket.sums
        ]

    chats, runs = await lines("completions", "model"), await lines("fine_tuning", "job_id")
    return await visitor.page(
        "usage.html", days=_DAYS, chats=chats, runs=runs, unpriced=service.unpriced
    )
