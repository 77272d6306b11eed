"""Finds the administrator by the cookie of a request, and reads the forms of these pages."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Annotated, Final, assert_never

from fastapi import Depends, Request, Response

from app.dashboard.rendering.pages import page
from app.dashboard.rendering.threads import made_on_thread
from app.dashboard.visitors import counted_request, form_of, signed_in
from app.domain.accounts.dashboard_sessions import SessionOwner
from app.domain.accounts.tenants import AdminPrincipal, Tenant
from app.domain.errors import InvalidRequest, PermissionDenied
from app.factory.administration import Administration
from app.factory.process import context_of
from app.web.forms import text_of

LONGEST_NAME: Final = 256
KEPT_S: Final = 24 * 3600
"""Seconds for which a replaced key is valid still, unless it is to end at once."""
_DAY_S: Final = 24 * 3600
MOST_DAYS: Final = 365


class Administrator:
    """A signed-in administrator: the owner of a session, with the services of the organization."""

    def __init__(
        self, owner: SessionOwner, principal: AdminPrincipal, services: Administration
    ) -> None:
        self.owner = owner
        self.principal = principal
        self.services = services
        self.form_token = owner.form_token

    async def on_thread(self, make: Callable[[], Response]) -> Response:
        """Renders a reply on a thread, so that no other request waits for it."""
        return await made_on_thread(self.principal, make)

    async def shown_key(self, value: str, *, name: str, back: str, label: str) -> Response:
        """Renders the page with the value of a new key. `back` is the page of its list."""
        return await self.on_thread(
            lambda: page(
                "administration/new_key.html",
                form_token=self.form_token,
                value=value,
                key_name=name,
                back=back,
                label=label,
            )
        )


async def _administrator(request: Request) -> AsyncIterator[Administrator]:
    owner = await signed_in(request)
    match owner.principal:
        case AdminPrincipal() as principal:
            pass
        case Tenant():
            raise PermissionDenied(
                "This page is for administrators: sign in with an admin key of the organization."
            )
        case _:
            assert_never(owner.principal)
    async with counted_request(request, principal):
        services = Administration(context_of(request.app), principal)
        yield Administrator(owner, principal, services)


async def _form(request: Request, administrator: "SignedInAdministrator") -> Mapping[str, str]:
    return await form_of(request, administrator.owner)


def sent_name(form: Mapping[str, str]) -> str:
    """Returns the name of a new object. Raises `InvalidRequest` for an empty one."""
    name = text_of(form, "name", longest=LONGEST_NAME).strip()
    if not name:
        raise InvalidRequest("Enter a name.", param="name")
    return name


def sent_lifetime_s(form: Mapping[str, str]) -> int | None:
    """Returns the lifetime of a new key; `None` for a key without an end."""
    sent = form.get("days", "").strip()
    if not sent:
        return None
    if not (sent.isascii() and sent.isdecimal()) or not 1 <= int(sent[:9]) <= MOST_DAYS:
        raise InvalidRequest(f"The days must be a number from 1 to {MOST_DAYS}.", param="days")
    return int(sent) * _DAY_S


def kept_s(form: Mapping[str, str]) -> int:
    """Returns the seconds for which a replaced key is valid still."""
    return KEPT_S if form.get("keep_old") else 0


SignedInAdministrator = Annotated[Administrator, Depends(_administrator)]
AdminForm = Annotated[Mapping[str, str], Depends(_form)]
