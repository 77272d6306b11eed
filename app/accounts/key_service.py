"""API keys, their digests, and sessions of the dashboard that a key or a one-time link begins."""

import hashlib
import hmac
import re
import secrets
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog

from app.accounts.accounts import (
    LINK_S,
    NO_PROJECT,
    PROJECT_ARCHIVED,
    SESSION_S,
    USE_RESOLUTION_S,
    ApiKeyRow,
    KeyKind,
    OwnedKey,
    SessionKind,
    SessionOwner,
    StoredSession,
)
from app.database import Database, UnitOfWork
from app.kit.callers import ALL_SCOPES, AdminPrincipal, Principal, Tenant, acting_as_key, identify
from app.kit.errors import AuthenticationFailed, Unavailable, WrongState
from app.kit.ids import OrganizationId, ProjectId, new_id, random_text

_FINGERPRINT_BYTES: Final = 8
_HMAC_BYTES: Final = 32


class KeyDigests:
    """Digests of keys' secrets, as rows store them: a fingerprint of the HMAC key (8 bytes) and the
    HMAC. Rows of earlier versions have only the HMAC, under any of the keys.
    """

    def __init__(self, newest: bytes, *older: bytes) -> None:
        self._keys = {_fingerprint(key): key for key in (*older, newest)}
        self.rotates = bool(older)
        self.head = _fingerprint(newest)
        """The beginning of every digest under the newest key."""

    def of(self, secret: str) -> bytes:
        return self.head + _hmac(self._keys[self.head], secret)

    def is_current(self, digest: bytes) -> bool:
        return len(digest) > _HMAC_BYTES and digest.startswith(self.head)

    def belongs(self, digest: bytes, secret: str) -> bool:
        """Returns whether the digest belongs to the secret, under any of the keys."""
        if len(digest) == _HMAC_BYTES:
            keys, stored = list(self._keys.values()), digest
        else:
            key = self._keys.get(digest[:_FINGERPRINT_BYTES])
            keys, stored = [key] if key is not None else [], digest[_FINGERPRINT_BYTES:]
        return any(hmac.compare_digest(stored, _hmac(key, secret)) for key in keys)


def _hmac(key: bytes, secret: str) -> bytes:
    return hmac.digest(key, b"api-key:" + secret.encode(), hashlib.sha256)


def _fingerprint(key: bytes) -> bytes:
    return hashlib.sha256(b"key-id" + key).digest()[:_FINGERPRINT_BYTES]


log = structlog.get_logger()
_FORM = re.compile(r"art_(?:project|admin)_([A-Za-z0-9]{16})_([A-Za-z0-9]{40})([0-9a-f]{8})")
_SHORT_KEY = 16
_HINT = "You can find your API key in the output of `agent-rft up`."


@dataclass(frozen=True, slots=True)
class MintedKey:
    value: str
    row: ApiKeyRow


class KeyService:
    def __init__(
        self, database: Database, *, secret_key: bytes, older_keys: Sequence[bytes] = ()
    ) -> None:
        """Keys under `older_keys` are valid; their first use re-hashes them under `secret_key`."""
        self._database = database
        self._digests = KeyDigests(secret_key, *older_keys)
        self._slugs: dict[OrganizationId, str] = {}
        """Slugs never change, so one look-up per organization and process is enough."""

    def mint(
        self,
        kind: KeyKind,
        *,
        organization_id: OrganizationId,
        project_id: ProjectId | None,
        name: str,
    ) -> MintedKey:
        key_id, secret = random_text(16), random_text(40)
        body = f"art_{kind.value}_{key_id}_{secret}"
        row = ApiKeyRow(
            id=new_id("key_"),
            organization_id=organization_id,
            project_id=project_id,
            kind=kind,
            name=name,
            key_id=key_id,
            secret_hmac=self._digests.of(secret),
            last4=secret[-4:],
            created_at=int(time.time()),
        )
        return MintedKey(value=f"{body}{_checksum(body)}", row=row)

    async def authenticate(self, value: str) -> Principal:
        """Returns the principal of a key. `AuthenticationFailed` never names the part at fault."""
        match = _FORM.fullmatch(value)
        if match is None or not hmac.compare_digest(_checksum(value[:-8]), match[3]):
            raise _refused(value)
        row = await self._database.key_lookup(match[1]).find()
        if row is None or not self._digests.belongs(row.secret_hmac, match[2]):
            raise _refused(value)
        if _has_ended(row):
            raise _refused(value)
        principal = await self._admitted(row)
        await self._renew_digest(row, match[2])
        return principal

    async def principal_of(self, key_id: str) -> Principal:
        row = await self._database.key_lookup(key_id).find()
        if row is None or _has_ended(row):
            raise AuthenticationFailed("The API key of this session has ended. Sign in again.")
        return await self._admitted(row)

    async def _admitted(self, row: ApiKeyRow) -> Principal:
        if row.project_archived_at is not None:
            raise AuthenticationFailed(PROJECT_ARCHIVED, code=NO_PROJECT)
        await self._mark_used(row)
        return await self._principal(row)

    @property
    def digest_head(self) -> bytes:
        return self._digests.head

    async def _renew_digest(self, row: ApiKeyRow, secret: str) -> None:
        """Stores the digest under the newest key once; a failed write fails no request."""
        if not self._digests.rotates or self._digests.is_current(row.secret_hmac):
            return
        try:
            async with self._database.organization(OrganizationId(row.organization_id)) as unit:
                await unit.keys.set_digest(row.id, self._digests.of(secret))
        except Unavailable as error:
            log.warning("an API key stays under an older key", key_id=row.id, error=str(error))

    async def _mark_used(self, row: ApiKeyRow) -> None:
        """Records at most once a minute that a key was used; a failed write fails no request."""
        if row.last_used_at is not None and row.last_used_at > time.time() - USE_RESOLUTION_S:
            return
        try:
            async with self._database.organization(OrganizationId(row.organization_id)) as unit:
                await unit.keys.mark_used(row.id)
        except Unavailable as error:
            log.warning("the use of a key was not noted", key_id=row.id, error=str(error))

    async def _principal(self, row: ApiKeyRow) -> Principal:
        organization_id = OrganizationId(row.organization_id)
        if row.kind is KeyKind.ADMIN or row.project_id is None:
            return AdminPrincipal(organization_id=organization_id, key_id=row.id)
        return Tenant(
            organization_id=organization_id,
            project_id=ProjectId(row.project_id),
            organization_slug=await self._slug(organization_id),
            key_id=row.id,
            scopes=row.scopes or ALL_SCOPES,
        )

    async def _slug(self, organization_id: OrganizationId) -> str:
        if organization_id not in self._slugs:
            async with self._database.organization(organization_id) as unit:
                organization = await unit.projects.get_organization(organization_id)
            self._slugs[organization_id] = organization.slug
        return self._slugs[organization_id]


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"


def _has_ended(row: ApiKeyRow) -> bool:
    expired = row.expires_at is not None and row.expires_at <= time.time()
    return row.revoked_at is not None or expired


def _refused(value: str) -> AuthenticationFailed:
    # The 12 shown characters would hide too little of a shorter key.
    shown = f": {value[:8]}…{value[-4:]}" if len(value) > _SHORT_KEY else ""
    return AuthenticationFailed(f"Incorrect API key provided{shown}. {_HINT}")


class AdminKeyService:
    def __init__(self, database: Database, keys: KeyService, principal: AdminPrincipal) -> None:
        self._database = database
        self._keys = keys
        self._principal = principal
        self._organization_id = principal.organization_id

    async def create(self, name: str, *, lifetime_s: int | None) -> tuple[OwnedKey, str]:
        minted = self._keys.mint(
            KeyKind.ADMIN, organization_id=self._organization_id, project_id=None, name=name
        )
        row = replace(minted.row, expires_at=expiry(lifetime_s))
        async with self._database.organization(self._organization_id) as unit:
            await unit.keys.insert(row)
            [made] = await self._owned(
                unit, [await unit.keys.get(self._organization_id, None, row.id)]
            )
        log.info("admin key created", key=row.id, by_key=self._principal.key_id)
        return made, minted.value

    async def replace(self, key_id: str, *, keep_s: int) -> tuple[OwnedKey, str]:
        async with self._database.organization(self._organization_id) as unit:
            await unit.keys.lock_admin_keys(self._organization_id)
            old = await unit.keys.get(self._organization_id, None, key_id)
            minted = self._keys.mint(
                KeyKind.ADMIN, organization_id=self._organization_id, project_id=None, name=old.name
            )
            await unit.keys.insert(minted.row)
            stored = await unit.keys.get(self._organization_id, None, minted.row.id)
            [made] = await self._owned(unit, [stored])
            await unit.keys.end(old, in_s=keep_s)
        log.info("admin key replaced", key=key_id, by_key=self._principal.key_id)
        return made, minted.value

    async def get(self, key_id: str) -> OwnedKey:
        async with self._database.organization(self._organization_id) as unit:
            row = await unit.keys.get(self._organization_id, None, key_id)
            [found] = await self._owned(unit, [row])
        return found

    async def page(
        self, *, after: str | None, limit: int, descending: bool
    ) -> tuple[list[OwnedKey], bool]:
        async with self._database.organization(self._organization_id) as unit:
            rows, more = await unit.keys.page(
                self._organization_id, None, after=after, limit=limit, descending=descending
            )
            return await self._owned(unit, rows), more

    async def delete(self, key_id: str) -> None:
        async with self._database.organization(self._organization_id) as unit:
            living = await unit.keys.lock_admin_keys(self._organization_id)
            await unit.keys.get(self._organization_id, None, key_id)
            if set(living) <= {key_id}:
                raise WrongState(
                    "The organization's last admin key cannot be deleted; create another first.",
                    param="key_id",
                    code="last_admin_key",
                )
            await unit.keys.revoke(key_id)
        log.info("admin key deleted", key=key_id, by_key=self._principal.key_id)

    async def _owned(self, unit: UnitOfWork, rows: list[ApiKeyRow]) -> list[OwnedKey]:
        organization = await unit.projects.get_organization(self._organization_id)
        return [OwnedKey(row, organization) for row in rows]


def expiry(lifetime_s: int | None) -> int | None:
    return None if lifetime_s is None else int(time.time()) + lifetime_s


_SECRET_BYTES: Final = 32
_LONGEST: Final = 100
"""Largest number of characters of a secret; a longer one is invalid."""
_LIFETIMES: Final = {SessionKind.SESSION: SESSION_S, SessionKind.LINK: LINK_S}


class DashboardSessionService:
    def __init__(self, database: Database, keys: KeyService) -> None:
        self._database = database
        self._keys = keys

    async def begin(self, api_key: str) -> str:
        return await self._issue(api_key, SessionKind.SESSION)

    async def make_link(self, api_key: str) -> str:
        return await self._issue(api_key, SessionKind.LINK)

    async def redeem(self, link: str) -> str:
        """Returns the secret of a session. Raises `AuthenticationFailed` for a used or old link."""
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
        """Raises `AuthenticationFailed` once the session or its key has ended."""
        stored = await self._find(session, SessionKind.SESSION)
        if stored is None:
            raise AuthenticationFailed("This session has ended. Sign in again.")
        form_token = hmac.digest(session.encode(), b"form", hashlib.sha256).hex()
        return SessionOwner(await self._principal(stored), form_token)

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
                _stored(secret, kind, principal, key_id=api_key.split("_")[2])
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


def _used_link() -> AuthenticationFailed:
    return AuthenticationFailed(
        "This sign-in link was used already or has expired. Sign in with an API key."
    )
