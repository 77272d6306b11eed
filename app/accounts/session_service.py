"""Opens sessions of the dashboard: trades an API key or a one-time link for a cookie's secret."""

import hashlib
import hmac
import secrets
import time
from typing import Final


from app.accounts.accounts import (
    LINK_S,
    SESSION_S,
    Principal,
    SessionKind,
    SessionOwner,
    StoredSession,
    Tenant,
    acting_as_key,
    identify,
)
from app.accounts.key_service import KeyService, look_up_part
from app.database import Database
from app.kit.errors import AuthenticationFailed

_SECRET_BYTES: Final = 32
_LONGEST: Final = 100
"""Largest number of characters of a secret; a longer one is invalid."""
_LIFETIMES: Final = {SessionKind.SESSION: SESSION_S, SessionKind.LINK: LINK_S}


class DashboardSessionService:
    def __init__(self, database: Database, keys: KeyService) -> None:
        self._database = database
        self._keys = keys

    async def begin(self, api_key: str) -> str:
        """Returns the secret of a new session: of a project, or for an admin key of its
        organization. Raises `AuthenticationFailed`.
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
        principal = await self._principal(stored)
        identify(principal.key_id)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        async with self._database.owned(principal) as unit:
            if not await unit.dashboard_sessions.remove(stored.id):
                raise _used_link()
            await unit.dashboard_sessions.insert(
                _stored(secret, SessionKind.SESSION, principal, key_id=stored.key_id)
            )
        return secret

    async def owner(self, session: str) -> SessionOwner:
        """Returns the owner of a session. Raises `AuthenticationFailed` once the session or its key
        has ended.
        """
        stored = await self._find(session, SessionKind.SESSION)
        if stored is None:
            raise AuthenticationFailed("This session has ended. Sign in again.")
        return SessionOwner(await self._principal(stored), form_token=_form_token(session))

    async def end(self, session: str) -> None:
        """Ends a session, as a change by its own key; does nothing for one that has ended."""
        stored = await self._find(session, SessionKind.SESSION)
        if stored is None:
            return
        try:
            principal = await self._principal(stored)
        except AuthenticationFailed:  # it ended with its key
            return
        with acting_as_key(principal.key_id):
            async with self._database.owned(principal) as unit:
                await unit.dashboard_sessions.remove(stored.id)

    async def _issue(self, api_key: str, kind: SessionKind) -> str:
        principal = await self._keys.authenticate(api_key)
        identify(principal.key_id)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        async with self._database.owned(principal) as unit:
            await unit.dashboard_sessions.insert(
                _stored(secret, kind, principal, key_id=look_up_part(api_key))
            )
        log.info("dashboard session issued", kind=kind.value, key_id=principal.key_id)
        return secret

    async def _find(self, secret: str, kind: SessionKind) -> StoredSession | None:
        if not secret or len(secret) > _LONGEST:
            return None
        stored = await self._database.dashboard_session(_id_of(secret)).find()
        return stored if stored is not None and stored.kind is kind else None

    async def _principal(self, stored: StoredSession) -> Principal:
        principal = await self._keys.principal_of(stored.key_id)
        if _owner(principal) != (stored.project_id, stored.organization_id):
            raise AuthenticationFailed("This session has ended. Sign in again.")
        return principal


def _owner(principal: Principal) -> tuple[str | None, str | None]:
    """Returns the project, or for an admin key the organization."""
    if isinstance(principal, Tenant):
        return principal.project_id, None
    return None, principal.organization_id


def _stored(secret: str, kind: SessionKind, principal: Principal, *, key_id: str) -> StoredSession:
    project_id, organization_id = _owner(principal)
    return StoredSession(
        _id_of(secret),
        kind,
        project_id,
        key_id=key_id,
        expires_at=int(time.time()) + _LIFETIMES[kind],
        organization_id=organization_id,
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
