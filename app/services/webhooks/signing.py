"""The secret with which a project's owner verifies the service's calls to tools and graders."""

from app.domain.accounts.tenants import Tenant
from app.gateways.endpoints.signing import signing_secret


class SigningService:
    def __init__(self, *, secret_key: str, tenant: Tenant) -> None:
        self._secret_key = secret_key
        self._tenant = tenant

    def secret(self) -> str:
        return signing_secret(self._secret_key, self._tenant.project_id)
