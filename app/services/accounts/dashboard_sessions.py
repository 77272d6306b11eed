"""Opens sessions of the dashboard: exchanges an API key or a one-time link for a cookie's secret.

Promises: a session is bound to its key and ends with it; a link begins one session; neither secret
is stored. Must not know cookies and pages.
"""

import hashlib
import hmac
import secrets
import time
from typing import Final, assert_never

import structlog

from app.current_actor import acting_as_key, identify
from app.domain.accounts.dashboard_sessions import (
    LINK_S,
    SESSION_S,
    SessionKind,
    SessionOwner,
    StoredSession,
)
from app.domain.accounts.tenants import AdminPrincipal, Principal, Tenant
from app.domain.errors import AuthenticationFailed, PermissionDenied
from app.services.accounts.keys import KeyService, look_up_part
from app.store.database import Database

log = structlog.get_logger()
_SECRET_BYTES: Final = 32
_LONGEST: Final = 100
"""Largest number of characters of a secret; a longer one is invalid."""
_LIFETIMES: Final = {SessionKind.SESSION: SESSION_S, SessionKind.LINK: LINK_S}


class DashboardSessionService:
    def __init__(self, database: Database, keys: KeyService) -> None:
        self._database = database
        self._keys = keys

    async def begin(self, api_key: str) -> str:
        """Returns the secret of a new session. Raises `AuthenticationFailed`, or
        `PermissionDenied` for an admin key, which reads no project's data.
        """
        return await self._issue(api_key, SessionKind.SESSION)

    async def make_link(self, api_key: str) -> str:
        """Returns the secret of a link that begins one session. Raises as `begin` does."""
        return await self._issue(api_key, SessionKind.LINK)

    async def redeem(self, link: str) -> str:
        """Returns the secret of the session that the link begins. Raises `AuthenticationFailed`
        for a link that was used, has expired or never existed.
        """
        stored = await self._find(link, SessionKind.LINK)
        if stored is None:
            raise _used_link()
        tenant = await self._tenant(stored)
        identify(tenant.key_id)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        async with self._database.tenant(tenant) as unit:
            if not await unit.dashboard_sessions.remove(stored.id):
                raise _used_link()
            await unit.dashboard_sessions.insert(
                _stored(secret, SessionKind.SESSION, tenant, key_id=stored.key_id)
            )
        return secret

    async def owner(self, session: str) -> SessionOwner:
        """Returns the owner of a session. Raises `AuthenticationFailed` once the session or its key
        has ended.
        """
        stored = await self._find(session, SessionKind.SESSION)
        if stored is None:
            raise AuthenticationFailed("This session has ended. Sign in again.")
        return SessionOwner(await self._tenant(stored), form_token=_form_token(session))

    async def end(self, session: str) -> None:
        """Ends a session, as a change by its own key; does nothing for one that has ended."""
        stored = await self._find(session, SessionKind.SESSION)
        if stored is None:
            return
        try:
            tenant = await self._tenant(stored)
        except AuthenticationFailed:  # it ended with its key
            return
        with acting_as_key(tenant.key_id):
            async with self._database.tenant(tenant) as unit:
                await unit.dashboard_sessions.remove(stored.id)

    async def _issue(self, api_key: str, kind: SessionKind) -> str:
        tenant = _tenant_of(await self._keys.authenticate(api_key))
        identify(tenant.key_id)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        async with self._database.tenant(tenant) as unit:
            await unit.dashboard_sessions.insert(
                _stored(secret, kind, tenant, key_id=look_up_part(api_key))
            )
        log.info("dashboard session issued", kind=kind.value, key_id=tenant.key_id)
        return secret

    async def _find(self, secret: str, kind: SessionKind) -> StoredSession | None:
        if not secret or len(secret) > _LONGEST:
            return None
        stored = await self._database.dashboard_session(_id_of(secret)).find()
        return stored if stored is not None and stored.kind is kind else None

    async def _tenant(self, stored: StoredSession) -> Tenant:
        tenant = _tenant_of(await self._keys.principal_of(stored.key_id))
        if tenant.project_id != stored.project_id:
            raise AuthenticationFailed("This session has ended. Sign in again.")
        return tenant


def _tenant_of(principal: Principal) -> Tenant:
    match principal:
        case Tenant():
            return principal
        case AdminPrincipal():
            raise PermissionDenied(
                "An admin key manages projects and reads no project's data; use a project's API "
                "key here."
            )
        case _:
            assert_never(principal)


def _stored(secret: str, kind: SessionKind, tenant: Tenant, *, key_id: str) -> StoredSession:
    expires_at = int(time.time()) + _LIFETIMES[kind]
    return StoredSession(
        _id_of(secret), kind, tenant.project_id, key_id=key_id, expires_at=expires_at
    )


def _id_of(secret: str) -> str:
    """Returns the hash under which a secret is stored. Random secrets need no slow hash."""
    return hashlib.sha256(b"dashboard-session:" + secret.encode()).hexdigest()


def _form_token(session: str) -> str:
    return hmac.digest(session.encode(), b"form", hashlib.sha256).hex()


def _used_link() -> AuthenticationFailed:
    return AuthenticationFailed(
        "This sign-in link was used already or has expired. Sign in with an API key."
    )
