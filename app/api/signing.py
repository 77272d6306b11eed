"""Routes of the secret that signs calls to customers' endpoints."""

from fastapi import APIRouter

from app.api.schemas.signing import SigningSecret
from app.api.support.dependencies import Services
from app.api.support.errors import responses

router = APIRouter(prefix="/v1/signing_secret", tags=["Signing"])


@router.get("", operation_id="retrieveSigningSecret", responses=responses())
async def get_signing_secret(services: Services) -> SigningSecret:
    """Returns the project's secret, which signs the calls of tools and graders."""
    return SigningSecret(secret=services.signing().secret())
