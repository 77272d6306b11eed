"""Routes of an organization's admin keys."""

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

router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/admin-keys")
_PAGE: Final = 50
_HERE: Final = "/admin-keys"
_LABEL: Final = "To the admin keys"
_After = Annotated[str | None, Query(max_length=128)]


@router.get("")
async def admin_keys_page(visitor: SignedInAdministrator, after: _After = None) -> Response:
    keys, more = await visitor.services.admin_keys().page(
        after=after, limit=_PAGE, descending=False
    )
    return await visitor.on_thread(
        lambda: page(
            "administration/admin_keys.html",
            form_token=visitor.form_token,
            keys=keys,
            more=more,
            after=after,
            own_id=visitor.principal.key_id,
            longest_name=LONGEST_NAME,
            most_days=MOST_DAYS,
        )
    )


@router.post("")
async def create_admin_key(visitor: SignedInAdministrator, form: AdminForm) -> Response:
    """Creates an admin key and shows it, which no later page does."""
    owned, value = await visitor.services.admin_keys().create(
        sent_name(form), lifetime_s=sent_lifetime_s(form)
    )
    return await visitor.shown_key(value, name=owned.key.name, back=_HERE, label=_LABEL)


@router.post("/{key_id}/rotate")
async def rotate_admin_key(
    key_id: str, visitor: SignedInAdministrator, form: AdminForm
) -> Response:
    """Makes an admin key in place of another one, and shows it, which no later page does."""
    owned, value = await visitor.services.admin_keys().replace(key_id, keep_s=kept_s(form))
    return await visitor.shown_key(value, name=owned.key.name, back=_HERE, label=_LABEL)


@router.post("/{key_id}/delete")
async def delete_admin_key(
    key_id: str, visitor: SignedInAdministrator, _form: AdminForm
) -> Response:
    await visitor.services.admin_keys().delete(key_id)
    return RedirectResponse(_HERE, status_code=303, headers=dict(HEADERS))
