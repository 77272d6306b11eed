"""Requests under an Idempotency-Key: executed once, then replayed from the stored response.

A request that makes rows runs in one transaction together with its response. One that makes none,
and may wait minutes, only marks its key meanwhile. Stored responses are sealed: they may contain a
key or a signing secret.
"""

import base64
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

from app.database import Database, RequestUnitOfWork
from app.kit.callers import Principal
from app.kit.errors import IdempotencyKeyInUse, IdempotencyKeyReused
from app.kit.http import SEALED_RESPONSE, HttpResponse, RepeatedRequest
from app.kit.sealing import SecretBox, SecretsUnreadable


class SealedResponses:
    def __init__(self, box: SecretBox, principal: Principal) -> None:
        self._box, self._scope = box, principal.scope_id

    def seal(self, key: str, response: HttpResponse) -> HttpResponse:
        plain = {"body": base64.b64encode(response.body).decode()}
        sealed = self._box.seal(plain, project_id=self._scope, row_id=SEALED_RESPONSE + key)
        return replace(response, body=sealed)

    def open(self, key: str, response: HttpResponse) -> HttpResponse:
        """Raises `IdempotencyKeyReused` if the service's secret key has changed since."""
        row_id = SEALED_RESPONSE + key
        try:
            plain = self._box.open(response.body, project_id=self._scope, row_id=row_id)
        except SecretsUnreadable as error:
            raise IdempotencyKeyReused(
                "The response to this Idempotency-Key cannot be read any more; take a new key.",
                param="Idempotency-Key",
            ) from error
        return replace(response, body=base64.b64decode(plain["body"]))


class GuardedRequest:
    """A request under a key, used with `async with`: call `begin` before any write, and `store`
    with the response.

    Without `store`, all writes since `begin` are rolled back.
    """

    def __init__(
        self, database: Database, principal: Principal, key: str, *, box: SecretBox
    ) -> None:
        self._database, self._principal, self._key = database, principal, key
        self._sealed = SealedResponses(box, principal)
        self._unit: RequestUnitOfWork | None = None
        self._end: Callable[[], None] = lambda: None
        self._stored = False

    async def __aenter__(self) -> Self:
        return self

    async def begin(self, fingerprint: bytes) -> None:
        """Raises `RepeatedRequest`, `IdempotencyKeyInUse` or `IdempotencyKeyReused`."""
        unit = self._database.request(self._principal)
        await unit.__aenter__()
        self._unit, self._fingerprint = unit, fingerprint
        await _lock_key(unit, self._key, fingerprint, self._sealed)
        self._end = unit.begin_request_transaction()

    async def store(self, response: HttpResponse) -> None:
        if self._unit is not None and response.is_storable:
            sealed = self._sealed.seal(self._key, response)
            await self._unit.stored_responses.put(self._key, self._fingerprint, sealed)
            self._stored = True

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()
        if self._unit is None:
            return
        if error is None and not self._stored:
            error = _RollbackRequest()
        await self._unit.__aexit__(None if error is None else type(error), error, traceback)


class _RollbackRequest(Exception):
    """Ends a transaction without a commit."""


class IdempotencyService:
    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database, self._box = database, box

    def guarded(self, principal: Principal, key: str) -> GuardedRequest:
        return GuardedRequest(self._database, principal, key, box=self._box)

    async def mark(self, principal: Principal, key: str, fingerprint: bytes) -> None:
        async with self._database.request(principal) as unit:
            await _lock_key(unit, key, fingerprint, SealedResponses(self._box, principal))
            await unit.stored_responses.put(key, fingerprint, None)

    async def settle(
        self, principal: Principal, key: str, fingerprint: bytes, response: HttpResponse | None
    ) -> None:
        async with self._database.request(principal) as unit:
            if response is not None and response.is_storable:
                sealed = SealedResponses(self._box, principal).seal(key, response)
                await unit.stored_responses.put(key, fingerprint, sealed)
            else:
                await unit.stored_responses.forget(key)


async def _lock_key(
    unit: RequestUnitOfWork, key: str, fingerprint: bytes, sealed: SealedResponses
) -> None:
    locked = await unit.stored_responses.try_lock(key)
    before = await unit.stored_responses.find(key)
    if before is not None and before.fingerprint != fingerprint:
        raise IdempotencyKeyReused(
            "This Idempotency-Key was used for another request; take a new key.",
            param="Idempotency-Key",
        )
    if before is not None and before.response is not None:
        raise RepeatedRequest(sealed.open(key, before.response))
    if before is not None or not locked:
        raise IdempotencyKeyInUse(
            "A request with this Idempotency-Key is still running; retry in a moment.",
            param="Idempotency-Key",
        )
