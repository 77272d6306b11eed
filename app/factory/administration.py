"""Builds the services of an organization's administration, of usage, and of permissions."""

from contextlib import AbstractAsyncContextManager

from app.domain.accounts.tenants import AdminPrincipal, Principal
from app.factory.process import ProcessContext
from app.factory.project import Factory
from app.services.accounts.admin_keys import AdminKeyService
from app.services.accounts.audit_logs import AuditLogService
from app.services.accounts.project_keys import ProjectKeyService
from app.services.accounts.projects import ProjectService
from app.services.accounts.service_accounts import ServiceAccountService
from app.services.accounts.usage import UsageService
from app.services.models.permissions import PermissionService


class Administration:
    """Builds the services of an organization's administration."""

    def __init__(self, context: ProcessContext, principal: AdminPrincipal) -> None:
        self._context = context
        self._principal = principal

    def projects(self) -> ProjectService:
        return ProjectService(
            self._context.database,
            self._principal,
            work_of=lambda tenant: Factory(self._context, tenant),
            quotas=self._context.settings.quotas,
        )

    def admin_keys(self) -> AdminKeyService:
        return AdminKeyService(self._context.database, self._context.keys, self._principal)

    def audit_logs(self) -> AuditLogService:
        return AuditLogService(self._context.database, self._principal)

    def usage(self) -> UsageService:
        return usage_service(self._context, self._principal)

    def export_turn(self) -> AbstractAsyncContextManager[None]:
        """Returns a turn to read some rows of an export, see `ProcessContext.exports`."""
        organization_id = self._principal.organization_id
        return self._context.exports.taken(organization_id, organization_id)

    def project_keys(self, project_id: str) -> ProjectKeyService:
        return ProjectKeyService(self._context.database, self._principal, project_id=project_id)

    def service_accounts(self, project_id: str) -> ServiceAccountService:
        return ServiceAccountService(
            self._context.database, self._context.keys, self._principal, project_id=project_id
        )


def usage_service(context: ProcessContext, principal: Principal) -> UsageService:
    return UsageService(context.database, principal, context.settings.pricing)


def permission_service(context: ProcessContext, principal: Principal) -> PermissionService:
    return PermissionService(context.database, principal)
