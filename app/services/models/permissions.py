"""Checkpoint permissions: a tuned model shared with other projects of its organization.

A project may share its own models; the organization's admin key may share the models of all its
projects. A permission is effective from its commit until its row is deleted, because every call
looks it up.
"""

from collections.abc import Sequence
from typing import assert_never

from app.domain.accounts.tenants import AdminPrincipal, Principal, Tenant
from app.domain.errors import NotFound
from app.domain.ids import ProjectId
from app.domain.models.permissions import CheckpointPermission
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork


class PermissionService:
    def __init__(self, database: Database, principal: Principal) -> None:
        self._database = database
        self._principal = principal

    async def grant(
        self, model_name: str, project_ids: Sequence[str]
    ) -> list[CheckpointPermission]:
        """Shares a model with all of the projects or none. Raises `NotFound` for a foreign model,
        `InvalidRequest` for a project outside the organization.
        """
        owner = await self._owner(model_name)
        async with self._database.tenant(owner) as unit:
            await _check_owned(unit, model_name, owner)
            return await unit.permissions.grant(
                model_name, project_ids, organization_id=owner.organization_id
            )

    async def page(
        self,
        model_name: str,
        *,
        project_id: str | None,
        after: str | None,
        limit: int,
        descending: bool,
    ) -> tuple[list[CheckpointPermission], bool]:
        owner = await self._owner(model_name)
        async with self._database.tenant(owner) as unit:
            await _check_owned(unit, model_name, owner)
            return await unit.permissions.page(
                model_name, project_id=project_id, after=after, limit=limit, descending=descending
            )

    async def revoke(self, model_name: str, permission_id: str) -> None:
        owner = await self._owner(model_name)
        async with self._database.tenant(owner) as unit:
            await _check_owned(unit, model_name, owner)
            await unit.permissions.revoke(model_name, permission_id)

    async def _owner(self, model_name: str) -> Tenant:
        """Returns the project for which the caller acts: its own, or the model's owner."""
        match self._principal:
            case Tenant() as tenant:
                return tenant
            case AdminPrincipal() as administration:
                return await self._owner_in(administration, model_name)
            case _:
                assert_never(self._principal)

    async def _owner_in(self, principal: AdminPrincipal, model_name: str) -> Tenant:
        async with self._database.organization(principal.organization_id) as unit:
            project_id = await unit.models.owner_in(principal.organization_id, model_name)
        if project_id is None:
            raise _no_model(model_name)
        return Tenant(
            organization_id=principal.organization_id,
            project_id=ProjectId(project_id),
            organization_slug="",
            key_id=principal.key_id,
        )


async def _check_owned(unit: UnitOfWork, model_name: str, owner: Tenant) -> None:
    """Raises `NotFound` unless the caller owns the model: a model that was shared with the caller
    cannot be shared on.
    """
    model = await unit.models.get(model_name)
    if model is None or model.project_id != owner.project_id:
        raise _no_model(model_name)


def _no_model(name: str) -> NotFound:
    return NotFound(
        f"The model '{name}' does not exist",
        param="fine_tuned_model_checkpoint",
        code="model_not_found",
    )
