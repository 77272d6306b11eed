"""Builds the services of keys and organizations that a command uses without a process context."""

from app.gateways.secrets import build_secret_box
from app.services.accounts.dashboard_sessions import DashboardSessionService
from app.services.accounts.keys import KeyService
from app.services.accounts.provisioning import ProvisioningService
from app.services.rewrapping import RewrappingService
from app.settings.settings import Settings
from app.store.database import Database


def build_key_service(settings: Settings, database: Database) -> KeyService:
    return KeyService(database, secret_key=settings.key_hmac, older_keys=settings.older_key_hmacs)


def provisioning_service(settings: Settings, database: Database) -> ProvisioningService:
    return ProvisioningService(database, build_key_service(settings, database))


def dashboard_session_service(settings: Settings, database: Database) -> DashboardSessionService:
    return DashboardSessionService(database, build_key_service(settings, database))


def rewrapping_service(settings: Settings, database: Database) -> RewrappingService:
    """Builds the service; `database` connects as the tables' owner."""
    head = build_key_service(settings, database).digest_head
    return RewrappingService(database, build_secret_box(settings), api_key_head=head)
