"""Holds what the services of one tenant share: signer, sandbox, engine, ports of the registry."""

from app.domain.accounts.tenants import Tenant
from app.domain.texts.personal_data import Redaction, nothing, shaped_data
from app.factory.process import ProcessContext
from app.gateways.egress.egress import Egress
from app.gateways.egress.project_egress import ProjectEgress
from app.gateways.endpoints.signing import CallSigner, cache_salt
from app.gateways.inference.inference import Inference
from app.gateways.sandbox.sandbox import Sandbox
from app.services.registry.registered_objects import RegistryPorts


class TenantServices:
    """Holds the process and the tenant for which services are built."""

    def __init__(self, context: ProcessContext, tenant: Tenant) -> None:
        self._context = context
        self._tenant = tenant

    def _signer(self) -> CallSigner:
        return CallSigner(*self._context.settings.secret_keys, project_id=self._tenant.project_id)

    def _egress(self) -> Egress:
        """Returns the egress with the lookups of the tenant."""
        organization_id, project_id = self._tenant.organization_id, self._tenant.project_id
        return ProjectEgress(self._context.egress, organization_id, project_id)

    def _sandbox(self) -> Sandbox:
        """Returns the sandbox with the slots of the tenant."""
        organization_id, project_id = self._tenant.organization_id, self._tenant.project_id
        return self._context.sandbox.for_project(organization_id, project_id)

    def _engine(self) -> Inference:
        """Returns the engine with a separate prompt cache for the tenant."""
        secret_key = self._context.settings.secret_key.get_secret_value()
        salt = cache_salt(secret_key, self._tenant.project_id)
        return self._context.inference.with_cache_namespace(salt)

    def _redaction(self) -> Redaction:
        """Returns the redaction of texts before they are stored."""
        return shaped_data if self._context.settings.redact_stored_texts else nothing

    def _registry_ports(self) -> RegistryPorts:
        return RegistryPorts(self._egress(), self._context.secret_box)
