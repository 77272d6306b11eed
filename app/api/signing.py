"""Routes of the secret that our calls to customer endpoints are signed with."""

from fastapi import APIRouter

from app.api.schemas.signing import SigningSecret
from app.api.support.dependencies import Services
from app.api.support.errors import responses

router = APIRouter(prefix="/v1/signing_secret", tags=["Signing"])


@router.get("", operation_id="retrieveSigningSecret", responses=responses())
async def get_signing_secret(services: Services) -> SigningSecret:
    return SigningSecret(secret=services.signing().secret())
