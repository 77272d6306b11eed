"""API keys: creation, authentication, and the development keys of the embedded default.

Format: `art_<project|admin>_<key id>_<secret><crc32>`. The key id is the look-up part, the secret
is stored only as an HMAC under the service's secret, and the checksum detects typos and scanners
without a database query. High-entropy secrets need no slow hash.
"""

import hmac
import re
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from app.domain.accounts.keys import NO_PROJECT, PROJECT_ARCHIVED, USE_RESOLUTION_S, ApiKeyRow
from app.domain.accounts.tenants import AdminPrincipal, KeyKind, Principal, Tenant
from app.domain.errors import AuthenticationFailed, Unavailable
from app.domain.ids import OrganizationId, ProjectId, new_id, random_text
from app.services.accounts.key_digests import KeyDigests
from app.store.database import Database

log = structlog.get_logger()
_FORM = re.compile(r"art_(?:project|admin)_([A-Za-z0-9]{16})_([A-Za-z0-9]{40})([0-9a-f]{8})")
_SHORT_KEY = 16
_HINT = "You can find your API key in the output of `agent-rft up`."


@dataclass(frozen=True, slots=True)
class MintedKey:
    """A new key: `value` is shown once, `row` is stored."""

    value: str
    row: ApiKeyRow


class KeyService:
    def __init__(
        self, database: Database, *, secret_key: bytes, older_keys: Sequence[bytes] = ()
    ) -> None:
        """API keys that were created under `older_keys` are valid. Their first use re-hashes them
        under `secret_key`.
        """
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
        """Returns the principal of a key by its id. The secret was checked before. Raises
        `AuthenticationFailed` once the key is no longer valid.
        """
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
        """Returns the beginning of every digest under the newest key."""
        return self._digests.head

    async def _renew_digest(self, row: ApiKeyRow, secret: str) -> None:
        """Stores the digest under the newest key, once, while older keys are configured. A failed
        write does not fail the request.
        """
        if not self._digests.rotates or self._digests.is_current(row.secret_hmac):
            return
        try:
            async with self._database.organization(OrganizationId(row.organization_id)) as unit:
                await unit.keys.set_digest(row.id, self._digests.of(secret))
        except Unavailable as error:
            log.warning("an API key stays under an older key", key_id=row.id, error=str(error))

    async def _mark_used(self, row: ApiKeyRow) -> None:
        """Records at most once a minute that a key was used. A failed write does not fail the
        request.
        """
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
        )

    async def _slug(self, organization_id: OrganizationId) -> str:
        if organization_id not in self._slugs:
            async with self._database.organization(organization_id) as unit:
                organization = await unit.projects.get_organization(organization_id)
            self._slugs[organization_id] = organization.slug
        return self._slugs[organization_id]


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"


def look_up_part(value: str) -> str:
    """Returns the look-up part of a key that was authenticated."""
    return value.split("_")[2]


def _has_ended(row: ApiKeyRow) -> bool:
    expired = row.expires_at is not None and row.expires_at <= time.time()
    return row.revoked_at is not None or expired


def _refused(value: str) -> AuthenticationFailed:
    # The 12 shown characters would hide too little of a shorter key.
    shown = f": {value[:8]}…{value[-4:]}" if len(value) > _SHORT_KEY else ""
    return AuthenticationFailed(f"Incorrect API key provided{shown}. {_HINT}")
